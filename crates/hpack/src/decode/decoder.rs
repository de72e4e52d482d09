//! The decoder: from blocks to fields.
//!
//! A block may come in any number of fragments. Whole fields are decoded where they lie; one that is cut is
//! kept until as many bytes are there as its lengths ask for, and only then looked at again. No string is
//! scanned twice, and the limit for strings bounds the bytes that are kept.

use core::fmt;

use alloc::vec::Vec;

use alula_fields::KnownName;

use crate::decode::literal::{Cut, Form, Literal, Name, Span};
use crate::decode::visitor::{Decoded, Indexed, Visitor};
use crate::encode::class::{Bytes, Class};
use crate::encode::config::TABLE_BYTES_INITIAL;
use crate::error::DecodeError;
use crate::huffman;
use crate::table::dynamic::{Entry, Table};
use crate::table::static_table::{LAST, ROWS, Row};
use crate::table::view::TableView;
use crate::wire::integer;

/// The limits of a decoder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DecoderLimits {
    /// The initial size of the dynamic table, in bytes as RFC 7541 §4.1 counts them. HTTP/2 begins with the
    /// default, 4096; another size holds from the moment the peer acknowledges it, see
    /// [`Decoder::set_table_limit`].
    pub table_bytes: u32,
    /// The longest string, in bytes on the wire; a longer one ends the decoding (RFC 7541 §7.4). 64 KiB by
    /// default: four times the size of a list of fields, so that a list that is only too large can still be
    /// refused alone.
    pub string_bytes: u32,
}

impl Default for DecoderLimits {
    fn default() -> Self {
        Self { table_bytes: TABLE_BYTES_INITIAL, string_bytes: 64 * 1024 }
    }
}

/// Decodes blocks of one direction of a connection (RFC 7541 §3, §6).
///
/// Every block must go through it, in the order of arrival, also those whose fields nobody wants. Nothing is
/// allocated once table and scratch have seen their full size.
///
/// ```
/// use alula::hpack::{Decoded, Decoder, DecoderLimits};
///
/// let mut decoder = Decoder::new(DecoderLimits::default());
/// let mut seen = Vec::new();
/// let mut visit = |field: Decoded<'_>| seen.push((field.name.to_vec(), field.value.to_vec()));
/// decoder.decode(b"\x82\x40\x05x-", false, &mut visit)?;
/// decoder.decode(b"tag\x01a", true, &mut visit)?;
/// assert_eq!(seen, [(b":method".to_vec(), b"GET".to_vec()), (b"x-tag".to_vec(), b"a".to_vec())]);
///
/// let error = decoder.decode(b"\x80", true, &mut |_: Decoded<'_>| ()).unwrap_err();
/// assert_eq!(error.rule(), "an indexed field with index 0 (RFC 7541 §6.1)");
/// # Ok::<(), alula::hpack::DecodeError>(())
/// ```
pub struct Decoder {
    limits: DecoderLimits,
    table: Table,
    /// The table size that the peer may use, by our last acknowledged setting.
    table_limit: u32,
    /// The smallest limit since the last block, if it is below the table's maximum: the next update must not
    /// exceed it.
    owed: Option<u32>,
    /// True before the first field of the block, where size updates may come, with the number of those that
    /// came.
    at_start: bool,
    updates: u8,
    failed: Option<DecodeError>,
    /// The beginning of an incomplete field, and the length from which on it is parsed again.
    tail: Vec<u8>,
    tail_needs: usize,
    /// The buffers for decoded Huffman strings.
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// Creates a new decoder. Allocates nothing yet.
    pub const fn new(limits: DecoderLimits) -> Self {
        Self::with_table(limits, Table::new(limits.table_bytes, SLOTS_MIN))
    }

    /// Creates a decoder without bounds that goes on from the table of our own encoder.
    pub(crate) fn of_trusted(table: Table) -> Self {
        let limits = DecoderLimits { string_bytes: u32::MAX, table_bytes: u32::MAX };
        Self::with_table(limits, table)
    }

