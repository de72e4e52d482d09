//! The scheme of a target (RFC 3986 §3.1).

use core::fmt;

use crate::{
    error::{FieldError, FieldErrorKind},
    text::bytes,
};

/// A scheme: `http`, `https`, or another that is only passed on. Comparison folds ASCII case when parsing.
///
/// ```
/// use alula::fields::Scheme;
///
/// assert_eq!(Scheme::parse("HTTPS")?, Scheme::Https);
/// assert_eq!(Scheme::Https.default_port(), Some(443));
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub enum Scheme<'a> {
    /// `http`, clear text, port 80.
    Http,
    /// `https`, TLS, port 443.
    Https,
    /// Any other.
    Other(&'a str),
}

impl<'a> Scheme<'a> {
    /// The scheme, in any case.
    ///
    /// # Errors
    /// When it does not start with a letter, or goes on with anything but letters, digits, `+`, `-` and `.`.
    #[inline]
    pub fn parse(text: &'a str) -> Result<Self, FieldError> {
        match text {
            _ if text.eq_ignore_ascii_case("https") => Ok(Self::Https),
            _ if text.eq_ignore_ascii_case("http") => Ok(Self::Http),
            _ => Self::other(text),
        }
    }

    /// Returns the scheme in lower case, if it is known, or as it was given.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Other(text) => text,
        }
    }

    /// Returns the port that a URL without one stands for (RFC 9110 §4.2).
    #[inline]
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Self::Http => Some(80),
            Self::Https => Some(443),
            Self::Other(_) => None,
        }
    }

    fn other(text: &'a str) -> Result<Self, FieldError> {
        let bytes = text.as_bytes();
        match bytes.first() {
            Some(first) if first.is_ascii_alphabetic() && bytes::all_in(bytes, bytes::SCHEME) => {
                Ok(Self::Other(text))
            }
            _ => Err(FieldError::outside(FieldErrorKind::Scheme, bytes, bytes, bytes::SCHEME)),
        }
    }
}

impl fmt::Display for Scheme<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn known_schemes_fold_and_others_are_checked() {
        assert_eq!(Scheme::parse("HTtp"), Ok(Scheme::Http));
        assert_eq!(Scheme::parse("coap+tcp"), Ok(Scheme::Other("coap+tcp")));
        assert_eq!(Scheme::Http.default_port(), Some(80));
        assert_eq!(Scheme::Other("ws").default_port(), None);
        for (bad, message) in [
            ("", r#"scheme "" has not the form of one (RFC 3986 §3.1)"#),
            ("1a", r#"scheme "1a" has not the form of one (RFC 3986 §3.1)"#),
            ("ht tp", r#"scheme "ht tp" has byte 0x20 at 2, which no scheme has there (RFC 3986 §3.1)"#),
        ] {
            assert_eq!(Scheme::parse(bad).unwrap_err().to_string(), message);
        }
    }
}
