//! A stream above the machine: received content, waiting callers, and its end.
//!
//! A slot is lent to the handles of a stream and used again when the last of them is dropped. The machine may
//! forget its stream earlier; the slot then still holds what was received.

use alula_machine::{StreamKey, Time};

use crate::{
    connection::stream::{
        answer_notes::AnswerNotes, counts::Counts, deadlines::StreamDeadlines, incoming::Incoming,
        pace::LeastPace, share::Share, stream_pace::StreamPace, tally::Tally,
    },
    drive::reader::{Side, Wait},
    error::{Error, limit::Overrun},
    message::{content::Content, timing::Marks},
};

/// The capacity for the request text that a slot keeps, in bytes.
const ASKED_KEPT_BYTES: usize = 4 * 1024;

/// Names a slot; the generation tells an outdated name from a current one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SlotKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl SlotKey {
    /// Names no slot.
    pub(crate) const NONE: Self = Self { index: u32::MAX, generation: u32::MAX };
}

/// The two directions of a stream, as a set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sides(u8);

impl Sides {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const READ: Self = Self(1);
    pub(crate) const WRITE: Self = Self(2);
    pub(crate) const BOTH: Self = Self(3);

    pub(crate) const fn has(self, side: Self) -> bool {
        self.0 & side.0 != 0
    }

    pub(crate) const fn with(self, side: Self) -> Self {
        Self(self.0 | side.0)
    }

    pub(crate) const fn without(self, side: Self) -> Self {
        Self(self.0 & !side.0)
    }
}

/// A client's `expect: 100-continue` (RFC 9110 §10.1.1), as a server sees it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Expectation {
    /// The content comes unasked, or was asked for already.
    #[default]
    None,
    /// The client waits to be asked for its content.
    Waiting,
    /// The request was answered without asking for its content.
    Declined,
}

/// A slot; each of its parts is a type of its own.
#[derive(Default)]
pub(crate) struct Slot {
    generation: u32,
    /// The generation that the slot had when it came to a connection without streams.
    unused_generation: u32,
    /// The slot that was freed before this one, while it is free.
    next_free: u32,
    pub(crate) stream: Option<StreamKey>,
    /// The handles that are still held.
    pub(crate) held: Sides,
    /// The client sends no more of its content, because the server has declined it.
    sends_no_more: bool,
    /// The server has asked for our content.
    pub(crate) is_told_to_go_on: bool,
    /// The state of the client's wait to be asked for its content.
    pub(crate) expectation: Expectation,
    pub(crate) failed: Option<Error>,
    /// The method and path of a client's request, for its errors. Its memory is used again.
    asked: String,
    /// The number of times that bytes had arrived on the connection when the stream was opened.
    heard: u64,
    /// The time at which the stream was opened, up to about a second early.
    began: Time,
    pub(crate) incoming: Incoming,
    pub(crate) counts: Counts,
    pub(crate) pace: StreamPace,
    pub(crate) answer: AnswerNotes,
    deadlines: StreamDeadlines,
    /// The time at which each phase of the exchange began, if it is timed.
    pub(crate) marks: Option<Marks>,
    pub(crate) waits: [Wait; 2],
    pub(crate) share: Share,
}

impl Default for Sides {
    fn default() -> Self {
        Self::NONE
    }
}

/// The part of a client's request that its errors show.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a> {
    /// The method.
    pub method: &'a str,
    /// The path with its query.
    pub path: &'a str,
}

impl Slot {
    /// Keeps the request for errors.
    #[inline]
    pub(crate) fn note(&mut self, noted: Noted<'_>) {
        self.asked.clear();
        // At once, and not piece by piece: of a new slot it would grow three times.
        self.asked.reserve(noted.method.len() + 1 + noted.path.len());
        self.asked.push_str(noted.method);
        self.asked.push(' ');
        self.asked.push_str(noted.path);
    }

