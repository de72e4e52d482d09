//! A field of a section: an entry of sixteen bytes, and a view of it for callers.

use alloc::borrow::Cow;
use core::fmt;

use crate::{
    name::{self, FieldName, known::KnownName},
    value::masked::{self, Quoted},
};

/// The marks of a field beside its name and value.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct FieldFlags(u8);

impl FieldFlags {
    /// The empty set of flags.
    pub const NONE: Self = Self(0);
    /// The value is secret: never indexed by HPACK (RFC 7541 §7.1.3), and hidden by `Debug`.
    pub const SENSITIVE: Self = Self(1);
    /// The spelling of HTTP/1 follows the value in the arena.
    pub(crate) const SPELLED: Self = Self(2);

    /// Returns true if all of these flags are set.
    #[inline]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the union of two sets of flags.
    #[inline]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
}

/// The place of a field in the arena: the name if it is unknown, then the value, then the spelling if one is
/// kept.
#[derive(Copy, Clone, Eq)]
pub(crate) struct Entry {
    pub(crate) start: u32,
    pub(crate) name_len: u32,
    pub(crate) value_len: u32,
    pub(crate) known: Option<KnownName>,
    pub(crate) flags: FieldFlags,
}

// The documentation promises this bookkeeping per field.
const _: () = assert!(size_of::<Entry>() <= 16);

impl PartialEq for Entry {
    /// Compares two entries as one word: repeated sections are recognised entry by entry.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let place = |entry: &Self| u64::from(entry.start) | u64::from(entry.name_len) << 32;
        let marks = |entry: &Self| u16::from_le_bytes([entry.known.map_or(0, KnownName::id), entry.flags.0]);
        place(self) == place(other) && self.value_len == other.value_len && marks(self) == marks(other)
    }
}

impl Entry {
    /// Returns the bytes of this field in the arena.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let spelling = if self.flags.contains(FieldFlags::SPELLED) { self.len_of_name() } else { 0 };
        self.name_len as usize + self.value_len as usize + spelling
    }

    /// Returns the length of the name, wherever it is kept.
    #[inline]
    pub(crate) fn len_of_name(&self) -> usize {
        self.known.map_or(self.name_len as usize, KnownName::len)
    }

    /// Returns the bytes of a known name, which are outside the arena, less those of the spelling, which are
    /// in it but do not count.
    ///
    /// Wraps below zero for a kept spelling of an unknown name; sums of it come out right.
    #[inline]
    pub(crate) fn outside(&self) -> usize {
        let outside = self.known.map_or(0, KnownName::len);
        if self.flags.contains(FieldFlags::SPELLED) {
            outside.wrapping_sub(self.len_of_name())
        } else {
            outside
        }
    }
}

/// A field: a view into its section, cheap to copy.
///
/// `Debug` shows `name: "value"`, with the value as [`shown`](Self::shown) returns it.
#[derive(Copy, Clone)]
pub struct Field<'a> {
    pub(crate) entry: Entry,
    pub(crate) arena: &'a [u8],
}

