//! The bound on output that waits for the socket, and the order in which streams fill it.
//!
//! Rule 1: content is taken as far as the output has room below the bound, and again once all of it was
//! written. Heads, trailers and control frames are taken at any time: they are small, and bounded by the
//! number of streams.
//! Rule 2: streams that wait for room are called in the order in which they came. Those that are called
//! together get equal shares, so that each of them finds room; then all others come before they are called
//! again.
//! Rule 3: called streams that write nothing hold nobody up: the connection's task calls the next ones a
//! little later.
//!
//! Rule 4: while much of the memory of all connections is in use, the bound is a smaller one.
//!
//! A machine that schedules (`turns.rs` in `alula-h2`) calls the streams itself, and this file only bounds
//! them. Memory work only, under the connection's lock.

use std::{collections::VecDeque, time::Duration};

use alula_machine::{Limits, OutBuf, Time};

use crate::{
    connection::stream::{
        slot::{Slot, SlotKey},
        table::Slots,
    },
    drive::reader::Side,
};

/// The least bound and the least share of a stream: the payload of one frame.
const SHARE_LEAST: usize = 16 * 1024;

/// The smallest piece that content is written in if it does not fit as a whole, unless the output is empty.
const PIECE_LEAST: usize = 4 * 1024;

/// The time after which further streams are called if the called ones have written nothing.
const CALL_AGAIN_AFTER: Duration = Duration::from_millis(50);

pub(crate) struct Room {
    /// The bytes that may wait.
    bound: usize,
    /// The bytes that may wait while much of the memory of all connections is in use.
    narrow: usize,
    /// The bytes that one stream may write until the output has drained again.
    share: usize,
    /// The number of times that streams were called.
    calls: u32,
    /// The time at which streams were called last.
    called_at: Time,
    /// The streams that wait for room, the next one first, and the streams that were called last.
    waiting: VecDeque<SlotKey>,
}

impl Room {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bound = (limits.output_soft_bytes as usize).max(SHARE_LEAST);
        let narrow = (limits.crowded_output_bytes as usize).clamp(SHARE_LEAST, bound);
        Self { bound, narrow, share: bound, calls: 0, called_at: Time::ZERO, waiting: VecDeque::new() }
    }

    /// Returns the bytes that may wait, depending on whether memory is crowded.
    #[inline]
    pub(crate) const fn bound(&self, is_crowded: bool) -> usize {
        if is_crowded { self.narrow } else { self.bound }
    }

    /// Returns true if so many bytes fill the output. Whether it is crowded is asked only where that decides.
    #[inline]
    pub(crate) fn is_full(&self, unsent: usize, is_crowded: impl FnOnce() -> bool) -> bool {
        unsent >= self.narrow && unsent >= self.bound(is_crowded())
    }

    /// Returns true while several streams wait, and get shares.
    #[inline]
    fn is_shared(&self) -> bool {
        self.share < self.bound
    }

    /// Returns the bytes of its share that a stream has left.
    fn share_left(&self, slot: &Slot) -> usize {
        self.share.saturating_sub(slot.share.used(self.calls))
    }

    /// Makes a buffer large enough for so much output, encrypted or not. Left to itself it would double its
    /// size several times, and beyond the bound.
    #[inline]
    pub(crate) fn prepare(&self, bytes: usize, buffer: &mut OutBuf) {
        if bytes > self.bound / 2 {
            // Records of TLS add less than this to what fills the bound.
            let whole = self.bound + self.bound / 256;
            buffer.spare(whole.saturating_sub(buffer.len()));
        }
    }
}

impl Room {
    /// Returns how many of so many bytes of content a stream may write while so many wait for the socket;
    /// `None` when it has to wait. Whether it is crowded is asked only where that decides.
    #[inline]
    pub(crate) fn for_content(
        &self,
        slot: &Slot,
        bytes: usize,
        unsent: usize,
        is_crowded: impl FnOnce() -> bool,
    ) -> Option<usize> {
        let mut left = self.narrow.saturating_sub(unsent);
        if bytes > left || self.is_shared() {
            left = self.bound(is_crowded()).saturating_sub(unsent);
        }
        if bytes <= left && !self.is_shared() { Some(bytes) } else { self.scant(slot, bytes, left, unsent) }
    }

    #[cold]
    fn scant(&self, slot: &Slot, bytes: usize, left: usize, unsent: usize) -> Option<usize> {
        let share = self.share_left(slot);
        if bytes <= left.min(share) {
            return Some(bytes);
        }
        let piece = left.saturating_sub(framing(left)).min(share);
        (piece >= PIECE_LEAST || (piece > 0 && unsent == 0)).then_some(piece)
    }

    /// Notes that a stream has written so many bytes of content.
    #[inline]
    pub(crate) fn note_written(&self, slot: &mut Slot, bytes: usize) {
        if self.is_shared() {
            slot.share.note_used(self.calls, bytes);
        }
    }

    /// Puts a stream at the end of the queue because it has more content than room.
    #[cold]
    pub(crate) fn enqueue(&mut self, at: SlotKey, slot: &mut Slot) {
        if slot.share.wait() {
            self.waiting.push_back(at);
        }
    }

