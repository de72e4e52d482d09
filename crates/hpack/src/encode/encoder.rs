//! The encoder: from fields to blocks.
//!
//! For each field the best match counts: name and value in the static table, then in the dynamic table, then
//! the name in the static table, then in the dynamic table. The choice can be seen on the wire and is the
//! same everywhere.

use alula_fields::KnownName;
use alula_machine::OutBuf;

use crate::decode::decoder::Decoder;
use crate::encode::block::Block;
use crate::encode::class::Class;
use crate::encode::config::{EncoderConfig, Huffman, Policy, TABLE_BYTES_INITIAL};
use crate::encode::field::{Field, Indexing};
use crate::encode::plan::Plans;
use crate::encode::treatment::{Treatment, WITHOUT, is_secret};
use crate::table::dynamic::{ENTRY_OVERHEAD, Table};
use crate::table::lookup::{Found, Hashes, Lookup};
use crate::table::seen::Seen;
use crate::table::static_table::{self, NameRows};
use crate::table::view::TableView;
use crate::wire::{integer, string};

/// Encodes blocks for one direction of a connection (RFC 7541 §2, §6).
///
/// Blocks must reach the peer in the order in which they were encoded, and all of them, or the peer's table
/// differs from ours; only with [`Policy::Static`] they may not. Nothing is allocated once the table has seen
/// its full size.
///
/// ```
/// use alula::{KnownName, machine::OutBuf};
/// use alula::hpack::{Encoder, EncoderConfig, Field, Policy};
///
/// let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
/// let fields = [Field::known(KnownName::PSEUDO_METHOD, b"GET"), Field::new(b"x-request-id", b"17")];
/// let mut out = OutBuf::new();
/// encoder.encode(fields, &mut out);
/// out.clear();
/// encoder.encode(fields, &mut out);
/// assert_eq!(out.unsent(), [0x82, 0xbe]);
/// ```
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    /// The treatment that `Indexing::Auto` stands for.
    auto: Treatment,
    /// The bound below which an [`Indexing`] allows an index.
    quick_below: u8,
    /// The maximum size that the peer was told.
    signalled: u32,
    /// The smallest maximum size since the last update for the peer.
    smallest: u32,
    pub(crate) table: Table,
    lookup: Lookup,
    seen: Seen,
    pub(crate) plans: Plans,
}

/// The form in which a field was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Written {
    /// An index of the static table.
    Static(u8),
    /// A literal, which is in no table.
    Entry(u64),
    /// A literal, of which the table knows nothing.
    Literal,
}

impl Encoder {
    /// Creates an encoder for a peer with the initial SETTINGS_HEADER_TABLE_SIZE. Allocates nothing yet.
    pub fn new(config: EncoderConfig) -> Self {
        let size_max = Self::size_max_initial(&config);
        Self {
            config,
            auto: Treatment::auto(config.policy),
            quick_below: quick_below(config.policy),
            signalled: TABLE_BYTES_INITIAL,
            smallest: size_max,
            table: Table::new(size_max, SLOTS_MIN),
            lookup: Lookup::new(),
            seen: Seen::new(),
            plans: Plans::new(),
        }
    }

    /// Resets it for a new connection. Memory is kept.
    pub fn reset(&mut self) {
        let size_max = Self::size_max_initial(&self.config);
        self.table.reset(size_max);
        (self.signalled, self.smallest) = (TABLE_BYTES_INITIAL, size_max);
        self.seen.reset();
        self.plans.forget();
    }