impl<'a> Field<'a> {
    /// Returns the name, in lower case.
    #[inline]
    pub fn name(&self) -> FieldName<'a> {
        match self.entry.known {
            Some(name) => FieldName::Known(name),
            None => FieldName::Other(text(self.part(0, self.entry.name_len as usize))),
        }
    }

    /// Returns the bytes of the name, in lower case.
    #[inline]
    pub fn name_bytes(&self) -> &'a [u8] {
        match self.entry.known {
            Some(name) => name.as_str().as_bytes(),
            None => self.part(0, self.entry.name_len as usize),
        }
    }

    /// Returns the name's id, if it is known.
    #[inline]
    pub fn known(&self) -> Option<KnownName> {
        self.entry.known
    }

    /// Returns the value's bytes, exactly as they were given.
    #[inline]
    pub fn value(&self) -> &'a [u8] {
        self.part(self.entry.name_len as usize, self.entry.value_len as usize)
    }

    /// Returns the value as text, if it is UTF-8.
    #[inline]
    pub fn text(&self) -> Option<&'a str> {
        core::str::from_utf8(self.value()).ok()
    }

    /// Returns true if the field was stored as sensitive, so that HPACK must never index it.
    #[inline]
    pub fn is_sensitive(&self) -> bool {
        self.entry.flags.contains(FieldFlags::SENSITIVE)
    }

    /// Returns true if the value is secret: marked sensitive, or under a name such as `authorization`.
    #[inline]
    pub fn is_hidden(&self) -> bool {
        self.is_sensitive() || self.entry.known.is_some_and(KnownName::is_sensitive)
    }

    /// Returns the value in a form that may be shown: `…` if it is marked sensitive, and else what
    /// [`masked_field`](crate::masked_field) leaves of it. Allocates only where something is hidden.
    pub fn shown(&self) -> Cow<'a, [u8]> {
        match self.is_sensitive() {
            true => masked::hidden(),
            false => masked::masked_field(self.name().as_str(), self.value()),
        }
    }

    /// Returns the marks that the field was stored with.
    #[inline]
    pub fn flags(&self) -> FieldFlags {
        self.entry.flags
    }

    /// Returns the spelling of the name, when the field was stored with
    /// [`append_spelled`](crate::FieldSection::append_spelled).
    pub fn spelling(&self) -> Option<&'a str> {
        self.spelled().map(text)
    }

    /// Writes the name as HTTP/1 sends it, in the kept or the canonical spelling, and returns its length.
    ///
    /// `None` when the buffer is shorter than the name. Allocates nothing.
    pub fn write_spelling(&self, out: &mut [u8]) -> Option<usize> {
        match self.spelled() {
            Some(spelling) => copy_to(out, spelling),
            None => self.write_canonical(out),
        }
    }

    /// Writes the name in the canonical spelling, and returns its length; `None` when the buffer is shorter.
    pub fn write_canonical(&self, out: &mut [u8]) -> Option<usize> {
        match self.entry.known {
            Some(name) => copy_to(out, name.canonical().as_bytes()),
            None => name::write_capitals(self.name_bytes(), out),
        }
    }

    /// Writes the beginning of an HTTP/1 line: the name in the kept or the canonical spelling, a colon and a
    /// space. Returns the length of that; `None` when the buffer is shorter. Bytes of the buffer behind it
    /// may be overwritten.
    ///
    /// ```
    /// use alula::FieldSection;
    ///
    /// let section = FieldSection::from_pairs([("etag", "a")])?;
    /// let mut line = [b'-'; 64];
    /// let len = section.at(0).unwrap().write_line_start(&mut line).unwrap();
    /// assert_eq!(&line[..len], b"ETag: ");
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    #[inline]
    pub fn write_line_start(&self, out: &mut [u8]) -> Option<usize> {
        if let Some(name) = self.entry.known
            && !self.entry.flags.contains(FieldFlags::SPELLED)
            && let Some(start) = name.line_start()
            && let Some(block) = out.first_chunk_mut()
        {
            *block = *start;
            return Some(name.len() + 2);
        }
        self.write_other_start(out)
    }

    #[inline(never)]
    fn write_other_start(&self, out: &mut [u8]) -> Option<usize> {
        let len = self.write_spelling(out)?;
        Some(len + copy_to(&mut out[len..], b": ")?)
    }

    fn spelled(&self) -> Option<&'a [u8]> {
        let before = self.entry.name_len as usize + self.entry.value_len as usize;
        let is_spelled = self.entry.flags.contains(FieldFlags::SPELLED);
        is_spelled.then(|| self.part(before, self.entry.len_of_name()))
    }

    #[inline]
    fn part(&self, before: usize, len: usize) -> &'a [u8] {
        &self.arena[self.entry.start as usize + before..][..len]
    }
}

impl PartialEq for Field<'_> {
    /// Same name and same value; neither spelling nor sensitivity counts.
    fn eq(&self, other: &Self) -> bool {
        self.known() == other.known()
            && self.name_bytes() == other.name_bytes()
            && self.value() == other.value()
    }
}

impl Eq for Field<'_> {}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), Quoted(&self.shown()))
    }
}

/// Copies to the start of a buffer, and returns the number of bytes; `None` when they do not fit.
#[inline]
fn copy_to(out: &mut [u8], bytes: &[u8]) -> Option<usize> {
    out.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(bytes.len())
}

/// Returns ASCII bytes as text; empty text for other bytes, which a caller must not have stored.
#[inline]
fn text(name: &[u8]) -> &str {
    core::str::from_utf8(name).unwrap_or_default()
}
