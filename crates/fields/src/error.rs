//! Why a name, a value or control data was refused.

use core::fmt;

use crate::text::bytes;

/// A name, value or piece of control data that was refused; the refused call has changed nothing.
///
/// `Copy` and without allocation. It keeps the first forty bytes of the name or the control data as far as
/// they can hold no secret, and never the value, which may be one.
///
/// ```
/// use alula::FieldSection;
///
/// let mut section = FieldSection::new();
/// let error = section.append("x bad", "1").unwrap_err();
/// assert_eq!(error.to_string(), r#"field name "x bad" has byte 0x20 at 1, which no token has (RFC 9110 §5.6.2)"#);
/// assert!(section.is_empty());
/// ```
#[derive(Copy, Clone, Eq, PartialEq)]
pub struct FieldError {
    kind: FieldErrorKind,
    byte: u8,
    at: u32,
    quote: Quote,
}

/// The rule that a name or value breaks.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// The name has no bytes.
    EmptyName,
    /// The name is no token.
    Name,
    /// The name is a pseudo-field's, which only a [`Head`](crate::Head) can hold.
    PseudoName,
    /// The value has a control other than tab.
    Value,
    /// The section would pass 4 GiB.
    TooLarge,
    /// The method is no token.
    Method,
    /// The scheme is not one.
    Scheme,
    /// The authority is not `host` or `host:port`.
    Authority,
    /// The target, or the path in it, has a forbidden byte or the wrong form.
    Target,
    /// The protocol of an extended CONNECT is no token.
    Protocol,
    /// The status is not three digits from 100 on.
    Status,
}

impl FieldError {
    /// Returns the rule that the name or value breaks.
    #[inline]
    pub const fn kind(&self) -> FieldErrorKind {
        self.kind
    }

    /// Returns the offending name, or the text of control data: its first forty bytes at most, and nothing
    /// that may be secret: no query, no user information, nothing after the colon of a name.
    #[inline]
    pub fn quoted(&self) -> &[u8] {
        self.quote.bytes()
    }

    /// Returns the position of the first bad byte in the name or value, for the kinds that have one.
    pub const fn position(&self) -> Option<usize> {
        match self.kind {
            FieldErrorKind::EmptyName | FieldErrorKind::PseudoName | FieldErrorKind::TooLarge => None,
            _ if self.at == NOWHERE => None,
            _ => Some(self.at as usize),
        }
    }

    #[cold]
    pub(crate) fn name(name: &[u8]) -> Self {
        let kind = match name {
            [] => FieldErrorKind::EmptyName,
            [b':', ..] => FieldErrorKind::PseudoName,
            _ => FieldErrorKind::Name,
        };
        Self::outside(kind, name, name, bytes::TOKEN)
    }

    #[cold]
    pub(crate) fn value(name: &[u8], value: &[u8]) -> Self {
        Self::outside(FieldErrorKind::Value, name, value, bytes::FIELD_VALUE)
    }

    #[cold]
    pub(crate) fn too_large(name: &[u8]) -> Self {
        Self {
            kind: FieldErrorKind::TooLarge,
            byte: 0,
            at: NOWHERE,
            quote: Quote::of(FieldErrorKind::TooLarge, name),
        }
    }

    /// Returns the error for control data of the wrong form.
    #[cold]
    pub(crate) fn form(kind: FieldErrorKind, text: &[u8]) -> Self {
        Self { kind, byte: 0, at: NOWHERE, quote: Quote::of(kind, text) }
    }

