//! The validity of a name and a value, determined once and kept with table entries.

use alula_fields::bytes::{self, CLASS, FIELD_VALUE, LOWER_TOKEN, is_trimmed};

/// The validity of a name and its value by the rules of HTTP.
///
/// The codec carries any bytes; whoever gets them decides by these bits instead of looking at every byte
/// again. One byte.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Class(u8);

impl Class {
    /// The class of no field.
    pub(crate) const NONE: Self = Self(0);

    /// Returns true if the name is a token without upper-case letters, as HTTP/2 wants field names (RFC 9113
    /// §8.2.1).
    ///
    /// Pseudo-field names are not; see [`name_pseudo`](Self::name_pseudo).
    #[inline]
    pub const fn name_ok(self) -> bool {
        self.0 & NAME_OK != 0
    }

    /// Returns true if the name is a colon and then a token without upper-case letters (RFC 9113 §8.3).
    #[inline]
    pub const fn name_pseudo(self) -> bool {
        self.0 & NAME_PSEUDO != 0
    }

    /// Returns true if the value has no control character but tab (RFC 9110 §5.5); an empty one is valid.
    #[inline]
    pub const fn value_ok(self) -> bool {
        self.0 & VALUE_OK != 0
    }

    /// Returns true if the value neither starts nor ends with a space or tab (RFC 9113 §8.2.1).
    #[inline]
    pub const fn value_trimmed(self) -> bool {
        self.0 & VALUE_TRIMMED != 0
    }

    /// Returns true if name and value are those of a field, not a pseudo-field, that HTTP/2 allows, in one
    /// comparison.
    #[inline]
    pub const fn field_ok(self) -> bool {
        const ALL: u8 = NAME_OK | VALUE_OK | VALUE_TRIMMED;
        self.0 & ALL == ALL
    }

    /// Returns true if name and value are those of a pseudo-field that HTTP/2 allows, in one comparison.
    #[inline]
    pub(crate) const fn pseudo_ok(self) -> bool {
        const ALL: u8 = NAME_PSEUDO | VALUE_OK | VALUE_TRIMMED;
        self.0 & ALL == ALL
    }

    /// Returns the class of these two strings, after checking every byte.
    pub fn of(name: &[u8], value: &[u8]) -> Self {
        Self::name(name, Bytes::of_name(name)).and_value(value, Bytes::of_value(value))
    }

    /// Returns the part for the name, given the classes of its bytes.
    #[inline]
    pub(crate) fn name(name: &[u8], bytes: Bytes) -> Self {
        match name {
            [] => Self(0),
            [b':', rest @ ..] => Self(if bytes::is_lower_token(rest) { NAME_PSEUDO } else { 0 }),
            _ => Self(if bytes.has(Bytes::NAME) { NAME_OK } else { 0 }),
        }
    }

    /// Adds the part for the value, given the classes of its bytes.
    #[inline]
    pub(crate) fn and_value(self, value: &[u8], bytes: Bytes) -> Self {
        let trimmed = if is_trimmed(value) { VALUE_TRIMMED } else { 0 };
        let value = if bytes.has(Bytes::VALUE) { VALUE_OK } else { 0 };
        Self(self.0 & (NAME_OK | NAME_PSEUDO) | trimmed | value)
    }

    /// Returns the class of a name in the static table with a value that is empty or also in the table.
    pub(crate) const fn of_static(pseudo: bool) -> Self {
        Self(if pseudo { NAME_PSEUDO } else { NAME_OK } | VALUE_OK | VALUE_TRIMMED)
    }
}

const NAME_OK: u8 = 1;
const NAME_PSEUDO: u8 = 2;
const VALUE_OK: u8 = 4;
const VALUE_TRIMMED: u8 = 8;

/// The classes that all bytes of a string share: a set of two.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Bytes(u8);

impl Bytes {
    /// The class of bytes that may be in a field name of HTTP/2.
    pub(crate) const NAME: u8 = 1;
    /// The class of bytes that may be in a field value.
    pub(crate) const VALUE: u8 = 2;

    /// The classes of one byte.
    #[inline]
    pub(crate) const fn of(byte: u8) -> Self {
        let class = CLASS[byte as usize];
        let name = if class & LOWER_TOKEN != 0 { Self::NAME } else { 0 };
        let value = if class & FIELD_VALUE != 0 { Self::VALUE } else { 0 };
        Self(name | value)
    }

    /// Returns the classes of a name; pseudo-field names are looked at by [`Class::name`].
    #[inline]
    pub(crate) fn of_name(name: &[u8]) -> Self {
        Self(if bytes::is_lower_token(name) { Self::NAME } else { 0 })
    }

    /// Returns the classes of a value.
    #[inline]
    pub(crate) fn of_value(value: &[u8]) -> Self {
        Self(if bytes::is_field_value(value) { Self::VALUE } else { 0 })
    }

    #[inline]
    pub(crate) const fn has(self, class: u8) -> bool {
        self.0 & class != 0
    }

    #[inline]
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
impl Bytes {
    pub(crate) const ALL: Self = Self(Self::NAME | Self::VALUE);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_told_apart() {
        let fit = Class::of(b"content-type", b"text/html");
        assert!(
            fit.name_ok() && !fit.name_pseudo() && fit.value_ok() && fit.value_trimmed() && fit.field_ok()
        );
        let pseudo = Class::of(b":path", b"/");
        assert!(!pseudo.name_ok() && pseudo.name_pseudo() && pseudo.value_ok() && !pseudo.field_ok());
        assert!(!Class::of(b"Content-Type", b"").name_ok());
        assert!(!Class::of(b"", b"").name_ok() && !Class::of(b"", b"").name_pseudo());
        assert!(!Class::of(b":", b"").name_pseudo() && !Class::of(b":Path", b"").name_pseudo());
        assert!(!Class::of(b"a", b"x\r\ny").value_ok());
        assert!(Class::of(b"a", b"").value_ok() && Class::of(b"a", b"").value_trimmed());
        assert!(!Class::of(b"a", b" x").value_trimmed() && !Class::of(b"a", b"x\t").value_trimmed());
    }
}