    /// Returns the request for errors; none on a server.
    pub(crate) fn noted(&self) -> Option<Noted<'_>> {
        let (method, path) = self.asked.split_once(' ')?;
        Some(Noted { method, path })
    }

    /// Ends the wait: the handle runs. Returns true if it had been woken.
    #[inline]
    pub(crate) fn arrive(&mut self, side: Side) -> bool {
        self.waits[side as usize].end()
    }

    /// Returns true if the final head has come, was not taken yet, and is 300 or more: the server wants no
    /// more content.
    pub(crate) fn is_declined(&self) -> bool {
        self.incoming.status().is_some_and(|status| status.as_u16() >= 300)
    }
}

/// Its place in the table.
impl Slot {
    /// Creates a free slot, which is followed by another one.
    pub(crate) fn free(generation: u32, next_free: u32) -> Self {
        Self { generation, next_free, ..Self::default() }
    }

    /// Returns the slot that was freed before it.
    #[inline]
    pub(crate) fn next_free(&self) -> u32 {
        self.next_free
    }

    /// Makes the slot free, followed by another one.
    #[inline]
    pub(crate) fn set_next_free(&mut self, next_free: u32) {
        self.next_free = next_free;
    }

    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns the name of its stream, which has this place in the table.
    #[inline]
    pub(crate) fn key(&self, index: u32) -> SlotKey {
        SlotKey { index, generation: self.generation }
    }

    /// Clears the parts that [`recycle`](Self::recycle) keeps, for another connection; the generation goes
    /// on, so that an old key names no later stream.
    pub(crate) fn leave(&mut self) {
        self.asked.clear();
        (self.counts, self.share) = (Counts::default(), Share::default());
        self.waits = <[Wait; 2]>::default();
        self.deadlines = StreamDeadlines::default();
        self.pace.rest();
    }

    /// Raises the generation to at least this one.
    pub(crate) fn pass_to(&mut self, first_generation: u32) {
        self.generation = self.generation.max(first_generation);
        self.unused_generation = if first_generation > 0 { 0 } else { self.generation };
    }
}

/// Its life.
impl Slot {
    /// Gives the slot to a stream of the machine, and to both its handles.
    #[inline]
    pub(crate) fn begin(&mut self, stream: StreamKey, heard: u64, now: Time) {
        self.stream = Some(stream);
        self.held = Sides::BOTH;
        self.counts.begin();
        self.heard = heard;
        self.began = now;
    }

    /// Returns the time at which the stream was opened, if nothing has arrived on the connection since;
    /// `heard` counts arrivals.
    pub(crate) fn unheard_since(&self, heard: u64) -> Option<Time> {
        (self.heard == heard).then_some(self.began)
    }

    /// Drops sides. Returns the number of callers on them that were woken, and will not run.
    pub(crate) fn let_go(&mut self, sides: Sides) -> usize {
        self.held = self.held.without(sides);
        let mut woken = 0;
        if sides.has(Sides::READ) {
            woken += usize::from(self.arrive(Side::Read));
        }
        if sides.has(Sides::WRITE) {
            woken += usize::from(self.arrive(Side::Write));
        }
        woken
    }

    /// Returns true if dropping these sides cuts off the message that is being sent: they have the writer, or
    /// the response that is read without a writer.
    pub(crate) fn is_cut_without(&self, sides: Sides) -> bool {
        match self.sends_no_more {
            false => sides.has(Sides::WRITE),
            true => self.held == Sides::NONE,
        }
    }

    /// Returns true if nothing more is received: the peer has ended its side, or the stream has failed.
    pub(crate) fn has_ended(&self) -> bool {
        self.incoming.has_ended() || self.failed.is_some()
    }

    /// Stops sending, although the message is not complete.
    pub(crate) fn end_sending(&mut self) {
        self.sends_no_more = true;
    }

