//! Writes of large objects, which are decided beside the thread that writes.
//!
//! A change of a few bytes to a record of many costs as much as the record: the thread that writes would
//! keep everybody waiting. Helpers decide such writes, a few at once, and the thread that writes keeps what
//! they come to.
//!
//! Rule 1: an object has one decision under way. Its other writes wait until that one is kept, in their
//! order, so that a helper decides with what its write replaces. Rule 2: objects take turns, and the writes
//! that wait for one object, and for all, are a part of the queue.

use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use super::slot::Slot;
use crate::engine::EngineError;

/// The parts of the queue for waiting writes: an eighth for those of one object, half for those of all
/// objects.
const OF_ONE: usize = 8;
const OF_ALL: usize = 2;

/// The name of an object, in one piece.
type Key = Vec<u8>;

#[derive(Default)]
pub(in crate::engine::fjall) struct Apart {
    /// The waiting writes, by object; each object has a turn, a decision under way, or a decision in the
    /// batch.
    objects: HashMap<Key, VecDeque<Box<dyn Slot>>>,
    /// The objects whose next write may be decided.
    turns: VecDeque<Key>,
    /// The objects whose next write may be decided once the batch is kept.
    in_batch: Vec<Key>,
    waiting: usize,
    waiting_max: usize,
}

impl Apart {
    /// Makes the table of such writes beside a queue of at most `writes_max`.
    pub(in crate::engine::fjall) fn new(writes_max: usize) -> Self {
        Self { waiting_max: writes_max, ..Self::default() }
    }

    /// Lets a write wait if other writes to its object do; otherwise returns it.
    pub(in crate::engine::fjall) fn wait_behind(&mut self, slot: Box<dyn Slot>) -> Option<Box<dyn Slot>> {
        if self.objects.is_empty() {
            return Some(slot);
        }
        let Some(waiting) = slot.key().and_then(|key| self.objects.get_mut(key)) else { return Some(slot) };
        if waiting.len() > self.waiting_max / OF_ONE || self.waiting > self.waiting_max / OF_ALL {
            refuse(slot, EngineError::Busy);
        } else {
            self.waiting += 1;
            waiting.push_back(slot);
        }
        None
    }

    /// Takes a write of a large object that has none before it, or only some that are part of the batch.
    pub(in crate::engine::fjall) fn take(&mut self, slot: Box<dyn Slot>, is_in_batch: bool) {
        let Some(key) = slot.key().map(<[u8]>::to_vec) else { return };
        self.waiting += 1;
        self.objects.insert(key.clone(), VecDeque::from([slot]));
        match is_in_batch {
            true => self.in_batch.push(key),
            false => self.turns.push_back(key),
        }
    }

    /// Records that a decision on an object is part of the batch.
    pub(in crate::engine::fjall) fn decided(&mut self, key: &[u8]) {
        self.in_batch.push(key.to_vec());
    }

    /// Gives a turn to the objects of the batch that have writes waiting.
    pub(in crate::engine::fjall) fn batch_kept(&mut self) {
        for key in self.in_batch.drain(..) {
            if self.objects.get(&key).is_some_and(|waiting| !waiting.is_empty()) {
                self.turns.push_back(key);
            } else {
                self.objects.remove(&key);
            }
        }
    }

    /// Returns true if there are objects whose next write may be decided.
    pub(in crate::engine::fjall) fn has_turns(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Begins the write whose turn it is, and returns it to be decided.
    pub(in crate::engine::fjall) fn next(&mut self) -> Option<Box<dyn Slot>> {
        while let Some(key) = self.turns.pop_front() {
            let mut waiting = self.objects.get_mut(&key);
            while let Some(slot) = waiting.as_deref_mut().and_then(VecDeque::pop_front) {
                self.waiting -= 1;
                if let Some(slot) = begun(slot) {
                    return Some(slot);
                }
            }
            self.objects.remove(&key);
        }
        None
    }

    /// Returns the writes that wait, which then wait no more.
    pub(in crate::engine::fjall) fn take_all(&mut self) -> impl Iterator<Item = Box<dyn Slot>> {
        let Self { objects, .. } = std::mem::replace(self, Self::new(self.waiting_max));
        objects.into_values().flatten()
    }
}

/// Begins a write, unless its caller has been told that it timed out.
pub(in crate::engine::fjall) fn begun(slot: Box<dyn Slot>) -> Option<Box<dyn Slot>> {
    if !slot.begin() {
        return None;
    }
    if slot.deadline() <= Instant::now() {
        slot.answer(Err(EngineError::TimedOut.into()));
        return None;
    }
    Some(slot)
}

/// Refuses a write that was not begun.
pub(in crate::engine::fjall) fn refuse(slot: Box<dyn Slot>, error: EngineError) {
    if slot.begin() {
        slot.answer(Err(error.into()));
    }
}