    /// Returns the error for the first byte of `text` outside the required classes.
    #[cold]
    pub(crate) fn outside(kind: FieldErrorKind, quoted: &[u8], text: &[u8], wanted: u8) -> Self {
        match bytes::position_outside(text, wanted) {
            Some(at) => Self { kind, byte: text[at], at: at as u32, quote: Quote::of(kind, quoted) },
            None => Self::form(kind, quoted),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, rule) = match self.kind {
            FieldErrorKind::EmptyName => return f.write_str("a field name is empty (RFC 9110 §5.1)"),
            FieldErrorKind::PseudoName => {
                return write!(f, "{} is a pseudo-field, not a field (RFC 9113 §8.3)", self.quote);
            }
            FieldErrorKind::TooLarge => {
                return write!(f, "field {} does not fit: a section holds less than 4 GiB", self.quote);
            }
            FieldErrorKind::Name => ("field name", "which no token has (RFC 9110 §5.6.2)"),
            FieldErrorKind::Value => ("value of field", "which no field value has (RFC 9110 §5.5)"),
            FieldErrorKind::Method => ("method", "which no token has (RFC 9110 §9.1)"),
            FieldErrorKind::Scheme => ("scheme", "which no scheme has there (RFC 3986 §3.1)"),
            FieldErrorKind::Authority => ("authority", "which no host and port have there (RFC 3986 §3.2)"),
            FieldErrorKind::Target => ("target", "which no path and query have (RFC 9110 §7.1)"),
            FieldErrorKind::Protocol => ("protocol", "which no token has (RFC 8441 §4)"),
            FieldErrorKind::Status => ("status", "which is no digit (RFC 9110 §15)"),
        };
        if self.at != NOWHERE {
            return write!(f, "{what} {} has byte {:#04x} at {}, {rule}", self.quote, self.byte, self.at);
        }
        let section = rule.rfind('(').map_or("", |at| &rule[at..]);
        write!(f, "{what} {} has not the form of one {section}", self.quote)
    }
}

impl fmt::Debug for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldError({self})")
    }
}

impl core::error::Error for FieldError {}

const NOWHERE: u32 = u32::MAX;

/// The beginning of some bytes, kept inline.
#[derive(Copy, Clone, Eq, PartialEq)]
struct Quote {
    len: u8,
    cut: bool,
    bytes: [u8; Self::BYTES_MAX],
}

impl Quote {
    /// The length of a quote: enough for every known name, and small enough for a cheap copy.
    const BYTES_MAX: usize = 40;

    fn of(kind: FieldErrorKind, bytes: &[u8]) -> Self {
        let len = harmless(kind, bytes).min(Self::BYTES_MAX);
        let mut kept = [0; Self::BYTES_MAX];
        kept[..len].copy_from_slice(&bytes[..len]);
        Self { len: len as u8, cut: len < bytes.len(), bytes: kept }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

/// Returns the first bytes that cannot hold a secret, by the rules of [`masked_url`](crate::masked_url).
fn harmless(kind: FieldErrorKind, text: &[u8]) -> usize {
    let until = |odd: u8| text.iter().position(|byte| *byte == odd);
    let is_user_possible = text.contains(&b'@') && text.first() != Some(&b'/');
    match kind {
        FieldErrorKind::Target | FieldErrorKind::Authority if is_user_possible => 0,
        FieldErrorKind::Target => until(b'?').map_or(text.len(), |mark| mark + 1),
        // A whole field line was given for a name.
        FieldErrorKind::Name => until(b':').map_or(text.len(), |colon| colon + 1),
        _ => text.len(),
    }
}

impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}{}\"", self.bytes().escape_ascii(), if self.cut { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        message::{authority::Authority, method::Method, target::Target},
        section::FieldSection,
    };
    use alloc::string::ToString as _;

    #[test]
    fn what_may_be_secret_is_not_quoted() {
        let target = |text| Target::parse(Method::Get, text).unwrap_err().to_string();
        assert!(target("/a?token=s3cret b").contains("target \"/a?…\" has byte 0x20 at 15"));
        for text in ["http://a:s3cret@a/b", "http://a/?b=s3cret c", "a:s3cret@b"] {
            assert!(!target(text).contains("s3cret"), "{}", target(text));
        }
        let authority = Authority::parse("s3cret@a").unwrap_err().to_string();
        assert!(!authority.contains("s3cret"), "{authority}");
        let name = FieldSection::new().append("Authorization: Bearer s3cret", "").unwrap_err().to_string();
        assert!(name.contains("\"Authorization:…\""), "{name}");
    }
}