    const fn with_table(limits: DecoderLimits, table: Table) -> Self {
        Self {
            limits,
            table,
            table_limit: limits.table_bytes,
            owed: None,
            at_start: true,
            updates: 0,
            failed: None,
            tail: Vec::new(),
            tail_needs: 0,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Resets it for a new connection. Memory is kept; [`epoch`](Self::epoch) goes on.
    pub fn reset(&mut self) {
        self.table.reset(self.limits.table_bytes);
        self.table_limit = self.limits.table_bytes;
        (self.owed, self.at_start, self.updates, self.failed) = (None, true, 0, None);
        self.tail.clear();
    }

    /// Sets the size that the peer's table may have; to be called between blocks, once the peer has
    /// acknowledged our SETTINGS_HEADER_TABLE_SIZE.
    ///
    /// If that is below the size the table has, the peer must say at the start of the next block that it
    /// obeys (RFC 7541 §4.2).
    pub fn set_table_limit(&mut self, bytes: u32) {
        self.table_limit = bytes;
        if bytes < self.table.size_max() {
            self.owed = Some(self.owed.map_or(bytes, |owed| owed.min(bytes)));
        }
    }

    /// Decodes the next fragment of a block, whose last one has `end`, and passes each complete field to the
    /// visitor.
    ///
    /// # Errors
    ///
    /// If the block breaks a rule of RFC 7541 or has a string above the limit. Fields before that have been
    /// visited. From then on every call returns the same error until [`reset`](Self::reset).
    #[inline]
    pub fn decode<V: Visitor + ?Sized>(
        &mut self,
        fragment: &[u8],
        end: bool,
        visitor: &mut V,
    ) -> Result<(), DecodeError> {
        let result = self.decode_fragment(fragment, end, visitor);
        if let Err(error) = result {
            self.failed = Some(error);
        }
        result
    }

    /// Returns a count of changes to the table: equal blocks of indexes mean the same while it stays the
    /// same.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.table.changes()
    }

    /// Returns true if the next byte begins a block without a due size update: a block of indexes can then
    /// come from a [`Memo`](crate::Memo).
    #[inline]
    pub fn is_between_blocks(&self) -> bool {
        self.at_start
            && self.updates == 0
            && self.tail.is_empty()
            && self.owed.is_none()
            && self.failed.is_none()
    }

    /// Frees the memory that the present entries do not need, for idle connections.
    pub fn trim(&mut self) {
        self.table.trim();
        self.tail.shrink_to_fit();
        (self.name, self.value) = (Vec::new(), Vec::new());
    }

    /// Returns the dynamic table, for tests and debugging.
    pub fn table(&self) -> TableView<'_> {
        TableView::new(&self.table)
    }

