//! The field section: an ordered list of fields in one arena.
//!
//! Rule 1: fields lie in the arena in the order of arrival and without gaps, so that removing one moves the
//! others up.
//! Rule 2: a known name is never in the arena, and a name in the arena is never known; so names are compared
//! as ids, or as bytes, and never as both.
//! Rule 3: a call checks everything before it changes anything.

pub(crate) mod arena;
mod fields;
#[cfg(feature = "http")]
mod header_map;
pub(crate) mod pairs;

use alloc::vec::Vec;
use core::fmt;

pub use fields::Fields;

use crate::{
    error::FieldError,
    name::{IntoName, known::KnownName, lanes, sealed::Given, word},
    section::arena::Arena,
    text::bytes,
    value::field::{Entry, Field, FieldFlags},
};

/// An ordered list of fields: names folded and checked once, values as bytes, known names as numbers.
///
/// Two allocations hold it all: an arena of bytes, and sixteen bytes of bookkeeping per field.
/// [`clear`](Self::clear) keeps both, so a section that is used again allocates nothing once it is warm.
///
/// ```
/// use alula::{FieldSection, KnownName};
///
/// let mut section = FieldSection::new();
/// section.append(KnownName::CONTENT_TYPE, "text/html")?;
/// section.append("X-Tag", "a")?;
/// section.append("x-tag", "b")?;
/// assert_eq!(section.get("Content-Type"), Some(&b"text/html"[..]));
/// assert_eq!(section.get_all("X-TAG").collect::<Vec<_>>(), [b"a", b"b"]);
/// assert_eq!(section.list_size(), (12 + 9 + 32) + 2 * (5 + 1 + 32));
///
/// section.set("x-tag", "c")?;
/// assert_eq!(section.len(), 2);
/// assert!(section.append("x-tag", "no\nlines").is_err());
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Default, Clone)]
pub struct FieldSection {
    arena: Arena,
    entries: Vec<Entry>,
    /// The sum over [`Entry::outside`], which together with the length of the arena gives the bytes of all
    /// names and values.
    outside: usize,
}

/// The result of [adopting](FieldSection::adopt) another section.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Adopted<'o> {
    /// The section was a copy already.
    Nothing,
    /// The value of one field was replaced.
    Value(&'o [u8]),
    /// The sections differ in more than that; nothing has changed.
    Refused,
}

/// The memory that a section may keep when it is given back for reuse, in bytes; [`FieldSection::trim`] with
/// this is the habit.
///
/// Ten fields of a usual request take about 400 bytes, so a bigger section is an exception that should not
/// stay.
pub const SECTION_KEPT_BYTES_MAX: usize = 4 * 1024;

/// Constructors and whole-section operations.
impl FieldSection {
    /// Creates a section without fields; allocates nothing.
    #[inline]
    pub const fn new() -> Self {
        Self { arena: Arena::new(), entries: Vec::new(), outside: 0 }
    }

    /// Creates a section with room for so many fields, and for so many bytes of values and unknown names.
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self { arena: Arena::with_capacity(bytes), entries: Vec::with_capacity(fields), outside: 0 }
    }

    /// Makes room for so many more fields, and bytes of values and unknown names.
    pub(crate) fn reserve(&mut self, fields: usize, bytes: usize) {
        // Growing a vector that has no memory is a detour.
        if self.capacity_bytes() == 0 {
            *self = Self::with_capacity(fields, bytes);
            return;
        }
        self.arena.reserve(bytes);
        self.entries.reserve(fields);
    }

    /// Removes every field and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.arena.clear();
        self.entries.clear();
        self.outside = 0;
    }

    /// Makes this section equal to another one, in its present memory: two copies of bytes.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.arena.clear();
        self.arena.extend(&other.arena);
        self.entries.clear();
        self.entries.extend_from_slice(&other.entries);
        self.outside = other.outside;
    }

    /// Removes the fields after the first `fields`, and keeps the memory.
    pub fn truncate(&mut self, fields: usize) {
        let Some(first) = self.entries.get(fields) else { return };
        self.arena.truncate(first.start as usize);
        for entry in self.entries.drain(fields..) {
            self.outside = self.outside.wrapping_sub(entry.outside());
        }
    }

    /// Frees memory if more than `bytes_max` is held, down to about that or to what the fields need.
    ///
    /// Costs two comparisons when there is nothing to do; see [`SECTION_KEPT_BYTES_MAX`].
    pub fn trim(&mut self, bytes_max: usize) {
        if self.capacity_bytes() > bytes_max {
            let for_entries = bytes_max / 4;
            self.entries.shrink_to(for_entries / size_of::<Entry>());
            self.arena.shrink_to(bytes_max - for_entries);
        }
    }

    /// Returns the memory held, in bytes, used or not: what a memory account is charged.
    #[inline]
    pub fn capacity_bytes(&self) -> usize {
        self.arena.capacity() + self.entries.capacity() * size_of::<Entry>()
    }
}

