//! The dynamic table (RFC 7541 §2.3.2, §4), the same for encoder and decoder.
//!
//! Bytes lie in a ring that is at least twice as long as all that is live in it, so that every string is one
//! slice: an entry that does not fit before the end of the ring starts at its beginning, and what is oldest
//! there is dead by then. Known names are not stored, only their ids. Entries have ids that count up and are
//! never used again; the index of an entry is `next id - id` after the static table (RFC 7541 §2.3.3), so
//! that nothing moves when one comes or goes.
//!
//! Rule 1: entries die from the oldest on, and only here.
//! Rule 2: both rings grow by use up to what the maximum size asks for, and shrink in `trim`; nothing else
//! allocates.

use core::fmt;

use alloc::vec;
use alloc::vec::Vec;

use alula_fields::KnownName;

use crate::encode::class::Class;
use crate::table::static_table;

/// The size of an entry beside its bytes (RFC 7541 §4.1).
pub(crate) const ENTRY_OVERHEAD: usize = 32;

/// The dynamic table of one direction.
#[derive(Clone)]
pub(crate) struct Table {
    ring: Vec<u8>,
    /// The slots: a power of two, or none; an entry is at its id modulo their number.
    slots: Vec<Slot>,
    /// The id of the next entry.
    next: u64,
    len: u32,
    near: u32,
    /// The position in the ring at which the next entry goes if there is room.
    end: u32,
    /// Bytes of live entries in the ring.
    stored: u32,
    size: u32,
    size_max: u32,
    changes: u64,
    /// The number of slots at first.
    slots_min: u16,
    /// The buffer for a name while the entry that it comes from may be evicted.
    name: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The position of the value, behind an unknown name.
    value_at: u32,
    name_len: u32,
    value_len: u32,
    known: Option<KnownName>,
    class: Class,
}

/// An entry, by reference.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) known: Option<KnownName>,
    pub(crate) value: &'a [u8],
    pub(crate) class: Class,
}

/// The entries with an index of one byte, for many lookups while none comes or goes.
#[derive(Clone, Copy)]
pub(crate) struct Near<'a> {
    ring: &'a [u8],
    /// Never empty.
    slots: &'a [Slot],
    newest: usize,
    count: u8,
}

impl<'a> Near<'a> {
    /// Returns the entry at this distance from the newest, if it exists.
    #[inline(always)]
    pub(crate) fn behind(self, places: u8) -> Option<Stored<'a>> {
        if places >= self.count {
            return None;
        }
        let id = self.newest.wrapping_sub(usize::from(places));
        Some(stored(self.ring, &self.slots[id & (self.slots.len() - 1)]))
    }
}

/// An entry as it is stored: the text of a known name is elsewhere, and looked up only if it is needed.
#[derive(Clone, Copy)]
pub(crate) enum Stored<'a> {
    Known(KnownName, &'a [u8], Class),
    Other(&'a [u8], &'a [u8], Class),
}

/// Returns a slot, as it is stored.
#[inline(always)]
fn stored<'a>(ring: &'a [u8], slot: &Slot) -> Stored<'a> {
    let value_at = slot.value_at as usize;
    let value = &ring[value_at..value_at + slot.value_len as usize];
    match slot.known {
        Some(name) => Stored::Known(name, value, slot.class),
        None => Stored::Other(&ring[value_at - slot.name_len as usize..value_at], value, slot.class),
    }
}

/// Returns the entry in a slot.
#[inline(always)]
fn entry<'a>(ring: &'a [u8], slot: &Slot) -> Entry<'a> {
    match stored(ring, slot) {
        Stored::Known(name, value, class) => {
            Entry { name: name.as_str().as_bytes(), known: Some(name), value, class }
        }
        Stored::Other(name, value, class) => Entry { name, known: None, value, class },
    }
}

impl Table {
    /// Creates an empty table; nothing is allocated before the first entry, then `slots_min` slots, a power
    /// of two.
    pub(crate) const fn new(size_max: u32, slots_min: u16) -> Self {
        Self {
            ring: Vec::new(),
            slots: Vec::new(),
            next: 1,
            len: 0,
            near: 0,
            end: 0,
            stored: 0,
            size: 0,
            size_max,
            changes: 0,
            slots_min,
            name: Vec::new(),
        }
    }

