//! A visitor that stores fields: in a section, or in a head with its control data.

use alula_fields::{FieldFlags, FieldSection, Head, KnownName, bytes};
use alula_machine::Limits;

use crate::decode::visitor::{Decoded, Indexed, Visitor};
use crate::encode::class::Class;
use crate::table::dynamic::Stored;

/// The limits on a list of fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ListLimits {
    /// The sum of name, value and 32 bytes over all fields (RFC 9113 §6.5.2).
    pub bytes: usize,
    /// The number of fields; the sum alone would admit hundreds of empty ones.
    pub fields: usize,
}

impl ListLimits {
    /// Subtracts a field from the limits. After a refusal it means nothing.
    #[inline(always)]
    fn take(&mut self, name_len: usize, value_len: usize) -> Result<(), Refusal> {
        // Stored in either case, so that each is one instruction that works on memory.
        let (is_bytes_over, is_fields_over);
        (self.bytes, is_bytes_over) = self.bytes.overflowing_sub(name_len + value_len + 32);
        if is_bytes_over {
            return Err(Refusal::Bytes);
        }
        (self.fields, is_fields_over) = self.fields.overflowing_sub(1);
        if is_fields_over { Err(Refusal::Fields) } else { Ok(()) }
    }
}

impl From<&Limits> for ListLimits {
    fn from(limits: &Limits) -> Self {
        Self { bytes: limits.field_section_bytes as usize, fields: limits.fields as usize }
    }
}

/// Stores decoded fields as long as they keep to the limits and to the rules of HTTP/2 for single fields.
///
/// After the first that does not, the rest is only let past, so that the decoder's table stays right; what
/// was stored before remains. Such a list is at fault, not the connection. Allocates only when what it stores
/// into grows.
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
    /// The limits that are left.
    left: ListLimits,
    refusal: Option<Refusal>,
}

#[derive(Debug)]
enum Target<'a> {
    Head(&'a mut Head),
    Section(&'a mut FieldSection),
}

/// The reason for which a list of fields was not stored completely.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The list has more bytes than the limit.
    Bytes,
    /// The list has more fields than the limit.
    Fields,
    /// A name is no token in lower case (RFC 9113 §8.2.1).
    Name,
    /// A value holds a control character other than tab, or white space at an end (RFC 9113 §8.2.1).
    Value,
    /// A pseudo-field is unknown, repeated, behind a field, or not allowed in the list (RFC 9113 §8.3).
    Pseudo,
}

impl Refusal {
    /// Returns true if the list may be valid but exceeds a limit; otherwise it is malformed (RFC 9113
    /// §8.1.1).
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

    /// Returns whether everything that was decoded is stored.
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

    /// Stores any field, or returns its fault.
    #[inline(never)]
    fn store(&mut self, field: &Decoded<'_>) -> Result<(), Refusal> {
        self.left.take(field.name.len(), field.value.len())?;
        if !field.class.field_ok() {
            return self.store_other(field.known, field.value, field.class);
        }
        let flags = if field.never { FieldFlags::SENSITIVE } else { FieldFlags::NONE };
        match field.known {
            Some(name) => self.section_mut().push_known(name, field.value, flags),
            None => self.section_mut().push_valid(field.name, field.value, flags),
        }
        Ok(())
    }

    /// Stores fields like [`store`](Self::store), for indexes of one byte: the known ones, which nearly all
    /// are, in the loop.
    #[inline(always)]
    fn store_indexed(&mut self, fields: &mut Indexed<'_, '_>) -> Result<(), Refusal> {
        while let Some(field) = fields.next_stored() {
            match field {
                Stored::Known(name, value, class) => {
                    self.left.take(name.len(), value.len())?;
                    if class.field_ok() {
                        self.section_mut().push_known(name, value, FieldFlags::NONE);
                    } else {
                        self.store_other(Some(name), value, class)?;
                    }
                }
                Stored::Other(..) => self.store(&Decoded::of(field))?,
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn section_mut(&mut self) -> &mut FieldSection {
        match &mut self.target {
            Target::Head(head) => &mut head.fields,
            Target::Section(section) => section,
        }
    }

    /// Stores a pseudo-field, or returns its fault.
    #[inline(never)]
    fn store_other(&mut self, known: Option<KnownName>, value: &[u8], class: Class) -> Result<(), Refusal> {
        match (known, &mut self.target) {
            (Some(name), Target::Head(head)) if class.pseudo_ok() => store_pseudo(head, name, value),
            _ => Err(refusal(class)),
        }
    }
}

/// Stores a valid pseudo-field, or returns its fault.
#[inline(always)]
fn store_pseudo(head: &mut Head, name: KnownName, value: &[u8]) -> Result<(), Refusal> {
    let is_ascii = bytes::is_ascii(value);
    if head.fields.is_empty() && is_ascii && head.add_pseudo(name, value) {
        return Ok(());
    }
    let is_misplaced = head.has_pseudo(name) || !head.fields.is_empty();
    Err(if is_misplaced { Refusal::Pseudo } else { Refusal::Value })
}

/// Returns the reason for which a field of this class is not stored; it is not valid in HTTP/2, or it is a
/// pseudo-field.
#[cold]
fn refusal(class: Class) -> Refusal {
    match class {
        _ if !class.name_ok() && !class.name_pseudo() => Refusal::Name,
        _ if !class.value_ok() || !class.value_trimmed() => Refusal::Value,
        _ => Refusal::Pseudo,
    }
}

impl Visitor for Collect<'_> {
    #[inline(always)]
    fn field(&mut self, field: Decoded<'_>) {
        if self.refusal.is_some() {
            return;
        }
        if let Err(refusal) = self.store(&field) {
            self.refusal = Some(refusal);
        }
    }

    #[inline(always)]
    fn indexed(&mut self, fields: &mut Indexed<'_, '_>) {
        if self.refusal.is_none() {
            self.refusal = self.store_indexed(fields).err();
        }
        if self.refusal.is_some() {
            while fields.next_stored().is_some() {}
        }
    }
}
