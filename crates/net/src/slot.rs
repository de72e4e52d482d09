//! What one stream holds above the machine: received content, who waits for what, and how it ended.
//!
//! A slot is lent to the handles of a stream and used again when the last of them is dropped. The machine may
//! forget its stream earlier; the slot then still holds what was received.

use std::collections::VecDeque;

use alula_fields::{Head, StreamKey, Time};

use crate::{
    content::Content,
    deadlines::Terms,
    error::Error,
    hand_over::{Side, Wait, Waits},
    pace::Pace,
    timing::Marks,
};

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

#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) generation: u32,
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
    /// How often something had come on the connection when the stream was opened.
    pub(crate) heard: u64,
    /// The octets of content that came and went since the slot exists, over all its streams.
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// Whether the peer keeps up, by side.
    pub(crate) paces: [Pace; 2],
    /// Nobody minds if it does not.
    pub(crate) may_be_slow: bool,
    /// The client waits to be told before it sends its content, and was not told.
    pub(crate) expects_continue: bool,
    /// The server has told us to send our content.
    pub(crate) is_told_to_go_on: bool,
    /// Somebody has waited for the head.
    pub(crate) is_awaited: bool,
    /// Interim responses are kept for who waits, in the order in which they came; until somebody waits they are as well, since
    /// the first may come before it is known whether anybody wants to hear of them.
    pub(crate) keeps_interim: bool,
    pub(crate) interim: VecDeque<Box<Head>>,
    /// What was charged for the head of the request.
    pub(crate) head_octets: u32,
    /// When to look whether anything takes too long.
    pub(crate) deadline: Option<Time>,
    /// What the deadline stands for.
    pub(crate) terms: Terms,
    /// When the exchange came how far, if it is timed.
    pub(crate) marks: Option<Marks>,
    pub(crate) waits: [Wait; 2],
}

impl Default for Sides {
    fn default() -> Self {
        Self::NONE
    }
}

impl Slot {
    /// The handle runs: it no longer waits. True when it had been woken.
    #[inline]
    pub(crate) fn arrive(&mut self, side: Side) -> bool {
        self.waits[side as usize].end()
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
        self.expects_continue = false;
        self.is_told_to_go_on = false;
        self.is_awaited = false;
        self.keeps_interim = false;
        self.interim.clear();
        self.content.clear();
        std::mem::take(&mut self.content)
    }
}

impl Waits for Vec<Slot> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn wait(&mut self, slot: usize, side: Side) -> &mut Wait {
        &mut self[slot].waits[side as usize]
    }
}