    /// Changes the policy from the next block on.
    ///
    /// With [`Policy::Static`] what the table holds is never referred to again, so that blocks do not depend
    /// on each other; the peer keeps it, and that does no harm.
    ///
    /// ```
    /// use alula::machine::OutBuf;
    /// use alula::hpack::{Encoder, EncoderConfig, Field, Policy};
    ///
    /// let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
    /// let mut out = OutBuf::new();
    /// encoder.encode([Field::new(b"x-tag", b"a")], &mut out);
    /// encoder.set_policy(Policy::Never);
    /// out.clear();
    /// encoder.encode([Field::new(b"x-tag", b"a")], &mut out);
    /// assert_eq!(out.unsent(), b"\x1f\x2f\x01a");
    /// ```
    pub fn set_policy(&mut self, policy: Policy) {
        self.config.policy = policy;
        (self.auto, self.quick_below) = (Treatment::auto(policy), quick_below(policy));
        if policy == Policy::Static {
            self.table.reset(self.table.size_max());
        }
        self.plans.forget();
    }

    /// Changes the coding of strings.
    pub fn set_huffman(&mut self, huffman: Huffman) {
        self.config.huffman = huffman;
        self.plans.forget();
    }

    /// Applies a SETTINGS_HEADER_TABLE_SIZE of the peer; to be called before the SETTINGS frame is
    /// acknowledged.
    ///
    /// The table gets that size or the one of the configuration, whichever is less. The next block says so at
    /// its start: the smallest size since the last block, if it was below the one the peer knows, and then
    /// the last (RFC 7541 §4.2).
    pub fn set_peer_table_limit(&mut self, bytes: u32) {
        let size_max = match self.config.policy {
            // A table that is never used has no use for more room.
            Policy::Static => bytes.min(self.table.size_max()),
            _ => bytes.min(self.config.table_bytes_max),
        };
        if size_max != self.table.size_max() {
            self.table.set_size_max(size_max);
            self.smallest = self.smallest.min(size_max);
            self.plans.forget();
        }
    }

    /// Begins a block at the end of `out`: field by field, for callers that have no list.
    #[inline]
    pub fn block<'e>(&'e mut self, out: &'e mut OutBuf) -> Block<'e> {
        self.write_size_updates(out);
        Block { encoder: self, out }
    }