    /// Empties the table and sets its maximum size; ids count on, memory is kept.
    pub(crate) fn reset(&mut self, size_max: u32) {
        self.clear();
        self.size_max = size_max;
        self.changes += 1;
    }

    /// Changes the maximum size, and evicts entries beyond it (RFC 7541 §4.3).
    pub(crate) fn set_size_max(&mut self, size_max: u32) {
        if size_max != self.size_max {
            self.size_max = size_max;
            self.changes += 1;
            self.evict_for(0);
        }
    }

    /// Adds an entry and evicts others for it; an entry larger than the table empties it and is not added,
    /// which is not an error (RFC 7541 §4.4). Says whether it was added.
    pub(crate) fn insert(
        &mut self,
        name: &[u8],
        known: Option<KnownName>,
        value: &[u8],
        class: Class,
    ) -> bool {
        self.changes += 1;
        let size = name.len() + value.len() + ENTRY_OVERHEAD;
        if size > self.size_max as usize {
            self.clear();
            return false;
        }
        self.evict_for(size as u32);
        let stored_name = if known.is_some() { &[] } else { name };
        let at = self.place(stored_name.len() + value.len());
        let (head, tail) = self.ring[at..].split_at_mut(stored_name.len());
        head.copy_from_slice(stored_name);
        tail[..value.len()].copy_from_slice(value);
        let slot = Slot {
            value_at: (at + stored_name.len()) as u32,
            name_len: stored_name.len() as u32,
            value_len: value.len() as u32,
            known,
            class,
        };
        self.put(slot);
        self.size += size as u32;
        true
    }

    /// Adds an entry with the name of another, which may be evicted for it (RFC 7541 §4.4).
    pub(crate) fn insert_named_by(&mut self, id: u64, value: &[u8], class: Class) -> bool {
        if let Some(known) = self.slot(id).known {
            return self.insert(known.as_str().as_bytes(), Some(known), value, class);
        }
        let mut name = core::mem::take(&mut self.name);
        name.clear();
        name.extend_from_slice(self.entry(id).name);
        let added = self.insert(&name, None, value, class);
        self.name = name;
        added
    }

    /// Frees the memory that live entries do not need.
    pub(crate) fn trim(&mut self) {
        self.name = Vec::new();
        let (ring, slots) = match self.len {
            0 => (0, 0),
            len => ((self.stored as usize * 2).max(RING_KEPT_MIN), (len as usize).next_power_of_two()),
        };
        if ring < self.ring.len() {
            self.relocate(ring);
        }
        if slots < self.slots.len() {
            self.replace(slots);
        }
    }

    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the number of entries that have an index of one byte.
    #[inline]
    pub(crate) fn near(&self) -> u32 {
        self.near
    }

    /// Returns the sum of the sizes of all entries (RFC 7541 §4.1).
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns the maximum of that sum.
    #[inline]
    pub(crate) fn size_max(&self) -> u32 {
        self.size_max
    }

    /// Returns the id of the next entry; present entries have lower ids.
    #[inline]
    pub(crate) fn next_id(&self) -> u64 {
        self.next
    }

    /// Returns the id of the oldest entry, or of the next one if there is none.
    #[inline]
    pub(crate) fn oldest_id(&self) -> u64 {
        self.next - u64::from(self.len)
    }

    /// Returns a count of added entries and changes of size: a search result holds while it stays the same.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of entries that fit into the present slots.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the length of the ring; entries keep their places while it does not change.
    #[inline]
    pub(crate) fn ring_len(&self) -> usize {
        self.ring.len()
    }

