//! What a connection looks after now and then: whether its peer is too slow (`pace.rs`), and whether it is idle and gives its
//! memory back.
//!
//! Rule: a busy connection pays one comparison per run of its task for this. The task looks once in [`LOOK_AFTER`]; when
//! no stream was opened since it last looked and none is held, the spare buffers go, and it looks no more until the next
//! stream, unless the socket is full.

use std::time::Duration;

use alula_fields::Time;

use crate::shared::Shared;

/// How long between two looks, and so how long no stream may be opened before a connection gives memory back; less where
/// peers have less time than this to be slow in.
pub(crate) const LOOK_AFTER: Duration = Duration::from_secs(1);

/// What is remembered to tell an idle connection from a busy one.
#[derive(Default)]
pub(crate) struct Idleness {
    /// Streams opened so far.
    opened: u64,
    /// Streams that had been opened when the task last looked.
    seen: u64,
    look_at: Option<Time>,
}

impl Idleness {
    /// When the task looks next, unless nothing has happened since it looked last.
    pub(crate) fn look_at(&self) -> Option<Time> {
        self.look_at
    }
}

impl Shared {
    /// Notes that a stream was opened.
    pub(crate) fn note_stream(&mut self) {
        self.idleness.opened += 1;
        self.look_soon();
    }

    /// There is something to look after.
    #[inline]
    pub(crate) fn look_soon(&mut self) {
        if self.idleness.look_at.is_none() {
            self.idleness.look_at = Some(self.now.saturating_add(self.least.look_after()));
        }
    }

    /// Looks whether the peer is too slow, and gives memory back when nothing has happened for a while.
    pub(crate) fn look_around(&mut self, now: Time) {
        if self.idleness.look_at.is_none_or(|at| now < at) {
            return;
        }
        self.look_for_slow_peer(now);
        if self.is_idle() && self.idleness.opened == self.idleness.seen && !self.blocked {
            self.trim();
            self.idleness.look_at = None;
        } else {
            self.idleness.seen = self.idleness.opened;
            self.idleness.look_at = Some(now.saturating_add(self.least.look_after()));
        }
    }
}