    /// Appends a block of these fields to `out`.
    #[inline]
    pub fn encode<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>, out: &mut OutBuf) {
        self.write_size_updates(out);
        let mut fields = fields.into_iter();
        loop {
            // Fields found at once take a byte each, written to room that is asked for once.
            let spare = &mut out.spare(QUICK_BYTES)[..QUICK_BYTES];
            let mut at = 0;
            let next = fields.by_ref().find(|field| {
                let byte = self.quick(field);
                if byte == 0 || at >= QUICK_BYTES {
                    return true;
                }
                spare[at] = byte;
                at += 1;
                false
            });
            out.commit(at);
            let Some(field) = next else { return };
            self.field(&field, out);
        }
    }

    /// Frees the memory that the present entries do not need, for idle connections.
    pub fn trim(&mut self) {
        self.table.trim();
        self.lookup.follow(&self.table, self.table.next_id());
        self.plans.trim();
    }

    /// Returns a count of changes to the meaning of indexes: while it stays, a block of indexes means the
    /// same.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.table.changes()
    }

    /// Returns a decoder for the blocks that are encoded from here on: it has the table that the peer has
    /// now. Strings of any length and tables of any size are taken. Allocates for a copy of the table.
    ///
    /// ```
    /// use alula::machine::OutBuf;
    /// use alula::hpack::{Decoded, Encoder, EncoderConfig, Field, Policy};
    ///
    /// let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
    /// let mut out = OutBuf::new();
    /// encoder.encode([Field::new(b"x-tag", b"a")], &mut out);
    /// let mut decoder = encoder.decoder();
    /// out.clear();
    /// encoder.encode([Field::new(b"x-tag", b"a")], &mut out);
    /// let mut names = Vec::new();
    /// decoder.decode(out.unsent(), true, &mut |field: Decoded<'_>| names.push(field.name.to_vec()))?;
    /// assert_eq!(names, [b"x-tag"]);
    /// # Ok::<(), alula::hpack::DecodeError>(())
    /// ```
    pub fn decoder(&self) -> Decoder {
        Decoder::of_trusted(self.table.clone())
    }

    /// Returns the dynamic table, for tests and debugging.
    pub fn table(&self) -> TableView<'_> {
        TableView::new(&self.table)
    }

    /// Returns the bytes of memory outside the struct itself.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.lookup.memory_bytes() + self.plans.memory_bytes()
    }

    /// Checks the bookkeeping, for tests; its cost grows with the table.
    ///
    /// # Panics
    ///
    /// If something is inconsistent, with what it is.
    pub fn check_invariants(&self) {
        self.table.check_invariants();
        for id in self.table.oldest_id()..self.table.next_id() {
            let entry = self.table.entry(id);
            let found = match entry.known {
                Some(known) => {
                    assert!(self.lookup.latest(&self.table, known).is_some_and(|latest| latest >= id));
                    let hashes = Hashes::of_known(known, entry.value);
                    self.lookup.pair_of_known(&self.table, hashes, known, entry.value)
                }
                None => match self.find(entry.name, entry.value, Hashes::of(entry.name, entry.value)) {
                    Found::Pair(id) => Some(id),
                    _ => None,
                },
            };
            assert!(found.is_some_and(|found| found >= id), "entry {id} is not found");
        }
    }

    /// Writes the field in one byte, as for most fields in a table.
    #[inline(always)]
    fn quick(&self, field: &Field<'_>) -> u8 {
        if field.indexing as u8 >= self.quick_below {
            return 0;
        }
        // A pair of the static table never becomes an entry, so the order of these two does not matter.
        if let Some(places) = self.lookup.quick(&self.table, field.known, field.value) {
            return (FIRST_ENTRY + places) as u8;
        }
        match field.known.and_then(|name| static_table::quick(name, field.value)) {
            Some(index) => INDEXED | index,
            None => 0,
        }
    }

    /// Appends one field.
    pub(crate) fn quick_or_field(&mut self, field: &Field<'_>, out: &mut OutBuf) {
        match self.quick(field) {
            0 => {
                self.field(field, out);
            }
            byte => out.push(byte),
        }
    }

    /// Appends one field, and returns its form.
    pub(crate) fn field(&mut self, field: &Field<'_>, out: &mut OutBuf) -> Written {
        debug_assert!(field.known.is_none_or(|name| name.as_str().as_bytes() == field.name));
        match field.known.or_else(|| KnownName::lookup(field.name)) {
            Some(name) => self.known(name, field.value, field.indexing, out),
            None => self.other(field.name, field.value, field.indexing, out),
        }
    }

    /// Appends a field with a known name.
    fn known(&mut self, name: KnownName, value: &[u8], indexing: Indexing, out: &mut OutBuf) -> Written {
        let treatment = self.treatment_of_known(name, value, indexing);
        if matches!(treatment, Treatment::Without | Treatment::Never) {
            return self.literal_known(name, value, treatment, out);
        }
        let place = NameRows::of(name);
        if let Some(index) = place.index_of(value) {
            out.push(INDEXED | index);
            return Written::Static(index);
        }
        let latest = self.lookup.latest(&self.table, name);
        if let Some(id) = latest
            && self.table.is_known(id, name, value)
        {
            return self.index(id, out);
        }
        self.known_not_latest(name, value, treatment, latest, out)
    }

    /// Writes a field with a known name whose value is neither in the static table nor in the newest entry
    /// with the name.
    fn known_not_latest(
        &mut self,
        name: KnownName,
        value: &[u8],
        treatment: Treatment,
        latest: Option<u64>,
        out: &mut OutBuf,
    ) -> Written {
        let hashes = Hashes::of_known(name, value);
        if latest.is_some_and(|id| self.lookup.has_older(&self.table, id))
            && let Some(id) = self.lookup.pair_of_known(&self.table, hashes, name, value)
        {
            return self.index(id, out);
        }
        let name_bytes = name.as_str().as_bytes();
        let index = match NameRows::of(name).first {
            0 => latest.map_or(0, |id| self.index_of(id)),
            first => u32::from(first),
        };
        if !self.enters(name_bytes, value, treatment, hashes, index) {
            self.literal(WITHOUT, index, name_bytes, value, out);
            return Written::Literal;
        }
        self.literal(INCREMENTAL, index, name_bytes, value, out);
        self.enter(name_bytes, Some(name), value, hashes)
    }

    /// Appends a field with an unknown name.
    fn other(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut OutBuf) -> Written {
        let treatment = self.treatment(indexing);
        if let Treatment::Without | Treatment::Never = treatment {
            let index = self.name(name).map_or(0, |id| self.index_of(id));
            self.literal(treatment.pattern(), index, name, value, out);
            return Written::Literal;
        }
        let hashes = Hashes::of(name, value);
        let index = match self.find(name, value, hashes) {
            Found::Pair(id) => return self.index(id, out),
            Found::Name(id) => self.index_of(id),
            Found::Nothing => 0,
        };
        if !self.enters(name, value, treatment, hashes, index) {
            self.literal(WITHOUT, index, name, value, out);
            return Written::Literal;
        }
        self.literal(INCREMENTAL, index, name, value, out);
        self.enter(name, None, value, hashes)
    }

    fn literal_known(
        &mut self,
        name: KnownName,
        value: &[u8],
        treatment: Treatment,
        out: &mut OutBuf,
    ) -> Written {
        let index = match NameRows::of(name).first {
            0 => self.lookup.latest(&self.table, name).map_or(0, |id| self.index_of(id)),
            first => u32::from(first),
        };
        self.literal(treatment.pattern(), index, name.as_str().as_bytes(), value, out);
        Written::Literal
    }

    /// Adds the literal with incremental indexing that was just written to the table.
    fn enter(&mut self, name: &[u8], known: Option<KnownName>, value: &[u8], hashes: Hashes) -> Written {
        self.table.insert(name, known, value, Class::default());
        self.lookup.add(&self.table, known, hashes);
        Written::Entry(self.table.next_id() - 1)
    }

    /// Appends an indexed field (RFC 7541 §6.1).
    #[inline]
    fn index(&self, id: u64, out: &mut OutBuf) -> Written {
        let index = self.index_of(id);
        if index < 0x7f {
            out.push(INDEXED | index as u8);
        } else {
            let len = integer::encode(index, 7, INDEXED, out.spare(integer::LEN_MAX));
            out.commit(len);
        }
        Written::Entry(id)
    }

    /// Appends a literal (RFC 7541 §6.2), with the name itself if its index is zero.
    fn literal(&self, pattern: u8, index: u32, name: &[u8], value: &[u8], out: &mut OutBuf) {
        let huffman = self.config.huffman;
        let strings =
            string::encoded_len_max(name.len(), huffman) + string::encoded_len_max(value.len(), huffman);
        let spare = out.spare(integer::LEN_MAX + strings);
        let prefix = if pattern == INCREMENTAL { 6 } else { 4 };
        let mut at = integer::encode(index, prefix, pattern, spare);
        if index == 0 {
            at += string::encode(name, huffman, &mut spare[at..]);
        }
        at += string::encode(value, huffman, &mut spare[at..]);
        out.commit(at);
    }

    /// Returns true if a field should become an entry; it is in no table, and its name has this index or
    /// none.
    fn enters(
        &mut self,
        name: &[u8],
        value: &[u8],
        treatment: Treatment,
        hashes: Hashes,
        index: u32,
    ) -> bool {
        if name.len() + value.len() + ENTRY_OVERHEAD > self.table.size_max() as usize {
            return false;
        }
        match treatment {
            Treatment::Enter => true,
            // A name that comes again and is in no table costs more than most values.
            Treatment::Repeat => self.seen.again(hashes.pair) || (index == 0 && self.seen.again(hashes.name)),
            _ => false,
        }
    }

    #[inline]
    fn treatment(&self, indexing: Indexing) -> Treatment {
        match indexing {
            Indexing::Auto => self.auto,
            Indexing::Index if self.auto == Treatment::Refer => Treatment::Refer,
            Indexing::Index => Treatment::Enter,
            Indexing::Without => Treatment::Without,
            Indexing::Never => Treatment::Never,
        }
    }

    #[inline]
    fn treatment_of_known(&self, name: KnownName, value: &[u8], indexing: Indexing) -> Treatment {
        if indexing == Indexing::Auto && is_secret(name, value) {
            return Treatment::Never;
        }
        self.treatment(indexing)
    }

    /// Returns true if a prepared field becomes an entry at once, since it will come again.
    pub(crate) fn enters_prepared(&self, field: &Field<'_>) -> bool {
        let open = matches!(self.auto, Treatment::Enter | Treatment::Repeat);
        open && field.indexing == Indexing::Auto
            && !field.known.is_some_and(|name| is_secret(name, field.value))
    }

    /// Returns true if this encoder would write the literal of a prepared field exactly as it was encoded: in
    /// the shorter form, and never indexed only if the field asks for that.
    pub(crate) fn writes_as_prepared(&self, field: &Field<'_>) -> bool {
        let is_never = self.treatment(field.indexing) == Treatment::Never;
        self.config.huffman == Huffman::Shorter && is_never == (field.indexing == Indexing::Never)
    }

    fn find(&self, name: &[u8], value: &[u8], hashes: Hashes) -> Found {
        match self.table.len() {
            0 => Found::Nothing,
            _ => self.lookup.find(&self.table, hashes, name, value),
        }
    }

    fn name(&self, name: &[u8]) -> Option<u64> {
        if self.table.len() == 0 { None } else { self.lookup.name(&self.table, name) }
    }

    #[inline]
    fn index_of(&self, id: u64) -> u32 {
        static_table::LAST + (self.table.next_id() - id) as u32
    }

    #[inline]
    pub(crate) fn write_size_updates(&mut self, out: &mut OutBuf) {
        if self.smallest != u32::MAX || self.signalled != self.table.size_max() {
            self.write_size_updates_now(out);
        }
    }

    #[cold]
    fn write_size_updates_now(&mut self, out: &mut OutBuf) {
        let last = self.table.size_max();
        for size in [self.smallest, last] {
            // The smallest is news only if it is below what the peer knows.
            if size < self.signalled || (size == last && size != self.signalled) {
                let len = integer::encode(size, 5, SIZE_UPDATE, out.spare(integer::LEN_MAX));
                out.commit(len);
                self.signalled = size;
            }
        }
        self.smallest = u32::MAX;
    }

    fn size_max_initial(config: &EncoderConfig) -> u32 {
        match config.policy {
            Policy::Static => TABLE_BYTES_INITIAL,
            _ => config.table_bytes_max.min(TABLE_BYTES_INITIAL),
        }
    }
}

/// Returns the bound below which an [`Indexing`] allows an index.
const fn quick_below(policy: Policy) -> u8 {
    if matches!(policy, Policy::Never) { 0 } else { Indexing::Without as u8 }
}

/// The room for the indexes of a usual block.
const QUICK_BYTES: usize = 64;

/// The initial slots of the table. Mostly a field is added only when it is seen again: the connection is used
/// for longer then.
const SLOTS_MIN: u16 = 16;

/// The index of the newest entry, as a byte.
const FIRST_ENTRY: u32 = INDEXED as u32 + static_table::LAST + 1;

const INDEXED: u8 = 0x80;
const INCREMENTAL: u8 = 0x40;
const SIZE_UPDATE: u8 = 0x20;
