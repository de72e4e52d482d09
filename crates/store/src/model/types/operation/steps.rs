//! Operations that are being carried out: read from their bytes one step at a time.
//!
//! A [draft](super::draft) alone makes these bytes, so that they are of its form.

use crate::model::bytes::Bytes;
use crate::model::types::Kind;

/// The bit in the kind of a removed field that says that the field is also changed.
pub(super) const IS_CHANGED: u8 = 0x80;

/// The steps of an operation that have not been carried out.
#[derive(Debug)]
pub(crate) struct Steps<'a>(Bytes<'a>);

/// Elements, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a> {
    left: usize,
    bytes: Bytes<'a>,
}

/// Names of fields, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a>(Bytes<'a>);

/// A field to remove.
#[derive(Debug)]
pub(crate) struct Removed<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: Kind,
    /// The field is also changed.
    pub(crate) is_changed: bool,
}

impl<'a> Steps<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self(Bytes::new(bytes))
    }

    /// Returns the number that is added to a counter.
    pub(crate) fn number(&mut self) -> i64 {
        let number = self.0.number().unwrap_or_default();
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }

    /// Returns true if a flag is turned on.
    pub(crate) fn is_on(&mut self) -> bool {
        self.0.byte() == Some(1)
    }

    /// Returns the bytes that are assigned to a register.
    pub(crate) fn assigned(&mut self) -> &'a [u8] {
        self.0.counted().unwrap_or_default()
    }

    /// Returns the elements to remove or to add, whichever come next.
    pub(crate) fn elements(&mut self) -> Elements<'a> {
        let elements = Elements { left: self.count(), bytes: self.0 };
        elements.clone().for_each(|_| {
            self.0.counted();
        });
        elements
    }

    /// Returns the number of fields to remove or to change, whichever come next.
    pub(crate) fn count(&mut self) -> usize {
        self.0.number().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
    }

    /// Returns the next field that is removed.
    pub(crate) fn removed(&mut self) -> Option<Removed<'a>> {
        let (name, byte) = (self.0.counted()?, self.0.byte()?);
        let kind = Kind::of_byte(byte & !IS_CHANGED)?;
        Some(Removed { name, kind, is_changed: byte & IS_CHANGED != 0 })
    }

    /// Returns the next field that is changed. The operation on it comes next.
    pub(crate) fn changed(&mut self) -> Option<(&'a [u8], Kind)> {
        read_field(&mut self.0)
    }
}

impl<'a> Elements<'a> {
    /// Returns the elements in these bytes.
    pub(super) const fn to_end(bytes: &'a [u8]) -> Self {
        Self { left: usize::MAX, bytes: Bytes::new(bytes) }
    }

    /// Returns the number of elements that have not been read.
    pub(crate) const fn left(&self) -> usize {
        self.left
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        self.bytes.counted()
    }
}

impl<'a> Fields<'a> {
    /// Returns the names in these bytes.
    pub(super) const fn to_end(bytes: &'a [u8]) -> Self {
        Self(Bytes::new(bytes))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], Kind);

    fn next(&mut self) -> Option<(&'a [u8], Kind)> {
        read_field(&mut self.0)
    }
}

fn read_field<'a>(bytes: &mut Bytes<'a>) -> Option<(&'a [u8], Kind)> {
    Some((bytes.counted()?, Kind::of_byte(bytes.byte()?)?))
}