    /// Returns the bytes of memory outside the struct itself.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.tail.capacity() + self.name.capacity() + self.value.capacity()
    }

    /// Checks the bookkeeping, for tests; its cost grows with the table.
    ///
    /// # Panics
    ///
    /// If something is inconsistent, with what it is.
    pub fn check_invariants(&self) {
        self.table.check_invariants();
        assert!(self.tail.is_empty() || self.tail.len() < self.tail_needs, "a field that is all there waits");
        for id in self.table.oldest_id()..self.table.next_id() {
            let entry = self.table.entry(id);
            assert_eq!(entry.class, Class::of(entry.name, entry.value), "class of entry {id}");
            assert_eq!(entry.known, KnownName::lookup(entry.name), "known name of entry {id}");
        }
    }

    #[inline]
    fn decode_fragment<V: Visitor + ?Sized>(
        &mut self,
        mut fragment: &[u8],
        end: bool,
        visitor: &mut V,
    ) -> Result<(), DecodeError> {
        // After an error the table no longer matches the peer's, so no later block can be decoded (RFC 7541
        // §4).
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.tail.is_empty() {
            fragment = self.finish_tail(fragment, visitor)?;
        }
        if self.at_start {
            self.leave_start(fragment)?;
        }
        let cut = self.fields(fragment, visitor)?;
        if end { self.end_block(cut) } else { self.keep(cut) }
    }

    /// Decodes fields until the input ends, and returns an incomplete one.
    #[inline]
    fn fields<'f, V: Visitor + ?Sized>(
        &mut self,
        fragment: &'f [u8],
        visitor: &mut V,
    ) -> Result<Option<(&'f [u8], Cut)>, DecodeError> {
        let mut rest = fragment;
        loop {
            rest = self.short_indexes(rest, visitor);
            if rest.is_empty() {
                return Ok(None);
            }
            match self.field(rest, visitor)? {
                Ok(len) => rest = &rest[len..],
                Err(cut) => return Ok(Some((rest, cut))),
            }
        }
    }

    /// Visits fields while each is an index of one byte, as most are, and returns the rest.
    #[inline(always)]
    fn short_indexes<'f, V: Visitor + ?Sized>(&self, fragment: &'f [u8], visitor: &mut V) -> &'f [u8] {
        if fragment.first().is_none_or(|byte| byte & 0x80 == 0) {
            return fragment;
        }
        let mut indexed = Indexed::new(self.table.nearest(), fragment);
        visitor.indexed(&mut indexed);
        indexed.rest()
    }

    /// Decodes one field other than a short index, and returns its length, or where it is cut.
    #[inline(never)]
    fn field<V: Visitor + ?Sized>(
        &mut self,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<Result<usize, Cut>, DecodeError> {
        let Some(form) = Form::of(input[0]) else {
            return match integer::decode(input, 0, 7)? {
                Some((index, len)) => self.index(index, visitor).map(|()| Ok(len)),
                None => Ok(Err(Cut::in_integer(input))),
            };
        };
        if form == Form::SizeUpdate {
            return self.size_update(input);
        }
        match Literal::measure(form, input, self.limits.string_bytes)? {
            Ok(literal) => self.literal(form, &literal, input, visitor).map(|()| Ok(literal.len)),
            Err(cut) => Ok(Err(cut)),
        }
    }

    /// Visits the field with an index of any length.
    fn index<V: Visitor + ?Sized>(&self, index: u32, visitor: &mut V) -> Result<(), DecodeError> {
        match index {
            // Index 0 is reserved (RFC 7541 §6.1).
            0 => Err(DecodeError::INDEX_ZERO),
            1..=LAST => {
                visit(visitor, from_row(&ROWS[index as usize]));
                Ok(())
            }
            _ => {
                let id = self.table.id_behind(index - LAST - 1).ok_or(DecodeError::INDEX_BEYOND)?;
                visit(visitor, from_entry(self.table.entry(id)));
                Ok(())
            }
        }
    }

    /// Visits a complete literal, and adds it to the table if it asks for that.
    #[inline]
    fn literal<V: Visitor + ?Sized>(
        &mut self,
        form: Form,
        literal: &Literal,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<(), DecodeError> {
        let never = form == Form::Never;
        let (mut small, mut small_name) = ([0; SMALL], [0; SMALL]);
        let (value, bytes) = string(literal.value, input, &mut small, &mut self.value, Bytes::of_value)?;
        let (name, known, class) = match literal.name {
            Name::Literal(span) => {
                let (name, bytes) = string(span, input, &mut small_name, &mut self.name, Bytes::of_name)?;
                (name, KnownName::lookup(name), Class::name(name, bytes))
            }
            Name::Index(index) if index <= LAST => {
                let row = &ROWS[index as usize];
                (row.name.as_str().as_bytes(), Some(row.name), row.class)
            }
            Name::Index(index) => {
                let id = self.table.id_behind(index - LAST - 1).ok_or(DecodeError::INDEX_BEYOND)?;
                let entry = self.table.entry(id);
                let class = entry.class.and_value(value, bytes);
                // The visitor comes first: the insertion may evict the entry that the name is borrowed from
                // (RFC 7541 §4.4).
                visit(visitor, Decoded { name: entry.name, known: entry.known, value, never, class });
                if form == Form::Incremental {
                    self.table.insert_named_by(id, value, class);
                }
                return Ok(());
            }
        };
        let class = class.and_value(value, bytes);
        visit(visitor, Decoded { name, known, value, never, class });
        if form == Form::Incremental {
            self.table.insert(name, known, value, class);
        }
        Ok(())
    }

    /// Ends the start of the block, where size updates are allowed.
    #[inline]
    fn leave_start(&mut self, rest: &[u8]) -> Result<(), DecodeError> {
        match rest.first() {
            None => Ok(()),
            Some(&first) if Form::of(first) == Some(Form::SizeUpdate) => Ok(()),
            // A peer that acknowledged a smaller table has to say so before the first field (RFC 7541 §4.2).
            Some(_) if self.owed.is_some() => Err(DecodeError::UPDATE_MISSING),
            Some(_) => {
                self.at_start = false;
                Ok(())
            }
        }
    }

    /// Applies the size update at the start of `input`.
    fn size_update(&mut self, input: &[u8]) -> Result<Result<usize, Cut>, DecodeError> {
        if !self.at_start {
            return Err(DecodeError::UPDATE_MISPLACED);
        }
        // The smallest and the last are all an encoder has to tell (RFC 7541 §4.2).
        if self.updates == UPDATES_MAX {
            return Err(DecodeError::UPDATE_TOO_MANY);
        }
        let Some((bytes, len)) = integer::decode(input, 0, 5)? else {
            return Ok(Err(Cut::in_integer(input)));
        };
        // The size that SETTINGS allows bounds every update (RFC 7541 §6.3).
        if bytes > self.table_limit {
            return Err(DecodeError::UPDATE_ABOVE_LIMIT);
        }
        // The first update has to go down to the smallest size in between, even if the last one is larger
        // (RFC 7541 §4.2).
        if self.owed.take().is_some_and(|owed| bytes > owed) {
            return Err(DecodeError::UPDATE_MISSING);
        }
        self.updates += 1;
        self.table.set_size_max(bytes);
        self.leave_start(&input[len..])?;
        Ok(Ok(len))
    }

    /// Completes the incomplete field, and returns the rest of the input.
    #[cold]
    fn finish_tail<'f, V: Visitor + ?Sized>(
        &mut self,
        mut fragment: &'f [u8],
        visitor: &mut V,
    ) -> Result<&'f [u8], DecodeError> {
        let mut tail = core::mem::take(&mut self.tail);
        let result = loop {
            let (more, rest) = fragment.split_at(fragment.len().min(self.tail_needs - tail.len()));
            tail.extend_from_slice(more);
            fragment = rest;
            if tail.len() < self.tail_needs {
                // Goes back to where it was, to wait for more.
                self.tail = tail;
                return Ok(fragment);
            }
            match self.field(&tail, visitor) {
                Ok(Err(cut)) => self.tail_needs = cut.needs,
                Ok(Ok(_)) => break Ok(fragment),
                Err(error) => break Err(error),
            }
        };
        tail.clear();
        self.tail = tail;
        result
    }

    /// Keeps an incomplete field.
    #[inline]
    fn keep(&mut self, cut: Option<(&[u8], Cut)>) -> Result<(), DecodeError> {
        if let Some((bytes, cut)) = cut {
            self.tail.extend_from_slice(bytes);
            self.tail_needs = cut.needs;
        }
        Ok(())
    }

    #[inline]
    fn end_block(&mut self, cut: Option<(&[u8], Cut)>) -> Result<(), DecodeError> {
        // A block ends with a whole field, never within one (RFC 9113 §4.3).
        if let Some((_, cut)) = cut {
            return Err(cut.error);
        }
        if !self.tail.is_empty() {
            return Err(self.tail_error());
        }
        if self.owed.is_some() {
            return Err(DecodeError::UPDATE_MISSING);
        }
        (self.at_start, self.updates) = (true, 0);
        Ok(())
    }

    /// Returns the error for an incomplete field at the end of a block.
    #[cold]
    fn tail_error(&self) -> DecodeError {
        Cut::of(&self.tail, self.limits.string_bytes).error
    }
}

