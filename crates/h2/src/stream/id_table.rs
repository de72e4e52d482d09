//! A map from stream identifiers to slots: chains through the slots, at least as many chains as streams.
//!
//! Identifiers of a connection go up by two, so `id / 2` modulo the number of chains gives those that are
//! open at the same time chains of their own; a stream that lives long shares its chain with one other now
//! and then. Taking a slot out of its chain never touches another chain. The first few slots need no chains:
//! the identifiers of all of them are looked at.

use alloc::vec;
use alloc::vec::Vec;

/// The end of a chain, which is no slot.
const NOBODY: u32 = u32::MAX;

/// The link of a slot in its chain.
#[derive(Clone, Copy)]
struct Link {
    id: u32,
    after: u32,
}

const UNLINKED: Link = Link { id: 0, after: NOBODY };

#[derive(Clone)]
pub(crate) struct IdTable {
    /// The identifiers of the first slots, while there are no others.
    few: [u32; FEW],
    /// The first slot of each chain; a power of two, or none.
    firsts: Vec<u32>,
    /// The links, by slot.
    links: Vec<Link>,
}

impl IdTable {
    pub(crate) fn memory_bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<u32>() + self.links.capacity() * size_of::<Link>()
    }

    /// Creates a table without slots; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self { few: [NOTHING; FEW], firsts: Vec::new(), links: Vec::new() }
    }

    /// Makes room for so many slots in all, if necessary.
    pub(crate) fn reserve(&mut self, slots: usize) {
        if slots <= self.links.len().max(FEW) {
            return;
        }
        self.links.resize(slots, UNLINKED);
        if slots > self.firsts.len() {
            self.spread((slots.next_power_of_two() * 2).max(CHAINS_MIN));
        }
    }

    /// Distributes the slots to so many chains.
    fn spread(&mut self, chains: usize) {
        let old = core::mem::replace(&mut self.firsts, vec![NOBODY; chains]);
        for (slot, id) in (0..).zip(core::mem::replace(&mut self.few, [NOTHING; FEW])) {
            if id != NOTHING {
                self.insert(id, slot);
            }
        }
        for mut slot in old {
            while let Some(&link) = self.links.get(slot as usize) {
                self.insert(link.id, slot);
                slot = link.after;
            }
        }
    }

    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<u32> {
        if self.firsts.is_empty() {
            return self.few.iter().position(|few| *few == id).map(|slot| slot as u32);
        }
        let mut slot = self.firsts[self.chain(id)];
        while let Some(link) = self.links.get(slot as usize) {
            if link.id == id {
                return Some(slot);
            }
            slot = link.after;
        }
        None
    }

    /// Adds an identifier for a slot without one; the caller has made room.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32, slot: u32) {
        if self.firsts.is_empty() {
            self.few[slot as usize] = id;
            return;
        }
        let chain = self.chain(id);
        let after = core::mem::replace(&mut self.firsts[chain], slot);
        self.links[slot as usize] = Link { id, after };
    }

    /// Removes the identifier of a slot; does nothing if it was removed before.
    #[inline]
    pub(crate) fn remove(&mut self, id: u32, slot: u32) {
        if self.firsts.is_empty() {
            let few = &mut self.few[slot as usize];
            if *few == id {
                *few = NOTHING;
            }
            return;
        }
        let chain = self.chain(id);
        let (mut before, mut at) = (NOBODY, self.firsts[chain]);
        while at != slot {
            let Some(link) = self.links.get(at as usize) else { return };
            (before, at) = (at, link.after);
        }
        let after = self.links[slot as usize].after;
        match self.links.get_mut(before as usize) {
            Some(link) => link.after = after,
            None => self.firsts[chain] = after,
        }
    }

    #[inline]
    fn chain(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.firsts.len() - 1)
    }
}

/// The number of slots that are found without chains.
const FEW: usize = 4;

/// The identifier that no stream has (RFC 9113 §5.1.1).
const NOTHING: u32 = u32::MAX;

/// The least number of chains: enough for a connection with some streams.
const CHAINS_MIN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map_whatever_the_order() {
        let (mut table, mut map) = (IdTable::new(), BTreeMap::new());
        let mut free: Vec<u32> = (0..97).rev().collect();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for step in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let id = (random % 97) as u32 * 2 + 1;
            match map.remove(&id) {
                Some(slot) => {
                    table.remove(id, slot);
                    table.remove(id, slot);
                    free.push(slot);
                }
                None => {
                    let slot = free.pop().unwrap();
                    map.insert(id, slot);
                    table.reserve(slot as usize + 1);
                    table.insert(id, slot);
                }
            }
            for id in (0..200).map(|half| half * 2 + 1) {
                assert_eq!(table.find(id), map.get(&id).copied(), "step {step}, id {id}");
            }
        }
    }

    #[test]
    fn identifiers_far_apart_share_a_chain_and_are_told_apart() {
        let mut table = IdTable::new();
        table.reserve(FEW + 1);
        let ids = [1, 1 + 2 * CHAINS_MIN as u32, 1 + 4 * CHAINS_MIN as u32];
        ids.iter().zip(0..).for_each(|(id, slot)| table.insert(*id, slot));
        table.remove(ids[1], 1);
        assert_eq!(ids.map(|id| table.find(id)), [Some(0), None, Some(2)]);
        table.remove(ids[2], 2);
        assert_eq!(ids.map(|id| table.find(id)), [Some(0), None, None]);
    }

    #[test]
    fn stream_0_is_never_found() {
        let mut table = IdTable::new();
        assert_eq!(table.find(0), None);
        table.reserve(1);
        assert_eq!(table.find(0), None);
    }
}
