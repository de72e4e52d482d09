//! Which codings there are, and which ones a message has.

use alula_fields::{FieldSection, KnownName};

use super::stage::Coder;

/// The codings that can be decoded, as `accept-encoding` says it.
pub(super) const ACCEPTED: &str =
    match (cfg!(feature = "gzip"), cfg!(feature = "brotli"), cfg!(feature = "zstd")) {
        (true, false, false) => "gzip, deflate",
        (true, true, false) => "gzip, deflate, br",
        (true, false, true) => "gzip, deflate, zstd",
        (true, true, true) => "gzip, deflate, br, zstd",
        (false, true, false) => "br",
        (false, true, true) => "br, zstd",
        (false, false, true) => "zstd",
        (false, false, false) => "identity",
    };

/// A coding of content (RFC 9110 §8.4.1) that can be decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Coding {
    #[cfg(feature = "gzip")]
    Gzip,
    #[cfg(feature = "gzip")]
    Deflate,
    #[cfg(feature = "brotli")]
    Brotli,
    #[cfg(feature = "zstd")]
    Zstd,
}

/// What was done to the content of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Coded {
    /// Nothing.
    Plain,
    /// Something that cannot be undone.
    Unknown,
    /// More than anybody does for a good reason.
    TooOften,
    /// This, and before it perhaps another.
    By(Coding, Option<Coding>),
}

impl Coding {
    /// Each by its names, in any case.
    const NAMES: &[(&str, Self)] = &[
        #[cfg(feature = "gzip")]
        ("gzip", Self::Gzip),
        #[cfg(feature = "gzip")]
        ("x-gzip", Self::Gzip),
        #[cfg(feature = "gzip")]
        ("deflate", Self::Deflate),
        #[cfg(feature = "brotli")]
        ("br", Self::Brotli),
        #[cfg(feature = "zstd")]
        ("zstd", Self::Zstd),
    ];

    fn named(name: &[u8]) -> Option<Self> {
        let mut known = Self::NAMES.iter();
        known.find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes())).map(|(_, coding)| *coding)
    }

    pub(super) fn coder(self) -> Box<dyn Coder> {
        match self {
            #[cfg(feature = "gzip")]
            Self::Gzip => Box::new(super::gzip::Gzip::new()),
            #[cfg(feature = "gzip")]
            Self::Deflate => Box::new(super::deflate::Deflate::new()),
            #[cfg(feature = "brotli")]
            Self::Brotli => Box::new(super::brotli::Brotli::new()),
            #[cfg(feature = "zstd")]
            Self::Zstd => Box::new(super::zstd::Zstd::new()),
        }
    }
}

impl Coded {
    /// What `content-encoding` says; the last coding named was applied last, and is undone first.
    pub(super) fn of(fields: &FieldSection) -> Self {
        let lists = fields.get_all(KnownName::CONTENT_ENCODING);
        let names = lists.flat_map(|list| list.split(|octet| *octet == b',')).map(<[u8]>::trim_ascii);
        let mut coded = Self::Plain;
        for name in names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity")) {
            coded = match (coded, Coding::named(name)) {
                (Self::Unknown, _) | (_, None) => return Self::Unknown,
                (Self::Plain, Some(coding)) => Self::By(coding, None),
                (Self::By(before, None), Some(coding)) => Self::By(coding, Some(before)),
                (Self::By(_, Some(_)) | Self::TooOften, Some(_)) => Self::TooOften,
            };
        }
        coded
    }
}