/// Lookups and iteration.
impl FieldSection {
    /// Returns the number of fields.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no field.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the sum over all fields of name, value and 32 bytes (RFC 9113 §6.5.2); no loop, a few
    /// additions.
    #[inline]
    pub fn list_size(&self) -> usize {
        self.bytes() + 32 * self.len()
    }

    /// Returns the bytes of all names and values together, which is what HTTP/1 would send of them.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.arena.len().wrapping_add(self.outside)
    }

    /// Returns the fields in order of arrival.
    #[inline]
    pub fn iter(&self) -> Fields<'_> {
        Fields { entries: self.entries.iter(), arena: self.arena.room() }
    }

    /// Returns the field at a place in the order of arrival.
    #[inline]
    pub fn at(&self, index: usize) -> Option<Field<'_>> {
        self.entries.get(index).map(|&entry| Field { entry, arena: self.arena.room() })
    }

    /// Returns the first value of this name. A known name costs one comparison of a byte per field.
    #[inline]
    pub fn get<'n>(&self, name: impl IntoName<'n>) -> Option<&[u8]> {
        let name = name.given();
        self.iter().find(|field| is_named(field, name)).map(|field| field.value())
    }

    /// Returns the first value of this name as text, if it is UTF-8.
    ///
    /// ```
    /// use alula::FieldSection;
    ///
    /// let section = FieldSection::from_pairs([("location", "/there")])?;
    /// assert_eq!(section.text("Location"), Some("/there"));
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    #[inline]
    pub fn text<'n>(&self, name: impl IntoName<'n>) -> Option<&str> {
        core::str::from_utf8(self.get(name)?).ok()
    }

    /// Returns all values of this name, in order.
    #[inline]
    pub fn get_all<'s, 'n, N: IntoName<'n>>(&'s self, name: N) -> impl Iterator<Item = &'s [u8]> + Clone {
        let name = name.given();
        self.iter().filter(move |field| is_named(field, name)).map(|field| field.value())
    }

    /// Returns true if the other section has exactly the same fields: names, values, spellings and marks, in
    /// the same order.
    #[inline]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        *self.arena == *other.arena && self.entries == other.entries
    }

    /// Turns this section into a copy of another one that differs at most in the value of the field at this
    /// place, with the same length. Allocates nothing.
    ///
    /// ```
    /// use alula::{FieldSection, fields::Adopted};
    ///
    /// let mut last = FieldSection::from_pairs([("content-length", "83"), ("x-tag", "a")])?;
    /// let next = FieldSection::from_pairs([("content-length", "79"), ("x-tag", "a")])?;
    /// assert_eq!(last.adopt(&next, 0), Adopted::Value(b"79"));
    /// assert_eq!(last.adopt(&next, 0), Adopted::Nothing);
    /// assert_eq!(last.adopt(&next, 1), Adopted::Nothing);
    /// assert_eq!(last.adopt(&FieldSection::from_pairs([("x-tag", "b")])?, 0), Adopted::Refused);
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    #[inline]
    pub fn adopt<'o>(&mut self, other: &'o Self, place: usize) -> Adopted<'o> {
        if self.arena.len() != other.arena.len() || self.entries != other.entries {
            return Adopted::Refused;
        }
        if *self.arena == *other.arena {
            return Adopted::Nothing;
        }
        let Some(Entry { start, name_len, value_len, .. }) = self.entries.get(place) else {
            return Adopted::Refused;
        };
        let start = (start + name_len) as usize;
        let end = start + *value_len as usize;
        if self.arena[..start] != other.arena[..start] || self.arena[end..] != other.arena[end..] {
            return Adopted::Refused;
        }
        let value = &other.arena[start..end];
        self.arena[start..end].copy_from_slice(value);
        Adopted::Value(value)
    }

    /// Returns true if there is a field of this name.
    #[inline]
    pub fn contains<'n>(&self, name: impl IntoName<'n>) -> bool {
        self.get(name).is_some()
    }

    /// Returns true if some field has this known name: one comparison for each field, where
    /// [`contains`](Self::contains) builds a field.
    #[inline]
    pub fn contains_known(&self, name: KnownName) -> bool {
        self.entries.iter().any(|entry| entry.known == Some(name))
    }

    /// Returns true if some field has a known name that `wanted` accepts: one look at each field for any
    /// number of names.
    #[inline]
    pub fn contains_any(&self, wanted: impl Fn(KnownName) -> bool) -> bool {
        self.entries.iter().any(|entry| entry.known.is_some_and(&wanted))
    }

    /// Returns true if a request with these fields waits with its content until the server asks for it (RFC
    /// 9110 §10.1.1).
    pub fn expects_continue(&self) -> bool {
        self.get(KnownName::EXPECT).is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"))
    }

    /// Returns the first value of a name in which `_` and `-` count as equal, so that `content_type` finds
    /// `content-type`.
    ///
    /// For those who come from languages whose symbols have no dashes; the name on the wire is never changed
    /// this way.
    ///
    /// ```
    /// use alula::FieldSection;
    ///
    /// let mut section = FieldSection::new();
    /// section.append("Content-Type", "text/html")?;
    /// assert_eq!(section.get("content_type"), None);
    /// assert_eq!(section.get_loose("content_type"), Some(&b"text/html"[..]));
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    pub fn get_loose(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|field| is_loosely(field.name_bytes(), name.as_bytes())).map(|field| field.value())
    }
}

