//! One stream above the machine: received content, waiting callers, and how it ended.
//!
//! A slot is lent to the handles of a stream and used again when the last of them is dropped. The machine may
//! forget its stream earlier; the slot then still holds what was received.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use alula_fields::{Head, Status};
use alula_machine::{StreamKey, Time};

use tokio::time::Instant;

use crate::{
    connection::{
        pace::{LeastPace, Pace},
        stream_deadlines::StreamDeadlines,
    },
    content::Content,
    error::Error,
    hand_over::{Side, Wait},
    heads::keep_head,
    overrun::Overrun,
    tally::Tally,
    timing::Marks,
};

/// Room for what was asked that a slot keeps, in octets.
const ASKED_KEPT_OCTETS: usize = 4 * 1024;

/// Names a slot; the generation tells a stale name from a fresh one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SlotKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
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
    /// The content comes unasked, or was asked for.
    #[default]
    None,
    /// The client waits to be told before it sends its content.
    Waiting,
    /// The request was answered without asking for its content.
    Declined,
}

#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) generation: u32,
    /// The slot that was freed before this one, while it is free.
    pub(crate) next_free: u32,
    pub(crate) stream: Option<StreamKey>,
    /// The handles that are still held.
    pub(crate) held: Sides,
    /// The peer's final head, until it is taken.
    pub(crate) head: Option<Box<Head>>,
    /// The peer has ended its side; what it sent is in `content` and `trailers`.
    pub(crate) ended: bool,
    pub(crate) content: Content,
    pub(crate) trailers: Option<Box<Head>>,
    pub(crate) failed: Option<Error>,
    /// The request of a client, for those who read of a failure: method and path. Its memory is used again.
    pub(crate) asked: String,
    /// The number of times that something had come on the connection when the stream was opened.
    pub(crate) heard: u64,
    /// The octets of content that came and went since the slot exists, over all its streams.
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// The pace of the peer, by side.
    pub(crate) paces: [Pace; 2],
    /// The handler allows a slow peer, from when it has accepted the request.
    pub(crate) may_be_slow: bool,
    /// The server has sent a head of 2xx.
    pub(crate) is_accepted: bool,
    /// The client's wait to be asked for its content.
    pub(crate) expectation: Expectation,
    /// The status of the final head that a server has sent, and when it did.
    pub(crate) answered: Option<(Status, Time)>,
    /// The octets that had come and gone when the stream began.
    pub(crate) began_at: (u64, u64),
    /// The bound on what is received, where there is one however it is read, and the octets of content that this allows.
    pub(crate) received_max: Option<(u64, u64)>,
    /// The progress of the exchange is kept until it is taken (`tallies.rs`).
    pub(crate) is_tallied: bool,
    /// The user of the request, as its handler has named it for those who count and log.
    pub(crate) user: Option<Arc<str>>,
    /// Fields that the answer gets, whoever gives it.
    pub(crate) answer_headers: Option<Box<Head>>,
    /// The note on the right to answer, while that is left to whoever reclaims it.
    pub(crate) left: Option<LeftNote>,
    /// The server has told us to send our content.
    pub(crate) is_told_to_go_on: bool,
    /// The client sends no more of its content: the server has declined it.
    pub(crate) sends_no_more: bool,
    /// A caller has waited for the head.
    pub(crate) is_awaited: bool,
    /// Somebody has taken the final head.
    pub(crate) is_head_taken: bool,
    /// Interim responses are kept for who waits, in the order in which they came; until somebody waits they are as well, since
    /// the first may come before it is known whether anybody wants to hear of them.
    pub(crate) keeps_interim: bool,
    pub(crate) interim: VecDeque<Box<Head>>,
    /// The octets noted for the head of the peer's message.
    pub(crate) head_octets: u32,
    /// The time of the next look whether anything takes too long.
    pub(crate) deadline: Option<Time>,
    /// The bounds that the deadline stands for.
    pub(crate) deadlines: StreamDeadlines,
    /// The time at which each phase of the exchange began, if it is timed.
    pub(crate) marks: Option<Marks>,
    pub(crate) waits: [Wait; 2],
    /// The stream's place among those that wait for room in the output.
    pub(crate) turn: Turn,
    /// The number of the call for which it was given a share of the output.
    pub(crate) used_call: u32,
    /// The octets it has used of that share.
    pub(crate) used_octets: usize,
}