    /// Returns true if streams wait to be called once all output was written.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_shared() || !self.waiting.is_empty()
    }

    /// Calls as many streams as there are places, and passes each to `wake`. They go to the end of the queue
    /// in the order in which they are called; one that does not wait again until it comes to the front
    /// leaves.
    #[cold]
    pub(crate) fn call_next(
        &mut self,
        slots: &mut Slots,
        now: Time,
        is_crowded: bool,
        mut wake: impl FnMut(&mut Slot),
    ) {
        let bound = self.bound(is_crowded);
        let places = bound / SHARE_LEAST;
        let mut called = 0;
        for _ in 0..self.waiting.len() {
            if called == places {
                break;
            }
            let Some(at) = self.waiting.pop_front() else { break };
            let Some(slot) = slots.get(at) else { continue };
            if !slot.share.call() {
                continue;
            }
            called += usize::from(slot.waits[Side::Write as usize].is_waiting());
            self.waiting.push_back(at);
            wake(slot);
        }
        self.share = bound / called.max(1);
        self.calls = self.calls.wrapping_add(1);
        self.called_at = now;
    }

    /// Returns the time at which the connection's task has to call streams that wait although there is room.
    #[inline]
    pub(crate) fn calls_again_at(&self, unsent: usize) -> Option<Time> {
        let waits = !self.waiting.is_empty() && unsent == 0;
        waits.then(|| self.called_at.saturating_add(CALL_AGAIN_AFTER))
    }
}

/// Returns the most bytes that frame headers, or the framing of a chunk, add to so much content.
const fn framing(bytes: usize) -> usize {
    bytes / 1024 + 32
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use alula_machine::StreamKey;

    use super::*;

    const BOUND: usize = 64 * 1024;
    const NARROW: usize = 16 * 1024;

    fn calm() -> bool {
        false
    }

    fn crowd() -> bool {
        true
    }

    fn room() -> Room {
        Room::new(&Limits { output_soft_bytes: BOUND as u32, ..Limits::default() })
    }

    /// Returns so many streams that wait for room.
    fn waiting(room: &mut Room, streams: u32) -> (Slots, Vec<SlotKey>) {
        let mut slots = Slots::default();
        let keys = (0..streams).map(|slot| {
            slots.add();
            let at = slots.attach(StreamKey::new(slot, 1), 0, Time::ZERO);
            wait(room, &mut slots, at);
            at
        });
        let keys = keys.collect();
        (slots, keys)
    }

    fn wait(room: &mut Room, slots: &mut Slots, at: SlotKey) {
        slots[at.index].waits[Side::Write as usize].begin(Waker::noop());
        room.enqueue(at, &mut slots[at.index]);
    }

    fn call(room: &mut Room, slots: &mut Slots) -> usize {
        let mut called = 0;
        room.call_next(slots, Time::ZERO, false, |_| called += 1);
        called
    }

    #[test]
    fn one_stream_has_all_the_room_there_is() {
        let room = room();
        let slot = Slot::default();
        assert_eq!(room.for_content(&slot, BOUND, 0, calm), Some(BOUND));
        assert_eq!(room.for_content(&slot, 10, BOUND - 10, calm), Some(10));
        assert_eq!(room.for_content(&slot, 10, BOUND, calm), None);
        assert!(
            room.for_content(&slot, 2 * BOUND, 0, calm)
                .is_some_and(|piece| piece < BOUND && piece > BOUND / 2)
        );
    }

    #[test]
    fn those_called_together_get_equal_shares_and_then_the_others_come() {
        let mut room = room();
        let (mut slots, keys) = waiting(&mut room, 6);
        assert_eq!(call(&mut room, &mut slots), 4, "there are four places");
        let share = room.for_content(&slots[keys[0].index], BOUND, 0, calm);
        assert!(share.is_some_and(|share| (PIECE_LEAST..=BOUND / 4).contains(&share)));
        room.note_written(&mut slots[keys[0].index], BOUND / 4);
        assert_eq!(room.for_content(&slots[keys[0].index], 1, 0, calm), None, "its share is used");
        wait(&mut room, &mut slots, keys[0]);
        assert_eq!(call(&mut room, &mut slots), 3, "two that waited longer, and the one that waits again");
        assert_eq!(room.for_content(&slots[keys[0].index], 1, 0, calm), Some(1));
    }

    #[test]
    fn the_task_calls_again_when_those_called_write_nothing() {
        let mut room = room();
        let (mut slots, _) = waiting(&mut room, 1);
        assert_eq!(room.calls_again_at(1), None, "output that leaves calls them");
        assert_eq!(room.calls_again_at(0), Some(Time::ZERO.saturating_add(CALL_AGAIN_AFTER)));
        call(&mut room, &mut slots);
        call(&mut room, &mut slots);
        assert_eq!((room.calls_again_at(0), room.is_awaited()), (None, false));
    }

    #[test]
    fn it_is_narrow_while_it_is_crowded() {
        let mut room = room();
        let slot = Slot::default();
        let asks_nothing = || unreachable!("it does not decide");
        assert_eq!(room.for_content(&slot, NARROW, 0, asks_nothing), Some(NARROW));
        assert!(!room.is_full(NARROW - 1, asks_nothing));
        assert_eq!(room.for_content(&slot, NARROW, 1, calm), Some(NARROW));
        assert!(room.for_content(&slot, NARROW, 1, crowd).is_some_and(|piece| piece < NARROW));
        assert_eq!(room.for_content(&slot, 1, NARROW, crowd), None);
        assert!(room.is_full(NARROW, crowd) && !room.is_full(NARROW, calm) && room.is_full(BOUND, calm));
        let (mut slots, keys) = waiting(&mut room, 2);
        let mut called = 0;
        room.call_next(&mut slots, Time::ZERO, true, |_| called += 1);
        assert_eq!(called, 1, "there is one place");
        room.note_written(&mut slots[keys[0].index], NARROW);
        assert_eq!(room.for_content(&slots[keys[0].index], 1, 0, crowd), None, "its share is used");
        assert_eq!(call(&mut room, &mut slots), 1, "the other one, and it is calm again");
        assert_eq!(room.for_content(&slots[keys[0].index], BOUND, 0, calm), Some(BOUND));
    }
}
