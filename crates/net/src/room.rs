//! The bound on output that waits for the socket, and the order in which streams fill it.
//!
//! Rule 1: content is taken as far as the output has room below the bound, and again once all of it was written. Heads,
//! trailers and control frames are taken at any time: they are small, and bounded by the number of streams.
//! Rule 2: streams that wait for room are called in the order in which they came. Those that are called together get equal
//! shares, so that each of them finds room; then all others come before they are called again.
//! Rule 3: called streams that write nothing hold nobody up: the connection's task calls the next ones a little later.
//!
//! Where the machine schedules (`turns.rs` in `alula-h2`), it calls the streams and this file only bounds them. Memory work
//! only, under the connection's lock.

use std::{collections::VecDeque, time::Duration};

use alula_fields::{Limits, OutBuf, StreamKey, Time};

use crate::{
    hand_over::Side,
    shared::Shared,
    slot::{Slot, SlotKey, Turn},
};

/// The least that the bound can be, and the least share of a stream: the payload of one frame.
const SHARE_LEAST: usize = 16 * 1024;

/// Content that does not fit is not written in pieces smaller than this, unless the output is empty.
const PIECE_LEAST: usize = 4 * 1024;

/// The time after which further streams are called when those that were called wrote nothing.
const CALL_AGAIN_AFTER: Duration = Duration::from_millis(50);

pub(crate) struct Room {
    /// The octets that may wait.
    bound: usize,
    /// The octets that one stream may write until the output has drained again.
    share: usize,
    /// The number of times that streams were called.
    calls: u32,
    /// The time at which streams were called last.
    called_at: Time,
    /// The streams that wait for room, the next one first, and those that were called last.
    waiting: VecDeque<SlotKey>,
}

impl Room {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bound = (limits.output_soft_bytes as usize).max(SHARE_LEAST);
        Self { bound, share: bound, calls: 0, called_at: Time::ZERO, waiting: VecDeque::new() }
    }

    pub(crate) const fn bound(&self) -> usize {
        self.bound
    }

    /// Returns true while streams get shares, since several of them wait.
    #[inline]
    fn is_shared(&self) -> bool {
        self.share < self.bound
    }

    /// What a stream has not used of its share.
    fn share_left(&self, slot: &Slot) -> usize {
        let used = if slot.used_call == self.calls { slot.used_octets } else { 0 };
        self.share.saturating_sub(used)
    }

    /// Makes a buffer large enough for so much of the output, as it is or encrypted. Left to itself it would double its size
    /// several times, and beyond the bound.
    #[inline]
    pub(crate) fn prepare(&self, octets: usize, buffer: &mut OutBuf) {
        if octets > self.bound / 2 {
            // Records of TLS add less than this to what fills the bound.
            let whole = self.bound + self.bound / 256;
            buffer.spare(whole.saturating_sub(buffer.len()));
        }
    }

    /// The number of streams that may be called together.
    fn places(&self) -> usize {
        self.bound / SHARE_LEAST
    }
}

impl Shared {
    /// Returns how many of so many octets of content a stream may write now; `None` when it has to wait.
    #[inline]
    pub(crate) fn room_for(&self, at: SlotKey, octets: usize) -> Option<usize> {
        let left = self.room.bound.saturating_sub(self.unsent());
        if octets <= left && !self.room.is_shared() {
            Some(octets)
        } else {
            self.scant_room(at, octets, left)
        }
    }

    #[cold]
    fn scant_room(&self, at: SlotKey, octets: usize, left: usize) -> Option<usize> {
        let share = self.room.share_left(&self.slots[at.index as usize]);
        if octets <= left.min(share) {
            return Some(octets);
        }
        let piece = left.saturating_sub(framing(left)).min(share);
        (piece >= PIECE_LEAST || (piece > 0 && self.unsent() == 0)).then_some(piece)
    }

    /// Notes that a stream has written so many octets of content.
    #[inline]
    pub(crate) fn note_written(&mut self, at: SlotKey, octets: usize) {
        if self.room.is_shared() {
            self.use_share(at, octets);
        }
    }

    #[cold]
    fn use_share(&mut self, at: SlotKey, octets: usize) {
        let slot = &mut self.slots[at.index as usize];
        let before = if slot.used_call == self.room.calls { slot.used_octets } else { 0 };
        (slot.used_call, slot.used_octets) = (self.room.calls, before + octets);
    }

    /// Notes that a stream has more content than there was room for; its writer is woken when it may go on.
    #[cold]
    pub(crate) fn await_room(&mut self, at: SlotKey, stream: StreamKey) {
        if self.machine.await_room(stream) {
            return;
        }
        let Some(slot) = self.slot(at) else { return };
        if std::mem::replace(&mut slot.turn, Turn::Waits) == Turn::None {
            self.room.waiting.push_back(at);
        }
    }

    /// Calls those who wait for room, after all output was written.
    #[inline]
    pub(crate) fn share_room(&mut self) {
        if self.room.is_shared() || !self.room.waiting.is_empty() {
            self.call_next();
        }
    }

    /// Calls further streams when all output was written and those called before have written nothing for a while.
    #[inline]
    pub(crate) fn call_again(&mut self) {
        if self.calls_again_at().is_some_and(|at| at <= self.now) {
            self.call_next();
        }
    }

    /// Calls as many streams as there are places. They go to the end of the queue in the order in which they are called; one
    /// that does not wait again until it comes to the front leaves.
    #[cold]
    fn call_next(&mut self) {
        let mut called = 0;
        for _ in 0..self.room.waiting.len() {
            if called == self.room.places() {
                break;
            }
            let Some(at) = self.room.waiting.pop_front() else { break };
            let Some(slot) = self.slot(at) else { continue };
            if slot.turn == Turn::Called {
                slot.turn = Turn::None;
                continue;
            }
            slot.turn = Turn::Called;
            called += usize::from(slot.waits[Side::Write as usize].is_waiting());
            self.room.waiting.push_back(at);
            self.wake_later(at.index, Side::Write);
        }
        self.room.share = self.room.bound / called.max(1);
        self.room.calls = self.room.calls.wrapping_add(1);
        self.room.called_at = self.now;
    }

    /// The time at which the connection's task has to call streams that wait although there is room.
    #[inline]
    pub(crate) fn calls_again_at(&self) -> Option<Time> {
        let waits = !self.room.waiting.is_empty() && self.unsent() == 0;
        waits.then(|| self.room.called_at.saturating_add(CALL_AGAIN_AFTER))
    }
}

/// An upper bound of what headers of frames, or the framing of a chunk, add to so much content.
const fn framing(octets: usize) -> usize {
    octets / 1024 + 32
}
