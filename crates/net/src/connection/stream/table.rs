//! The table of a connection's streams: one slot for each, found by its key or by the machine's name for the
//! stream.
//!
//! Rule 1: a slot belongs to the handles of one stream at a time; its generation moves on when the last of
//! them is gone.
//! Rule 2: a free slot names the one that was freed before it, so that the slot used last is used next.

use std::ops::{Index, IndexMut};

use alula_machine::{StreamKey, Time};

use crate::{
    connection::stream::slot::{Sides, Slot, SlotKey},
    drive::reader::{Side, Wait, Waits},
    message::content::Content,
};

/// The most slots that are passed on to another connection.
pub(crate) const PASSED_ON_MAX: usize = 32;

/// The number that stands for no slot.
const NO_SLOT: u32 = u32::MAX;

pub(crate) struct Slots {
    all: Vec<Slot>,
    /// The generation of new slots, which no earlier slot has had.
    first_generation: u32,
    /// The slot that was freed last.
    free: u32,
    free_count: u32,
    /// The slot of the machine's stream in slot 0, which is the only stream on most connections.
    of_first_stream: u32,
    /// The slots of the machine's other streams, by the stream's own slot less 1.
    by_stream: Vec<u32>,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            first_generation: 0,
            free: NO_SLOT,
            free_count: 0,
            of_first_stream: NO_SLOT,
            by_stream: Vec::new(),
        }
    }
}

impl Slots {
    /// Returns true if a stream can be attached.
    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        self.free != NO_SLOT
    }

    /// Adds a slot, which is free. Returns the number of streams there is room for now if the table had to
    /// grow beyond one.
    #[cold]
    pub(crate) fn add(&mut self) -> Option<usize> {
        if self.all.is_empty() {
            // A connection that asks once at a time needs one.
            self.all = Vec::with_capacity(1);
        }
        let grows = self.all.len() == self.all.capacity();
        self.all.reserve(1);
        self.all.push(Slot::free(self.first_generation, self.free));
        self.free = self.all.len() as u32 - 1;
        self.free_count += 1;
        grows.then_some(self.all.capacity())
    }

    /// Gives a free slot to a stream of the machine, and to both its sides.
    pub(crate) fn attach(&mut self, stream: StreamKey, heard: u64, now: Time) -> SlotKey {
        let index = self.free;
        let slot = &mut self.all[index as usize];
        self.free = slot.next_free();
        self.free_count -= 1;
        slot.begin(stream, heard, now);
        let at = slot.key(index);
        self.note_stream(stream, index);
        at
    }

    #[inline]
    fn note_stream(&mut self, stream: StreamKey, index: u32) {
        match stream.slot() {
            0 => self.of_first_stream = index,
            machine_slot => {
                if self.by_stream.len() < machine_slot {
                    self.by_stream.resize(machine_slot, NO_SLOT);
                }
                self.by_stream[machine_slot - 1] = index;
            }
        }
    }

    /// Returns the slot, unless its stream has ended.
    #[inline]
    pub(crate) fn get(&mut self, at: SlotKey) -> Option<&mut Slot> {
        self.all.get_mut(at.index as usize).filter(|slot| slot.generation() == at.generation)
    }

    /// Returns the slot of this stream of the machine.
    #[inline]
    pub(crate) fn of_stream(&mut self, stream: StreamKey) -> Option<(u32, &mut Slot)> {
        let index = match stream.slot() {
            0 => self.of_first_stream,
            machine_slot => *self.by_stream.get(machine_slot - 1)?,
        };
        let slot = self.all.get_mut(index as usize)?;
        (slot.stream == Some(stream)).then_some((index, slot))
    }

    /// Frees a slot, and returns the content that it still held.
    pub(crate) fn free(&mut self, index: u32) -> Content {
        let slot = &mut self.all[index as usize];
        debug_assert!(slot.held == Sides::NONE);
        let content = slot.recycle();
        slot.set_next_free(std::mem::replace(&mut self.free, index));
        self.free_count += 1;
        content
    }

    /// Returns true if no stream is held by a handle.
    #[inline]
    pub(crate) fn are_unused(&self) -> bool {
        self.free_count as usize == self.all.len()
    }

    /// Returns the number of streams that are held by handles.
    pub(crate) fn used_count(&self) -> u32 {
        self.all.len() as u32 - self.free_count
    }

    /// Returns the number of slots, free ones included.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Returns the bytes of the slots themselves.
    pub(crate) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Slot>() + self.by_stream.capacity() * size_of::<u32>()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.all.iter_mut()
    }

    /// Returns the keys of the slots that `is_meant` selects.
    pub(crate) fn keys_of(&self, is_meant: impl Fn(&Slot) -> bool) -> impl Iterator<Item = SlotKey> {
        let all = self.all.iter().enumerate().filter(move |(_, slot)| is_meant(slot));
        all.map(|(index, slot)| slot.key(index as u32))
    }

    /// Moves the memory into `to`, which is empty, for another connection; no slot is in use. More slots than
    /// are passed on are freed.
    pub(crate) fn leave_memory(&mut self, to: &mut Self) {
        debug_assert!(self.are_unused() && to.all.is_empty());
        let generations = self.all.iter().map(Slot::generation);
        self.first_generation = generations.fold(self.first_generation, u32::max);
        self.exchange_memory(to);
        match to.all.len() {
            0..=PASSED_ON_MAX => to.all.iter_mut().for_each(Slot::leave),
            _ => *to = Self::default(),
        }
    }

    /// Takes over the memory that [`leave_memory`](Self::leave_memory) left, or frees it if there is memory
    /// already.
    pub(crate) fn use_memory(&mut self, from: &mut Self) {
        if !self.all.is_empty() {
            *from = Self::default();
            return;
        }
        self.exchange_memory(from);
        self.all.iter_mut().for_each(|slot| slot.pass_to(self.first_generation));
    }

    /// Exchanges everything with a new table, but for the generation, which belongs to the connection.
    fn exchange_memory(&mut self, other: &mut Self) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.first_generation, &mut other.first_generation);
    }
}