/// Storing and removing fields; a refused call changes nothing.
impl FieldSection {
    /// Adds a field behind all others, even those of the same name.
    ///
    /// # Errors
    /// When the name is no token or is a pseudo-field's, or the value has a control other than tab.
    #[inline]
    pub fn append<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Result<(), FieldError> {
        self.store(name.given(), value.as_ref(), FieldFlags::NONE)
    }

    /// Appends a secret field like [`append`](Self::append): HPACK never indexes it, and `Debug` hides it.
    ///
    /// # Errors
    /// As `append`.
    #[inline]
    pub fn append_sensitive<'n>(
        &mut self,
        name: impl IntoName<'n>,
        value: impl AsRef<[u8]>,
    ) -> Result<(), FieldError> {
        self.store(name.given(), value.as_ref(), FieldFlags::SENSITIVE)
    }

    /// Appends a field like [`append`](Self::append); HTTP/1 sends its name just as it is spelled here.
    ///
    /// # Errors
    /// As `append`.
    ///
    /// ```
    /// use alula::FieldSection;
    ///
    /// let mut section = FieldSection::new();
    /// section.append_spelled("X_kEy", "1")?;
    /// let field = section.at(0).unwrap();
    /// assert_eq!((field.name().as_str(), field.spelling()), ("x_key", Some("X_kEy")));
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    pub fn append_spelled(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), FieldError> {
        use crate::name::sealed::Name;
        self.store(name.given(), value.as_ref(), FieldFlags::NONE)?;
        self.spell(name.as_bytes());
        Ok(())
    }

    /// Removes every field of this name, then adds this one at the end.
    ///
    /// # Errors
    /// As [`append`](Self::append); the old fields are still there then.
    pub fn set<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Result<(), FieldError> {
        let (name, value) = (name.given(), value.as_ref());
        let is_accepted = match name {
            Given::Known(name) => self.accepts_known(name, value),
            Given::Text(name) => self.accepts_text(name.as_bytes(), value),
        };
        if is_accepted {
            self.remove_given(name);
        }
        self.store(name, value, FieldFlags::NONE)
    }

    /// Removes every field of this name, and returns their number.
    pub fn remove<'n>(&mut self, name: impl IntoName<'n>) -> usize {
        self.remove_given(name.given())
    }

    /// Keeps the fields that the closure selects, in their order, and returns the number of removed ones.
    pub fn retain(&mut self, mut keep: impl FnMut(Field<'_>) -> bool) -> usize {
        let (before, mut kept, mut end) = (self.len(), 0, 0);
        for index in 0..before {
            let entry = self.entries[index];
            if !keep(Field { entry, arena: self.arena.room() }) {
                self.outside = self.outside.wrapping_sub(entry.outside());
                continue;
            }
            let start = entry.start as usize;
            if start != end {
                self.arena.copy_within(start..start + entry.bytes(), end);
            }
            self.entries[kept] = Entry { start: end as u32, ..entry };
            kept += 1;
            end += entry.bytes();
        }
        self.entries.truncate(kept);
        self.arena.truncate(end);
        before - kept
    }

    /// Adds every field of the other section, in order, with its flags and spelling.
    ///
    /// # Panics
    /// When both together have 4 GiB or more.
    // A remembered head is copied by this: the call alone would be 5 % of what that costs.
    #[inline(always)]
    pub fn extend_from(&mut self, other: &Self) {
        let shift = self.arena.len();
        assert!(u32::try_from(shift + other.arena.len()).is_ok(), "a section holds less than 4 GiB");
        self.arena.extend(&other.arena);
        let shifted = other.entries.iter().map(|entry| Entry { start: entry.start + shift as u32, ..*entry });
        self.entries.extend(shifted);
        self.outside = self.outside.wrapping_add(other.outside);
    }

    /// Takes over the fields of the other section: own fields of the same names are removed, the others' are
    /// added at the end.
    ///
    /// # Panics
    /// When both together have 4 GiB or more.
    pub fn merge(&mut self, other: &Self) {
        self.retain(|own| {
            !other.iter().any(|new| new.known() == own.known() && new.name_bytes() == own.name_bytes())
        });
        self.extend_from(other);
    }

    /// Adds every pair, or none when one is refused.
    ///
    /// # Errors
    /// As [`append`](Self::append), for the first pair that is refused.
    pub fn extend_pairs<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), FieldError> {
        let before = self.len();
        pairs
            .into_iter()
            .try_for_each(|(name, value)| self.append(name.as_ref(), value))
            .inspect_err(|_| self.truncate(before))
    }
}

