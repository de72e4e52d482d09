//! The known content codings, and those of a message.

use alula_fields::{FieldSection, KnownName};

use crate::stage::Coder;

/// The codings that can be decoded, as `accept-encoding` says it (RFC 9110 §12.5.3).
pub const ACCEPTED: &str = match (cfg!(feature = "gzip"), cfg!(feature = "brotli"), cfg!(feature = "zstd")) {
    (true, false, false) => "gzip, deflate",
    (true, true, false) => "gzip, deflate, br",
    (true, false, true) => "gzip, deflate, zstd",
    (true, true, true) => "gzip, deflate, br, zstd",
    (false, true, false) => "br",
    (false, true, true) => "br, zstd",
    (false, false, true) => "zstd",
    (false, false, false) => "identity",
};

/// A coding of content that can be decoded (RFC 9110 §8.4.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Coding {
    /// `gzip`, also spelled `x-gzip` (RFC 1952).
    #[cfg(feature = "gzip")]
    Gzip,
    /// `deflate`: zlib (RFC 1950), or deflate alone (RFC 1951), which some senders mean by it.
    #[cfg(feature = "gzip")]
    Deflate,
    /// `br` (RFC 7932).
    #[cfg(feature = "brotli")]
    Brotli,
    /// `zstd` (RFC 8878).
    #[cfg(feature = "zstd")]
    Zstd,
}

/// The codings that the content of a message is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Codings {
    /// The content has no coding; `identity` and empty names count as none.
    None,
    /// An unknown coding, perhaps with others.
    Unknown,
    /// More than two codings, which no sender applies for a good reason.
    TooMany,
    /// The coding that was applied last, and perhaps one before it.
    Known(Coding, Option<Coding>),
}

impl Coding {
    /// The names of each coding, which are compared without case.
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

    pub(crate) fn coder(self) -> Box<dyn Coder> {
        match self {
            #[cfg(feature = "gzip")]
            Self::Gzip => Box::new(crate::gzip::Gzip::new()),
            #[cfg(feature = "gzip")]
            Self::Deflate => Box::new(crate::deflate::Deflate::new()),
            #[cfg(feature = "brotli")]
            Self::Brotli => Box::new(crate::brotli::Brotli::new()),
            #[cfg(feature = "zstd")]
            Self::Zstd => Box::new(crate::zstd::Zstd::new()),
        }
    }
}

impl Codings {
    /// Returns the codings that `content-encoding` lists. The coding that is named last was applied last, and
    /// is undone first. Allocates nothing.
    pub fn of(fields: &FieldSection) -> Self {
        let lists = fields.get_all(KnownName::CONTENT_ENCODING);
        let names = lists.flat_map(|list| list.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
        let mut codings = Self::None;
        for name in names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity")) {
            codings = match (codings, Coding::named(name)) {
                (Self::Unknown, _) | (_, None) => return Self::Unknown,
                (Self::None, Some(coding)) => Self::Known(coding, None),
                (Self::Known(before, None), Some(coding)) => Self::Known(coding, Some(before)),
                (Self::Known(_, Some(_)) | Self::TooMany, Some(_)) => Self::TooMany,
            };
        }
        codings
    }
}