    /// Returns the bytes of the ring, live or not.
    #[inline]
    pub(crate) fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        self.ring.get(at..at + len)
    }

    /// Returns the value of an entry with a known name, and its position in the ring.
    pub(crate) fn value_of_known(&self, id: u64) -> (usize, &[u8]) {
        (self.slot(id).value_at as usize, self.entry(id).value)
    }

    /// Returns the bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ring.capacity() + self.name.capacity() + self.slots.capacity() * size_of::<Slot>()
    }

    /// Returns the id of the entry at this distance from the newest, if it exists.
    #[inline]
    pub(crate) fn id_behind(&self, places: u32) -> Option<u64> {
        if places < self.len { Some(self.next - 1 - u64::from(places)) } else { None }
    }

    /// Returns the entries that have an index of one byte.
    #[inline(always)]
    pub(crate) fn nearest(&self) -> Near<'_> {
        const NONE: &[Slot] =
            &[Slot { value_at: 0, name_len: 0, value_len: 0, known: None, class: Class::NONE }];
        Near {
            ring: &self.ring,
            slots: if self.slots.is_empty() { NONE } else { &self.slots },
            newest: (self.next as usize).wrapping_sub(1),
            count: self.near as u8,
        }
    }

    /// Returns the entry with this id, which exists.
    #[inline]
    pub(crate) fn entry(&self, id: u64) -> Entry<'_> {
        entry(&self.ring, self.slot(id))
    }

    /// Returns true if the entry with this id, which exists, has this known name.
    #[inline]
    pub(crate) fn has_name(&self, id: u64, name: KnownName) -> bool {
        self.slot(id).known == Some(name)
    }

    /// Returns true if the entry with this id, which exists, has this known name and value.
    #[inline]
    pub(crate) fn is_known(&self, id: u64, name: KnownName, value: &[u8]) -> bool {
        let slot = self.slot(id);
        slot.value_len as usize == value.len()
            && slot.known == Some(name)
            && &self.ring[slot.value_at as usize..][..slot.value_len as usize] == value
    }

    /// Panics with a message if the bookkeeping is inconsistent.
    pub(crate) fn check_invariants(&self) {
        let (mut size, mut stored) = (0, 0);
        let mut spans = Vec::new();
        for id in self.oldest_id()..self.next {
            let (slot, entry) = (self.slot(id), self.entry(id));
            size += entry.name.len() + entry.value.len() + ENTRY_OVERHEAD;
            stored += slot.name_len + slot.value_len;
            spans.push((slot.value_at - slot.name_len, slot.value_at + slot.value_len));
        }
        assert!(size == self.size as usize, "size {} is not the sum of the entries, {size}", self.size);
        assert!(stored == self.stored, "{} bytes stored, not {stored}", self.stored);
        assert!(self.size <= self.size_max, "size {} above {}", self.size, self.size_max);
        assert!(self.ring.len() >= 2 * stored as usize, "a ring of {} for {stored}", self.ring.len());
        assert!(self.len as usize <= self.slots.len(), "{} entries in {} slots", self.len, self.slots.len());
        spans.retain(|(start, end)| start < end);
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "entries overlap: {spans:?}");
    }

    #[inline]
    fn slot(&self, id: u64) -> &Slot {
        &self.slots[id as usize & self.slots.len().wrapping_sub(1)]
    }

    fn clear(&mut self) {
        (self.len, self.near, self.end, self.stored, self.size) = (0, 0, 0, 0, 0);
    }

    /// Evicts until `more` fits.
    #[inline]
    fn evict_for(&mut self, more: u32) {
        while self.size > self.size_max - more {
            let slot = self.slot(self.oldest_id());
            let stored = slot.name_len + slot.value_len;
            let name_len = slot.known.map_or(slot.name_len, |known| known.as_str().len() as u32);
            self.size -= name_len + slot.value_len + ENTRY_OVERHEAD as u32;
            self.stored -= stored;
            self.len -= 1;
            self.near = self.len.min(NEAR_MAX);
        }
    }

    /// Finds room for the bytes of an entry and takes it.
    #[inline]
    fn place(&mut self, bytes: usize) -> usize {
        let stored = self.stored as usize + bytes;
        if stored * 2 > self.ring.len() {
            self.grow_ring(stored * 2);
        }
        let end = self.end as usize;
        let at = if end + bytes <= self.ring.len() { end } else { 0 };
        self.end = (at + bytes) as u32;
        self.stored = stored as u32;
        at
    }

    #[inline]
    fn put(&mut self, slot: Slot) {
        if self.len as usize == self.slots.len() {
            self.replace((self.slots.len() * 2).max(self.slots_min.into()));
        }
        let place = self.next as usize & self.slots.len().wrapping_sub(1);
        self.slots[place] = slot;
        self.next += 1;
        self.len += 1;
        self.near = self.len.min(NEAR_MAX);
    }

    #[cold]
    fn grow_ring(&mut self, needed: usize) {
        self.relocate(
            needed.max(self.ring.len() * 2).max(RING_MIN).min((self.size_max as usize * 2).max(needed)),
        );
    }

    /// Moves live bytes to a new ring of this length, oldest first.
    fn relocate(&mut self, len: usize) {
        let old = core::mem::take(&mut self.ring);
        // Allocated and then zeroed: an allocator that is asked for zeros mostly takes its slow way.
        self.ring.resize(len, 0);
        let mut end = 0;
        for id in self.oldest_id()..self.next {
            let place = id as usize & (self.slots.len() - 1);
            let slot = &mut self.slots[place];
            let bytes = (slot.name_len + slot.value_len) as usize;
            let start = (slot.value_at - slot.name_len) as usize;
            self.ring[end..end + bytes].copy_from_slice(&old[start..start + bytes]);
            slot.value_at = end as u32 + slot.name_len;
            end += bytes;
        }
        self.end = end as u32;
    }

    /// Moves entries to that many new slots.
    #[cold]
    fn replace(&mut self, count: usize) {
        let mut slots = vec![Slot::default(); count];
        for id in self.oldest_id()..self.next {
            slots[id as usize & (count - 1)] = *self.slot(id);
        }
        self.slots = slots;
    }
}

