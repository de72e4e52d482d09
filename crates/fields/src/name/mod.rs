//! A field name: known, or text in lower case.

pub(crate) mod known;
pub(crate) mod known_table;
pub(crate) mod lanes;
pub(crate) mod word;

use core::fmt;

use crate::name::known::KnownName;

/// The name of a field, in lower case.
///
/// A name that a [`FieldSection`](crate::FieldSection) returns is always a valid token without upper-case
/// letters, and never `Other` for a name that is known. Comparison with text folds ASCII case.
///
/// ```
/// use alula::{FieldName, FieldSection, KnownName};
///
/// let mut section = FieldSection::new();
/// section.append("ETag", "\"1\"")?;
/// section.append("X-Shard", "7")?;
/// let names: Vec<FieldName> = section.iter().map(|field| field.name()).collect();
/// assert_eq!(names, [FieldName::Known(KnownName::ETAG), FieldName::Other("x-shard")]);
/// assert_eq!(names[1].canonical().to_string(), "X-Shard");
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone)]
pub enum FieldName<'a> {
    /// A name of the table.
    Known(KnownName),
    /// Any other name, in lower case.
    Other(&'a str),
}

impl<'a> FieldName<'a> {
    /// Returns the name in lower case.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        match self {
            Self::Known(name) => name.as_str(),
            Self::Other(name) => name,
        }
    }

    /// Returns the name in the usual spelling of HTTP/1, for `{}`; allocates nothing.
    #[inline]
    pub const fn canonical(self) -> Canonical<'a> {
        Canonical(self)
    }

    /// Returns the known name, if it is a known one.
    #[inline]
    pub const fn known(self) -> Option<KnownName> {
        match self {
            Self::Known(name) => Some(name),
            Self::Other(_) => None,
        }
    }
}

impl PartialEq for FieldName<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(name), Self::Known(other)) => name == other,
            _ => self.as_str().eq_ignore_ascii_case(other.as_str()),
        }
    }
}

impl Eq for FieldName<'_> {}

impl PartialEq<str> for FieldName<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str().eq_ignore_ascii_case(other)
    }
}

impl PartialEq<&str> for FieldName<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq<KnownName> for FieldName<'_> {
    fn eq(&self, other: &KnownName) -> bool {
        *self == FieldName::Known(*other)
    }
}

impl From<KnownName> for FieldName<'_> {
    fn from(name: KnownName) -> Self {
        Self::Known(name)
    }
}

impl fmt::Debug for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name in HTTP/1 spelling: from the table when known, else with a capital at the start and after each `-`.
#[derive(Copy, Clone, Debug)]
pub struct Canonical<'a>(FieldName<'a>);

impl Canonical<'_> {
    /// Returns the number of bytes of the spelling: as many as the name has.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.as_str().len()
    }

    /// Returns true if the name is empty, which no name of a section is.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Writes the spelling to the start of a buffer, and returns its length; `None` when it does not fit.
    ///
    /// ```
    /// use alula::FieldName;
    ///
    /// let mut line = [0; 16];
    /// let len = FieldName::Other("x-foo-bar").canonical().write_to(&mut line).unwrap();
    /// assert_eq!(&line[..len], b"X-Foo-Bar");
    /// ```
    pub fn write_to(self, out: &mut [u8]) -> Option<usize> {
        match self.0 {
            FieldName::Known(name) => {
                out.get_mut(..name.len())?.copy_from_slice(name.canonical().as_bytes());
                Some(name.len())
            }
            FieldName::Other(name) => write_capitals(name.as_bytes(), out),
        }
    }
}

/// Writes a name with capitals at the start and after each dash, and returns its length; `None` when it does
/// not fit.
pub(crate) fn write_capitals(name: &[u8], out: &mut [u8]) -> Option<usize> {
    let out = out.get_mut(..name.len())?;
    out.copy_from_slice(name);
    let mut at = 0;
    while let Some(first) = out.get_mut(at) {
        first.make_ascii_uppercase();
        at += 1 + out[at..].iter().position(|byte| *byte == b'-').unwrap_or(name.len());
    }
    Some(name.len())
}