/// The place of a stream among those that wait for room in the output (`room.rs`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Turn {
    /// It does not wait.
    #[default]
    None,
    /// It waits to be called.
    Waits,
    /// It was called, and has not waited again since.
    Called,
}

/// The facts about a request that its answer depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftNote {
    /// The request is HEAD: its answer has no content (RFC 9110 §9.3.2).
    pub is_head: bool,
    /// The peer takes JSON, by `accept`.
    pub takes_json: bool,
}

impl Default for Sides {
    fn default() -> Self {
        Self::NONE
    }
}

/// The request of a client, as far as it is kept for those who read of a failure.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a> {
    /// The method.
    pub method: &'a str,
    /// The path with its query.
    pub path: &'a str,
}

impl Slot {
    /// Notes what is asked for.
    #[inline]
    pub(crate) fn note(&mut self, noted: Noted<'_>) {
        self.asked.clear();
        // At once, and not piece by piece: of a new slot it would grow three times.
        self.asked.reserve(noted.method.len() + 1 + noted.path.len());
        self.asked.push_str(noted.method);
        self.asked.push(' ');
        self.asked.push_str(noted.path);
    }

    /// The request that was noted, if one was: on a server none is.
    pub(crate) fn noted(&self) -> Option<Noted<'_>> {
        let (method, path) = self.asked.split_once(' ')?;
        Some(Noted { method, path })
    }

    /// The handle runs: it no longer waits. True when it had been woken.
    #[inline]
    pub(crate) fn arrive(&mut self, side: Side) -> bool {
        self.waits[side as usize].end()
    }

    /// Returns the failure of content that is longer than is taken, once it is.
    #[inline]
    pub(crate) fn excess(&self) -> Option<Error> {
        let (received_max, octets_max) = self.received_max?;
        (self.received > received_max).then(|| Error::too_long(octets_max))
    }

    /// Returns true if the peer may be as slow as it likes: the handler allows it, and has accepted the request.
    pub(crate) fn is_exempt(&self) -> bool {
        self.may_be_slow && self.is_accepted
    }

    /// Returns true if the final head is here, not taken yet, and of 300 or more: the server wants no content any more.
    pub(crate) fn is_declined(&self) -> bool {
        let status = self.head.as_ref().and_then(|head| head.status());
        status.is_some_and(|status| status.as_u16() >= 300)
    }
}

/// Its life.
impl Slot {
    /// Belongs to a stream of the machine from now on, and to both its handles.
    #[inline]
    pub(crate) fn begin(&mut self, stream: StreamKey, heard: u64) {
        self.stream = Some(stream);
        self.held = Sides::BOTH;
        self.began_at = (self.received, self.sent);
        self.heard = heard;
    }

    /// Lets go of sides. Returns the number of callers on them that were woken, and will not run.
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

    /// Returns true if what is left to be sent is lost with these sides: with the writer, or with the response if that is read
    /// without a writer.
    pub(crate) fn is_cut_without(&self, sides: Sides) -> bool {
        match self.sends_no_more {
            false => sides.has(Sides::WRITE),
            true => self.held == Sides::NONE,
        }
    }

    /// Returns true if nothing more is received: the peer has ended its side, or the stream has failed.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended || self.failed.is_some()
    }

    /// Makes the slot ready for another stream; the generation moves on.
    pub(crate) fn recycle(&mut self) -> Content {
        self.generation = self.generation.wrapping_add(1);
        self.stream = None;
        self.held = Sides::NONE;
        self.ended = false;
        self.failed = None;
        self.deadline = None;
        self.marks = None;
        self.may_be_slow = false;
        self.is_accepted = false;
        self.expectation = Expectation::None;
        self.answered = None;
        self.left = None;
        self.answer_headers.take().into_iter().for_each(keep_head);
        self.is_tallied = false;
        self.user = None;
        self.received_max = None;
        self.is_told_to_go_on = false;
        self.sends_no_more = false;
        self.is_awaited = false;
        self.is_head_taken = false;
        self.turn = Turn::None;
        self.keeps_interim = false;
        self.interim.clear();
        if self.asked.capacity() > ASKED_KEPT_OCTETS {
            self.asked = String::new();
        }
        self.content.clear();
        std::mem::take(&mut self.content)
    }
}