impl Index<u32> for Slots {
    type Output = Slot;

    #[inline]
    fn index(&self, index: u32) -> &Slot {
        &self.all[index as usize]
    }
}

impl IndexMut<u32> for Slots {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.all[index as usize]
    }
}

impl Waits for Slots {
    #[inline]
    fn count(&self) -> usize {
        self.all.len()
    }

    #[inline]
    fn wait(&mut self, slot: usize, side: Side) -> &mut Wait {
        &mut self.all[slot].waits[side as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(slot: u32, generation: u32) -> StreamKey {
        StreamKey::new(slot, generation)
    }

    fn attach(slots: &mut Slots, name: StreamKey) -> SlotKey {
        if !slots.has_free() {
            slots.add();
        }
        slots.attach(name, 0, Time::ZERO)
    }

    fn let_go(slots: &mut Slots, at: SlotKey) {
        slots[at.index].held = Sides::NONE;
        slots.free(at.index);
    }

    /// The memory of a connection's slots passes to another connection.
    fn pass_on(slots: &mut Slots, others: &mut Slots) {
        let mut memory = Slots::default();
        slots.leave_memory(&mut memory);
        others.use_memory(&mut memory);
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn a_slot_is_found_by_its_key_and_by_its_stream_until_it_is_freed() {
        let mut slots = Slots::default();
        let (first, second) = (attach(&mut slots, stream(0, 1)), attach(&mut slots, stream(3, 1)));
        assert_eq!(slots.of_stream(stream(0, 1)).map(|(index, _)| index), Some(first.index));
        assert_eq!(slots.of_stream(stream(3, 1)).map(|(index, _)| index), Some(second.index));
        assert!(slots.of_stream(stream(3, 2)).is_none() && slots.of_stream(stream(9, 1)).is_none());
        let_go(&mut slots, second);
        assert!(slots.get(second).is_none() && slots.of_stream(stream(3, 1)).is_none());
        assert!(slots.get(first).is_some() && !slots.are_unused());
    }

    #[test]
    fn the_slot_freed_last_is_used_next_under_another_generation() {
        let mut slots = Slots::default();
        let keys: Vec<_> = (0..3).map(|slot| attach(&mut slots, stream(slot, 1))).collect();
        let_go(&mut slots, keys[0]);
        let_go(&mut slots, keys[2]);
        let again = attach(&mut slots, stream(2, 2));
        assert_eq!((again.index, again.generation), (keys[2].index, keys[2].generation + 1));
        assert_eq!(attach(&mut slots, stream(0, 2)).index, keys[0].index);
        assert_eq!(slots.count(), 3);
    }

    #[test]
    fn keys_from_before_the_memory_was_passed_on_are_stale_on_both_connections() {
        let (mut slots, mut others) = (Slots::default(), Slots::default());
        let keys: Vec<_> = (0..5).map(|slot| attach(&mut slots, stream(slot, 1))).collect();
        keys.iter().for_each(|at| let_go(&mut slots, *at));
        let other_keys = [0, 1].map(|generation| {
            let at = attach(&mut others, stream(0, generation));
            let_go(&mut others, at);
            at
        });
        others.leave_memory(&mut Slots::default());
        pass_on(&mut slots, &mut others);
        assert_eq!((slots.bytes(), slots.count(), others.count()), (0, 0, 5));
        assert!(others.are_unused());
        let new: Vec<_> = (0..5).map(|slot| attach(&mut others, stream(slot, 7))).collect();
        assert!(other_keys.iter().all(|at| others.get(*at).is_none()));
        assert_eq!(others.of_stream(stream(4, 7)).map(|(index, _)| index), Some(new[4].index));
        let again = attach(&mut slots, stream(0, 2));
        assert!(keys.iter().all(|at| *at != again));
    }

    #[test]
    fn slots_that_are_passed_on_are_as_new() {
        let (mut slots, mut others) = (Slots::default(), Slots::default());
        let at = attach(&mut slots, stream(0, 1));
        let slot = &mut slots[at.index];
        slot.counts.receive(5);
        slot.note(crate::connection::stream::slot::Noted { method: "GET", path: "/" });
        slot.waits[0].begin(std::task::Waker::noop());
        let_go(&mut slots, at);
        pass_on(&mut slots, &mut others);
        let other = attach(&mut others, stream(0, 7));
        let slot = &mut others[other.index];
        assert_eq!(slot.counts.moved(), [0, 0]);
        assert!(slot.noted().is_none() && !slot.waits[0].take_waited());
    }

    /// Returns true if a stream that nobody has heard of is said to be unanswered when its connection ends in
    /// silence.
    fn is_unanswered(slots: &mut Slots) -> bool {
        let at = attach(slots, stream(0, 1));
        let slot = &mut slots[at.index];
        slot.fail_with_connection(&crate::error::Error::cancelled(), Some(0), false);
        let is_safe = slot.failed.as_ref().is_some_and(crate::error::Error::is_unanswered);
        let_go(slots, at);
        is_safe
    }

    #[test]
    fn the_first_stream_of_a_connection_may_have_been_handled_whoever_had_its_slot() {
        let (mut slots, mut others) = (Slots::default(), Slots::default());
        assert_eq!([is_unanswered(&mut slots), is_unanswered(&mut slots)], [false, true]);
        pass_on(&mut slots, &mut others);
        assert_eq!([is_unanswered(&mut others), is_unanswered(&mut others)], [false, true]);
        pass_on(&mut others, &mut slots);
        assert!(is_unanswered(&mut slots), "it had streams before it rested");
    }

    #[test]
    fn many_slots_are_not_passed_on() {
        let mut slots = Slots::default();
        let count = PASSED_ON_MAX as u32 + 1;
        let keys: Vec<_> = (0..count).map(|slot| attach(&mut slots, stream(slot, 1))).collect();
        keys.iter().for_each(|at| let_go(&mut slots, *at));
        let mut memory = Slots::default();
        slots.leave_memory(&mut memory);
        assert_eq!((memory.count(), slots.count(), slots.bytes()), (0, 0, 0));
    }

    #[test]
    fn room_is_told_of_when_the_table_grows_beyond_one() {
        let mut slots = Slots::default();
        assert_eq!(slots.add(), None);
        assert!(slots.add().is_some_and(|streams| streams >= 2));
        assert_eq!(slots.add(), None);
    }
}