    /// Fails with an error of the connection, unless the stream has failed already. `heard_if_silent` is the
    /// number of times that something had come, if the connection ended without a word: a stream that was
    /// opened since then has had no answer, where the connection is known to have been used before.
    pub(crate) fn fail_with_connection(
        &mut self,
        error: &Error,
        heard_if_silent: Option<u64>,
        is_used: bool,
    ) {
        if self.stream.is_some() && self.failed.is_none() {
            let is_used = is_used || self.generation > self.unused_generation;
            let is_unanswered = is_used && heard_if_silent == Some(self.heard);
            self.failed = Some(if is_unanswered { error.clone().unanswered() } else { error.clone() });
        }
    }

    /// Resets the slot for another stream, with a new generation.
    pub(crate) fn recycle(&mut self) -> Content {
        self.generation = self.generation.wrapping_add(1);
        self.stream = None;
        self.held = Sides::NONE;
        self.failed = None;
        self.expectation = Expectation::None;
        self.is_told_to_go_on = false;
        self.sends_no_more = false;
        self.deadlines.end();
        self.marks = None;
        self.counts.end();
        self.pace.end();
        self.answer.end();
        self.share.end();
        if self.asked.capacity() > ASKED_KEPT_BYTES {
            self.asked = String::new();
        }
        self.incoming.recycle()
    }
}

/// The pace of its peer.
impl Slot {
    /// Returns true if the peer's pace counts.
    pub(crate) fn is_judged(&self) -> bool {
        self.failed.is_none() && !self.pace.is_exempt()
    }

    /// Returns true if more content may come, and a handle can read it.
    pub(crate) fn may_receive(&self) -> bool {
        self.held.has(Sides::READ) && !self.incoming.has_ended()
    }

    /// Returns, for reading and for writing, whether a handle has waited since the last call.
    pub(crate) fn take_waited(&mut self) -> (bool, bool) {
        let [reads, writes] = &mut self.waits;
        (reads.take_waited(), writes.take_waited())
    }

    /// Checks the progress of the peer in what it owes: content, and room for our content. Returns the limit
    /// that it has run into.
    pub(crate) fn look_at_pace(&mut self, owes: [bool; 2], now: Time, least: LeastPace) -> Option<Overrun> {
        self.pace.look(self.generation, owes, self.counts.moved(), now, least)
    }

    /// Returns true if a caller waits for content, and has read all that came.
    pub(crate) fn is_starving(&self) -> bool {
        let waits = self.incoming.is_head_taken() && self.waits[Side::Read as usize].is_waiting();
        waits && self.incoming.content().is_empty() && !self.has_ended()
    }

    /// Returns true if content has come that nobody has taken.
    pub(crate) fn is_unread(&self) -> bool {
        self.held.has(Sides::READ) && !self.incoming.content().is_empty()
    }
}

/// Deadlines, and the course of the exchange.
impl Slot {
    /// Sets deadlines, and returns the time of the first check.
    pub(crate) fn set_deadlines(&mut self, deadlines: StreamDeadlines) -> Option<Time> {
        self.deadlines = deadlines;
        self.deadlines.next()
    }

    /// Records that the head has come in time.
    #[inline]
    pub(crate) fn head_is_here(&mut self) {
        self.deadlines.head_is_here();
    }

    /// Returns the time of the next check, while there is a deadline.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        self.deadlines.next().filter(|_| self.stream.is_some() && !self.has_ended())
    }

    /// Returns the failure if a deadline has passed; otherwise plans the next check.
    pub(crate) fn expire(&mut self, now: Time) -> Option<Error> {
        self.due().filter(|deadline| *deadline <= now)?;
        let waits = [Side::Read, Side::Write].map(|side| self.waits[side as usize].is_waiting());
        self.deadlines.late(now, waits, self.counts.moved().iter().sum())
    }

    /// Returns the progress of the exchange.
    pub(crate) fn tally(&self) -> Tally {
        self.answer.tally(&self.counts, self.failed.clone())
    }
}
