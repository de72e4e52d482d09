//! A visitor that stores fields: in a section, or in a head with the control data apart.

use alula_fields::{FieldFlags, FieldSection, Head, KnownName};
use alula_machine::Limits;

use crate::visitor::{Decoded, Visitor};

/// How much a list of fields may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ListLimits {
    /// The sum of name, value and 32 octets over all fields (RFC 9113 §6.5.2).
    pub bytes: usize,
    /// The number of fields; the sum alone lets hundreds of empty ones pass.
    pub fields: usize,
}

impl From<&Limits> for ListLimits {
    fn from(limits: &Limits) -> Self {
        Self { bytes: limits.field_section_bytes as usize, fields: limits.fields as usize }
    }
}

/// Stores decoded fields as long as they keep to the limits and to the rules of HTTP/2 for single fields.
///
/// After the first that does not, the rest is only let past, so that the decoder's table stays right; what was stored before
/// remains. Such a list is at fault, not the connection. Allocates only when what it stores into grows.
///
/// ```
/// use alula::{FieldSection, Limits};
/// use alula::hpack::{Collect, Decoder, DecoderLimits, Refusal};
///
/// let mut decoder = Decoder::new(DecoderLimits::default());
/// let mut trailers = FieldSection::new();
/// let mut collect = Collect::section(&mut trailers, &Limits::default());
/// decoder.decode(b"\x40\x05x-tag\x01a\x00\x01X\x00", true, &mut collect)?;
/// assert_eq!(collect.finish(), Err(Refusal::Name));
/// assert_eq!(trailers.get("x-tag"), Some(&b"a"[..]));
/// # Ok::<(), alula::hpack::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Collect<'a> {
    target: Target<'a>,
    /// What is left of the limits.
    left: ListLimits,
    refusal: Option<Refusal>,
}

#[derive(Debug)]
enum Target<'a> {
    Head(&'a mut Head),
    Section(&'a mut FieldSection),
}

/// Why a list of fields was not stored to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// It has more octets than the limit.
    Bytes,
    /// It has more fields than the limit.
    Fields,
    /// A name is no token in lower case (RFC 9113 §8.2.1).
    Name,
    /// A value holds a control other than tab, or white space at an end (RFC 9113 §8.2.1).
    Value,
    /// A pseudo-field is unknown, repeated, behind a field, or in a list that has none (RFC 9113 §8.3).
    Pseudo,
}

impl Refusal {
    /// Returns true if the list may be right but is more than we take; else it is malformed (RFC 9113 §8.1.1).
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::Bytes | Self::Fields)
    }
}

impl<'a> Collect<'a> {
    /// Stores into a section; pseudo-fields are refused, as in trailers.
    pub fn section(section: &'a mut FieldSection, limits: impl Into<ListLimits>) -> Self {
        Self { target: Target::Section(section), left: limits.into(), refusal: None }
    }

    /// Stores into a head, with known pseudo-fields as its control data.
    pub fn head(head: &'a mut Head, limits: impl Into<ListLimits>) -> Self {
        Self { target: Target::Head(head), left: limits.into(), refusal: None }
    }

    /// Says whether all that was decoded is stored.
    ///
    /// # Errors
    ///
    /// The first refusal.
    #[inline]
    pub fn finish(&self) -> Result<(), Refusal> {
        match self.refusal {
            None => Ok(()),
            Some(refusal) => Err(refusal),
        }
    }

    #[inline(always)]
    fn count(&mut self, field: &Decoded<'_>) -> Result<(), Refusal> {
        self.left.bytes = self.left.bytes.checked_sub(field.list_size()).ok_or(Refusal::Bytes)?;
        self.left.fields = self.left.fields.checked_sub(1).ok_or(Refusal::Fields)?;
        Ok(())
    }

    #[inline(always)]
    fn store(&mut self, field: &Decoded<'_>) -> Result<(), Refusal> {
        self.count(field)?;
        if !field.class.field_ok() {
            return self.store_other(field);
        }
        let flags = if field.never { FieldFlags::SENSITIVE } else { FieldFlags::NONE };
        let section = match &mut self.target {
            Target::Head(head) => &mut head.fields,
            Target::Section(section) => section,
        };
        match field.known {
            Some(name) => section.push_known(name, field.value, flags),
            None => section.push_valid(field.name, field.value, flags),
        }
        Ok(())
    }

    /// Stores a pseudo-field, or says what is wrong.
    #[inline(never)]
    fn store_other(&mut self, field: &Decoded<'_>) -> Result<(), Refusal> {
        match (field.known, &mut self.target) {
            _ if !field.class.name_ok() && !field.class.name_pseudo() => Err(Refusal::Name),
            _ if !field.class.value_ok() || !field.class.value_trimmed() => Err(Refusal::Value),
            (Some(name), Target::Head(head)) => store_pseudo(head, name, field.value),
            _ => Err(Refusal::Pseudo),
        }
    }
}

fn store_pseudo(head: &mut Head, name: KnownName, value: &[u8]) -> Result<(), Refusal> {
    if head.has_pseudo(name) || !head.fields.is_empty() {
        return Err(Refusal::Pseudo);
    }
    if !value.is_ascii() {
        return Err(Refusal::Value);
    }
    head.put_pseudo(name, value);
    Ok(())
}

impl Visitor for Collect<'_> {
    #[inline(always)]
    fn field(&mut self, field: Decoded<'_>) {
        if self.refusal.is_none() {
            self.refusal = self.store(&field).err();
        }
    }
}