/// Its memory.
impl Slot {
    /// Forgets all but the memory for what is asked, for a slot of another connection.
    pub(crate) fn leave(&mut self) {
        let mut asked = std::mem::take(&mut self.asked);
        asked.clear();
        *self = Self { asked, ..Self::default() };
    }
}

/// The pace of its peer.
impl Slot {
    /// Returns true if the peer's pace counts.
    pub(crate) fn is_judged(&self) -> bool {
        self.failed.is_none() && !self.is_exempt()
    }

    /// Returns true if more content may come, and somebody holds the reading side.
    pub(crate) fn may_receive(&self) -> bool {
        self.held.has(Sides::READ) && !self.ended
    }

    /// Returns true for each side that was waited for since this was last called: to read, to write.
    pub(crate) fn take_waited(&mut self) -> (bool, bool) {
        let [reads, writes] = &mut self.waits;
        (reads.take_waited(), writes.take_waited())
    }

    /// Looks how far the peer has come in what it owes: content, and room for content of ours. Returns the limit that it has run into.
    pub(crate) fn look_at_pace(&mut self, owes: [bool; 2], now: Time, least: LeastPace) -> Option<Overrun> {
        let (generation, moved) = (self.generation, [self.received, self.sent]);
        let mut overrun = None;
        for ((pace, owes), octets) in self.paces.iter_mut().zip(owes).zip(moved) {
            match owes {
                true => overrun = overrun.or(pace.look(generation, octets, now, least)),
                false => pace.rest(),
            }
        }
        overrun
    }

    /// Returns true if a caller waits for content, and has read all that came.
    pub(crate) fn is_starving(&self) -> bool {
        let waits = self.is_head_taken && self.waits[Side::Read as usize].is_waiting();
        waits && self.content.is_empty() && !self.has_ended()
    }

    /// Returns true if it has content that nobody has taken.
    pub(crate) fn is_unread(&self) -> bool {
        self.held.has(Sides::READ) && !self.content.is_empty()
    }
}

/// Deadlines, and the times of its phases.
impl Slot {
    /// Begins deadlines, and returns the time of the first look.
    pub(crate) fn set_deadlines(&mut self, deadlines: StreamDeadlines, now: Time) -> Option<Time> {
        self.deadlines = deadlines;
        self.deadline = deadlines.next(now);
        self.deadline
    }

    /// The head has come in time.
    #[inline]
    pub(crate) fn head_is_here(&mut self) {
        if let Some(deadline) = self.deadlines.head_is_here() {
            self.deadline = deadline;
        }
    }

    /// The time of the next look, while anything can take too long.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        self.deadline.filter(|_| self.stream.is_some() && !self.has_ended())
    }

    /// Returns the failure if anything has taken too long by now; if not, it notes when to look again.
    pub(crate) fn expire(&mut self, now: Time) -> Option<Error> {
        self.due().filter(|deadline| *deadline <= now)?;
        let waits = [Side::Read, Side::Write].map(|side| self.waits[side as usize].is_waiting());
        let late = self.deadlines.late(now, waits, self.received + self.sent);
        self.deadline = self.deadlines.next(now);
        late
    }

    /// The request is sent to its end.
    #[inline]
    pub(crate) fn mark_sent(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.sent = Some(Instant::now());
        }
    }

    /// The head of the response is taken, and with it the end if there is no content.
    #[inline]
    pub(crate) fn mark_head(&mut self, is_end: bool) {
        if let Some(marks) = &mut self.marks {
            marks.head = Some(Instant::now());
            marks.end = marks.head.filter(|_| is_end);
        }
    }

    /// The content of the response was taken to its end.
    #[inline]
    pub(crate) fn mark_end(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.end.get_or_insert_with(Instant::now);
        }
    }

    /// Returns the progress of the exchange.
    pub(crate) fn tally(&self) -> Tally {
        Tally {
            answered: self.answered.map(|(status, at)| (status, Duration::from_nanos(at.as_nanos()))),
            received: self.received - self.began_at.0,
            sent: self.sent - self.began_at.1,
            user: self.user.clone(),
            failure: self.failed.clone(),
        }
    }
}