/// Methods for decoders, which have checked names and values already. Nothing is checked again outside of
/// debug builds.
impl FieldSection {
    /// Adds a field with a known name that is no pseudo-field's, and a value that [`bytes::is_field_value`]
    /// accepts.
    ///
    /// The caller keeps the section below 4 GiB.
    #[inline(always)]
    pub fn push_known(&mut self, name: KnownName, value: &[u8], flags: FieldFlags) {
        debug_assert!(!name.is_pseudo() && bytes::is_field_value(value));
        let start = self.arena.len() as u32;
        self.entries.push(Entry {
            start,
            name_len: 0,
            value_len: value.len() as u32,
            known: Some(name),
            flags,
        });
        self.outside = self.outside.wrapping_add(name.len());
        self.arena.append(value);
    }

    /// Adds a field with a name that is not known but a token in lower case, and a value that
    /// [`bytes::is_field_value`] accepts.
    ///
    /// The caller keeps the section below 4 GiB.
    #[inline]
    pub fn push_valid(&mut self, lower_name: &[u8], value: &[u8], flags: FieldFlags) {
        debug_assert!(bytes::is_lower_token(lower_name) && KnownName::lookup(lower_name).is_none());
        debug_assert!(bytes::is_field_value(value));
        let (name_len, value_len) = (lower_name.len() as u32, value.len() as u32);
        let start = self.arena.len() as u32;
        self.entries.push(Entry { start, name_len, value_len, known: None, flags });
        self.arena.append(lower_name);
        self.arena.append(value);
    }
}