/// Visits a field out of line, so that the visitor is inlined in one place only.
#[inline(never)]
fn visit<V: Visitor + ?Sized>(visitor: &mut V, field: Decoded<'_>) {
    visitor.field(field);
}

/// Visits a field of the static table.
#[inline(always)]
fn from_row(row: &'static Row) -> Decoded<'static> {
    let (name, value) = (row.name.as_str().as_bytes(), row.value.as_bytes());
    Decoded { name, known: Some(row.name), value, never: false, class: row.class }
}

/// Visits a field of the dynamic table.
#[inline(always)]
fn from_entry(entry: Entry<'_>) -> Decoded<'_> {
    let Entry { name, known, value, class } = entry;
    Decoded { name, known, value, never: false, class }
}

/// The size updates of one block; more than these have no purpose.
const UPDATES_MAX: u8 = 2;

/// The initial slots of the table: most short connections add fewer entries.
const SLOTS_MIN: u16 = 8;

/// The bytes of a buffer on the stack for a decoded string: most have less than forty.
const SMALL: usize = 64;

/// Returns a string of a literal, borrowed or decoded into `small`, or into `large` if it is longer, with the
/// classes of its bytes.
#[inline]
fn string<'a>(
    span: Span,
    input: &'a [u8],
    small: &'a mut [u8; SMALL],
    large: &'a mut Vec<u8>,
    bytes: fn(&[u8]) -> Bytes,
) -> Result<(&'a [u8], Bytes), DecodeError> {
    let coded = &input[span.start..span.end];
    if !span.is_huffman {
        return Ok((coded, bytes(coded)));
    }
    let room = huffman::decoded_len_max(coded.len());
    let place = if room <= SMALL { &mut small[..] } else { make_room(large, room) };
    let (len, bytes) = huffman::decode(coded, place)?;
    Ok((&place[..len], bytes))
}

fn make_room(large: &mut Vec<u8>, room: usize) -> &mut [u8] {
    if large.len() < room {
        large.resize(room.next_power_of_two(), 0);
    }
    large
}

/// Shows the size of its table.
impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("table", &self.table()).finish_non_exhaustive()
    }
}
