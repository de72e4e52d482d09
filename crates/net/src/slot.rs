//! What one stream holds above the machine: received content, who waits for what, and how it ended.
//!
//! A slot is lent to the handles of a stream and used again when the last of them is dropped. The machine may
//! forget its stream earlier; the slot then still holds what was received.

use std::task::Waker;

use alula_fields::{Head, Time};
use alula_h2::StreamKey;

use crate::{error::Error, pace::Pace};

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

/// What a handle waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    /// A head, content or trailers.
    Read,
    /// Room to send.
    Write,
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
    pub(crate) content: Vec<u8>,
    pub(crate) trailers: Option<Box<Head>>,
    pub(crate) failed: Option<Error>,
    /// The octets of content that came and went since the slot exists, over all its streams.
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// Whether the peer keeps up, by side.
    pub(crate) paces: [Pace; 2],
    /// Nobody minds if it does not.
    pub(crate) may_be_slow: bool,
    /// What was charged for the head of the request.
    pub(crate) head_octets: u32,
    pub(crate) deadline: Option<Time>,
    /// The deadline holds for the head only.
    pub(crate) deadline_for_head: bool,
    waits: [Wait; 2],
}

impl Default for Sides {
    fn default() -> Self {
        Self::NONE
    }
}

/// A handle's place to be woken.
#[derive(Default)]
struct Wait {
    waker: Option<Waker>,
    state: WaitState,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum WaitState {
    #[default]
    Away,
    /// Waits to be woken.
    Waiting,
    /// Was woken and has not run since.
    Woken,
}

impl Slot {
    /// Notes that the handle waits.
    #[inline]
    pub(crate) fn wait(&mut self, side: Side, waker: &Waker) {
        let wait = &mut self.waits[side as usize];
        wait.state = WaitState::Waiting;
        match &mut wait.waker {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// The waker of a handle that waits; it counts as woken from here on.
    #[inline]
    pub(crate) fn wake(&mut self, side: Side) -> Option<Waker> {
        let wait = &mut self.waits[side as usize];
        if wait.state != WaitState::Waiting {
            return None;
        }
        wait.state = WaitState::Woken;
        wait.waker.take()
    }

    #[inline]
    pub(crate) fn is_waiting(&self, side: Side) -> bool {
        self.waits[side as usize].state == WaitState::Waiting
    }

    /// The handle runs: it no longer waits. True when it had been woken.
    #[inline]
    pub(crate) fn arrive(&mut self, side: Side) -> bool {
        let wait = &mut self.waits[side as usize];
        std::mem::take(&mut wait.state) == WaitState::Woken
    }

    /// Makes the slot ready for another stream; the generation moves on.
    pub(crate) fn recycle(&mut self) -> Vec<u8> {
        self.generation = self.generation.wrapping_add(1);
        self.stream = None;
        self.held = Sides::NONE;
        self.ended = false;
        self.failed = None;
        self.deadline = None;
        self.may_be_slow = false;
        self.content.clear();
        std::mem::take(&mut self.content)
    }
}