/// Methods for HTTP/1 decoders, whose names are in any case.
impl FieldSection {
    /// Adds a field with a name in any case that is not known but a token, and a value that
    /// [`bytes::is_field_value`] accepts; `is_spelled` keeps the name as it is spelled as well.
    ///
    /// The caller keeps the section below 4 GiB.
    pub fn push_folding(&mut self, name: &[u8], value: &[u8], is_spelled: bool) {
        debug_assert!(bytes::is_token(name) && KnownName::lookup_folded(name).is_none());
        debug_assert!(bytes::is_field_value(value));
        self.push_text(name, value, FieldFlags::NONE);
        if is_spelled {
            self.spell(name);
        }
    }

    /// Appends a field like [`push_known`](Self::push_known), with its spelling: the known name in any case.
    pub fn push_known_spelled(&mut self, name: KnownName, spelling: &[u8], value: &[u8]) {
        debug_assert!(spelling.eq_ignore_ascii_case(name.as_str().as_bytes()));
        self.push_known(name, value, FieldFlags::NONE);
        self.spell(spelling);
    }

    /// Extends the last value by bytes that [`bytes::is_field_value`] accepts; does nothing without a field,
    /// or if its spelling is kept.
    pub fn extend_last(&mut self, more: &[u8]) {
        debug_assert!(bytes::is_field_value(more));
        let last = self.entries.last_mut().filter(|entry| !entry.flags.contains(FieldFlags::SPELLED));
        if let Some(entry) = last {
            entry.value_len += more.len() as u32;
            self.arena.append(more);
        }
    }

    /// Keeps the spelling of the last name.
    fn spell(&mut self, name: &[u8]) {
        self.arena.append(name);
        self.outside = self.outside.wrapping_sub(name.len());
        if let Some(entry) = self.entries.last_mut() {
            entry.flags = entry.flags.with(FieldFlags::SPELLED);
        }
    }
}

/// Checking and storing, with separate functions for known names and text so that arguments stay in
/// registers.
impl FieldSection {
    #[inline]
    fn store(&mut self, name: Given<'_>, value: &[u8], flags: FieldFlags) -> Result<(), FieldError> {
        match name {
            Given::Known(name) => self.store_known(name, value, flags),
            Given::Text(name) => self.store_text(name.as_bytes(), value, flags),
        }
    }

    #[inline(never)]
    fn store_known(&mut self, name: KnownName, value: &[u8], flags: FieldFlags) -> Result<(), FieldError> {
        if value.len() < 16 {
            return self.store_known_small(name, value, flags);
        }
        if let Some(room) = self.arena.room_behind()
            && lanes::copy_value(room, value)
            && self.push_copied(Some(name), 0, value.len(), flags)
        {
            return Ok(());
        }
        self.store_known_slowly(name, value, flags)
    }

    /// Stores a field like [`store_known`](Self::store_known), with less than sixteen bytes: out of line,
    /// since it needs more registers.
    #[inline(never)]
    fn store_known_small(
        &mut self,
        name: KnownName,
        value: &[u8],
        flags: FieldFlags,
    ) -> Result<(), FieldError> {
        if let Some(room) = self.arena.room_behind()
            && lanes::copy_small_value(room, value)
            && self.push_copied(Some(name), 0, value.len(), flags)
        {
            return Ok(());
        }
        self.store_known_slowly(name, value, flags)
    }

    /// Adds a field whose bytes are already behind the arena's end, if there is room for it and its name is
    /// not a pseudo-field's.
    #[inline(always)]
    fn push_copied(
        &mut self,
        known: Option<KnownName>,
        name_len: usize,
        value_len: usize,
        flags: FieldFlags,
    ) -> bool {
        let start = self.arena.len() as u32;
        if self.entries.len() == self.entries.capacity()
            || !self.fits(name_len, value_len)
            || known.is_some_and(KnownName::is_pseudo)
        {
            return false;
        }
        let (name_len, value_len) = (name_len as u32, value_len as u32);
        self.entries.push(Entry { start, name_len, value_len, known, flags });
        self.outside = self.outside.wrapping_add(known.map_or(0, KnownName::len));
        self.arena.commit((name_len + value_len) as usize);
        true
    }

    #[inline(never)]
    fn store_known_slowly(
        &mut self,
        name: KnownName,
        value: &[u8],
        flags: FieldFlags,
    ) -> Result<(), FieldError> {
        if !self.accepts_known(name, value) {
            return Err(refusal(name.as_str().as_bytes(), value));
        }
        self.push_known(name, value, flags);
        Ok(())
    }