/// The highest index but one that takes a single byte (RFC 7541 §5.1, §6.1).
const NEAR_MAX: u32 = 126 - static_table::LAST;
/// The initial bytes of a ring: the fields of a usual request fit twice.
const RING_MIN: usize = 256;
/// The least bytes of a trimmed ring.
const RING_KEPT_MIN: usize = 64;

/// Shows the size.
impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("size", &self.size()).field("size_max", &self.size_max()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn behaves_as_a_queue_of_pairs() {
        let mut random = 1u64;
        for size_max in [0u32, 40, 100, 256, 4096, 65536] {
            let mut table = Table::new(size_max, 8);
            let mut model: VecDeque<(Vec<u8>, Vec<u8>)> = VecDeque::new();
            for round in 0..3000u32 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let dice = (random >> 33) as usize;
                let value = vec![round as u8; dice % 97];
                let (name, known): (&[u8], _) = match dice % 3 {
                    0 => (b"x-unknown", None),
                    1 => (b"", None),
                    _ => (b"cookie", Some(KnownName::COOKIE)),
                };
                if dice.is_multiple_of(5) && table.len() > 0 {
                    let places = dice as u32 / 5 % table.len();
                    let id = table.id_behind(places).unwrap();
                    let name = table.entry(id).name.to_vec();
                    table.insert_named_by(id, &value, Class::default());
                    model.push_front((name, value));
                } else {
                    table.insert(name, known, &value, Class::default());
                    model.push_front((name.to_vec(), value));
                }
                if dice.is_multiple_of(61) {
                    table.trim();
                }
                if dice.is_multiple_of(47) {
                    table.set_size_max(size_max / 2);
                    shorten(&mut model, size_max / 2);
                    table.set_size_max(size_max);
                }
                shorten(&mut model, size_max);
                table.check_invariants();
                assert_eq!(table.len() as usize, model.len());
                for (places, pair) in model.iter().enumerate() {
                    let entry = table.entry(table.id_behind(places as u32).unwrap());
                    assert_eq!((entry.name, entry.value), (&pair.0[..], &pair.1[..]));
                }
            }
        }
    }

    fn shorten(model: &mut VecDeque<(Vec<u8>, Vec<u8>)>, size_max: u32) {
        while model.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>()
            > size_max as usize
        {
            model.pop_back();
        }
    }

    #[test]
    fn a_slot_is_small() {
        assert_eq!(size_of::<Slot>(), 16);
    }
}