impl fmt::Display for Canonical<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        match self.0 {
            FieldName::Known(name) => f.write_str(name.canonical()),
            FieldName::Other(name) => capitals(name).try_for_each(|letter| f.write_char(letter)),
        }
    }
}

/// Returns the bytes of a name with capitals at the start and after each dash; names are ASCII.
fn capitals(name: &str) -> impl Iterator<Item = char> {
    let mut before = b'-';
    name.bytes().map(move |byte| {
        let letter = if before == b'-' { byte.to_ascii_uppercase() } else { byte };
        before = byte;
        letter as char
    })
}

/// The types that can name a field: a [`KnownName`], a [`FieldName`], or text in any case, `&str` or
/// `&String`, which is folded and checked when stored; with the feature `http` a reference to a `HeaderName`
/// as well. Allocates nothing.
///
/// Sealed: what else may become a name is decided here.
pub trait IntoName<'a>: sealed::Name<'a> {}

impl<'a, T: sealed::Name<'a>> IntoName<'a> for T {}

pub(crate) mod sealed {
    use alloc::string::String;

    use super::{FieldName, KnownName};

    /// A name that was given, looked up in the table but not checked.
    #[derive(Copy, Clone)]
    pub enum Given<'a> {
        Known(KnownName),
        Text(&'a str),
    }

    pub trait Name<'a> {
        fn given(self) -> Given<'a>;
    }

    impl<'a> Name<'a> for KnownName {
        #[inline]
        fn given(self) -> Given<'a> {
            Given::Known(self)
        }
    }

    impl<'a> Name<'a> for &'a str {
        #[inline]
        fn given(self) -> Given<'a> {
            match KnownName::lookup_folded(self.as_bytes()) {
                Some(name) => Given::Known(name),
                None => Given::Text(self),
            }
        }
    }

    impl<'a> Name<'a> for &'a String {
        #[inline]
        fn given(self) -> Given<'a> {
            self.as_str().given()
        }
    }

    #[cfg(feature = "http")]
    impl<'a> Name<'a> for &'a http::HeaderName {
        #[inline]
        fn given(self) -> Given<'a> {
            self.as_str().given()
        }
    }

    impl<'a> Name<'a> for FieldName<'a> {
        #[inline]
        fn given(self) -> Given<'a> {
            match self {
                FieldName::Known(name) => Given::Known(name),
                FieldName::Other(name) => name.given(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn comparison_folds_case() {
        let known = FieldName::Known(KnownName::CONTENT_TYPE);
        assert!(known == "Content-Type" && known == KnownName::CONTENT_TYPE);
        assert!(FieldName::Other("content-type") == known);
        assert!(FieldName::Other("x-a") != FieldName::Other("x-b"));
        assert!(known != KnownName::CONTENT_LENGTH);
        assert_eq!((known.known(), FieldName::Other("x").known()), (Some(KnownName::CONTENT_TYPE), None));
    }

    #[test]
    fn spelling_comes_from_the_table_or_from_the_dashes() {
        for (name, spelling) in [
            (FieldName::Known(KnownName::ETAG), "ETag"),
            (FieldName::Known(KnownName::WWW_AUTHENTICATE), "WWW-Authenticate"),
            (FieldName::Other("x-foo--bar"), "X-Foo--Bar"),
            (FieldName::Other("x_foo"), "X_foo"),
            (FieldName::Other("-"), "-"),
        ] {
            let mut line = [0; 32];
            let len = name.canonical().write_to(&mut line).unwrap();
            assert_eq!(&line[..len], spelling.as_bytes());
            assert_eq!(name.canonical().to_string(), spelling);
            assert_eq!(name.canonical().write_to(&mut line[..spelling.len() - 1]), None);
        }
    }
}