    #[inline(never)]
    fn store_text(&mut self, name: &[u8], value: &[u8], flags: FieldFlags) -> Result<(), FieldError> {
        if let Some(room) = self.arena.room_behind()
            && lanes::copy_field(room, name, value)
            && self.push_copied(None, name.len(), value.len(), flags)
        {
            return Ok(());
        }
        self.store_text_slowly(name, value, flags)
    }

    #[inline(never)]
    fn store_text_slowly(&mut self, name: &[u8], value: &[u8], flags: FieldFlags) -> Result<(), FieldError> {
        if !self.accepts_text(name, value) {
            return Err(refusal(name, value));
        }
        self.push_text(name, value, flags);
        Ok(())
    }

    #[inline]
    fn accepts_known(&self, name: KnownName, value: &[u8]) -> bool {
        !name.is_pseudo() && bytes::is_field_value(value) && self.fits(0, value.len())
    }

    #[inline]
    fn accepts_text(&self, name: &[u8], value: &[u8]) -> bool {
        bytes::is_token(name) && bytes::is_field_value(value) && self.fits(name.len(), value.len())
    }

    /// Returns true if a field fits into spans of 32 bits; twice the longest known name, or the name, leaves
    /// room for a spelling.
    #[inline]
    fn fits(&self, name: usize, value: usize) -> bool {
        let end = self.arena.len() as u64 + value as u64 + 2 * name as u64;
        end < u32::MAX as u64 - 2 * u8::MAX as u64
    }

    /// Stores a checked unknown name in lower case.
    #[inline]
    fn push_text(&mut self, name: &[u8], value: &[u8], flags: FieldFlags) {
        let (start, name_len, value_len) = (self.arena.len(), name.len() as u32, value.len() as u32);
        self.entries.push(Entry { start: start as u32, name_len, value_len, known: None, flags });
        self.arena.append(name);
        word::make_lower(&mut self.arena[start..]);
        self.arena.append(value);
    }

    fn remove_given(&mut self, name: Given<'_>) -> usize {
        match self.iter().any(|field| is_named(&field, name)) {
            true => self.retain(|field| !is_named(&field, name)),
            false => 0,
        }
    }
}

impl PartialEq for FieldSection {
    /// Compares names and values in their order; neither spelling nor sensitivity counts.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.bytes() == other.bytes() && self.iter().eq(other.iter())
    }
}

impl Eq for FieldSection {}

impl fmt::Debug for FieldSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'s> IntoIterator for &'s FieldSection {
    type Item = Field<'s>;
    type IntoIter = Fields<'s>;

    fn into_iter(self) -> Fields<'s> {
        self.iter()
    }
}

/// Returns the reason for which a field was refused.
#[cold]
fn refusal(name: &[u8], value: &[u8]) -> FieldError {
    match (bytes::is_token(name), bytes::is_field_value(value)) {
        (false, _) => FieldError::name(name),
        (true, false) => FieldError::value(name, value),
        (true, true) => FieldError::too_large(name),
    }
}

#[inline]
fn is_named(field: &Field<'_>, name: Given<'_>) -> bool {
    match name {
        Given::Known(name) => field.known() == Some(name),
        Given::Text(name) => {
            field.known().is_none() && field.name_bytes().eq_ignore_ascii_case(name.as_bytes())
        }
    }
}

fn is_loosely(name: &[u8], wanted: &[u8]) -> bool {
    let fold = |&byte: &u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    name.len() == wanted.len() && name.iter().map(fold).eq(wanted.iter().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_to_fit() {
        let mut section = FieldSection::new();
        section.append("x-a", "1").unwrap();
        assert!(section.fits(1 << 20, 1 << 31) && section.fits(0, (1 << 32) - 1024));
        assert!(
            !section.fits(0, u32::MAX as usize)
                && !section.fits(1 << 31, 0)
                && !section.fits(1 << 30, 1 << 31)
        );
        let message = alloc::format!("{}", refusal(b"x-a", b"1"));
        assert_eq!(message, r#"field "x-a" does not fit: a section holds less than 4 GiB"#);
    }
}
