//! From stream identifiers to slots: open addressing in one array, at least twice as long as there are streams.
//!
//! Identifiers of a connection go up by two, so `id / 2` modulo the length gives neighbours neighbouring places, and a
//! stream that lives long costs those that meet it one step. There are no tombstones: removing moves followers up.

use alloc::vec;
use alloc::vec::Vec;

#[derive(Clone, Copy)]
struct Entry {
    /// Zero is free: stream 0 is the connection.
    id: u32,
    slot: u32,
}

const FREE: Entry = Entry { id: 0, slot: 0 };

#[derive(Clone)]
pub(crate) struct IdTable {
    entries: Vec<Entry>,
    len: usize,
}

impl IdTable {
    /// A table for so many streams; one allocation.
    pub(crate) fn with_room_for(streams: usize) -> Self {
        Self { entries: vec![FREE; (streams * 2).next_power_of_two().max(16)], len: 0 }
    }

    /// Makes room for so many streams in all; nothing happens if there is.
    pub(crate) fn reserve(&mut self, streams: usize) {
        if streams * 2 <= self.entries.len() {
            return;
        }
        let old = core::mem::replace(self, Self::with_room_for(streams * 2));
        for entry in old.entries.iter().filter(|entry| entry.id != 0) {
            self.insert(entry.id, entry.slot);
        }
    }

    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<u32> {
        let mut at = self.home(id);
        loop {
            let entry = self.entries[at];
            if entry.id == id && id != 0 {
                return Some(entry.slot);
            }
            if entry.id == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    /// Enters an identifier that is not there; the caller has made room.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32, slot: u32) {
        debug_assert!(id != 0 && self.find(id).is_none() && self.len * 2 < self.entries.len());
        let mut at = self.home(id);
        while self.entries[at].id != 0 {
            at = self.after(at);
        }
        self.entries[at] = Entry { id, slot };
        self.len += 1;
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: u32) {
        let mut hole = self.home(id);
        while self.entries[hole].id != id {
            if self.entries[hole].id == 0 {
                return;
            }
            hole = self.after(hole);
        }
        self.len -= 1;
        let mut at = self.after(hole);
        while self.entries[at].id != 0 {
            // An entry may move up to the hole if its home is not between the two.
            let mask = self.mask();
            let from_home = at.wrapping_sub(self.home(self.entries[at].id)) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
            at = self.after(at);
        }
        self.entries[hole] = FREE;
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    #[inline]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & self.mask()
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map_whatever_the_order() {
        let mut table = IdTable::with_room_for(8);
        let mut map = BTreeMap::new();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for step in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let id = (random % 97) as u32 * 2 + 1;
            match map.remove(&id) {
                Some(_) => table.remove(id),
                None => {
                    map.insert(id, step);
                    table.reserve(map.len());
                    table.insert(id, step);
                }
            }
            table.remove(1_000_001);
            assert_eq!(table.len, map.len());
            for id in (0..200).map(|half| half * 2 + 1) {
                assert_eq!(table.find(id), map.get(&id).copied(), "step {step}, id {id}");
            }
        }
    }

    #[test]
    fn stream_0_is_never_found() {
        assert_eq!(IdTable::with_room_for(1).find(0), None);
    }
}
