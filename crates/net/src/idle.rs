//! What a connection looks after now and then: whether its peer is too slow (`pace.rs`), whether it is idle and gives its
//! memory back, and whether a client's has lived or idled long enough.
//!
//! Rule: a busy connection pays one comparison per run of its task for this. The task looks once in [`LOOK_AFTER`]; when
//! no stream was opened since it last looked and none is held, the spare buffers go, and it looks no more until the next
//! stream or until the connection is to end, unless the socket is full.

use std::time::Duration;

use alula_fields::Time;

use crate::{conn::Conn, shared::Shared};

/// How long between two looks, and so how long no stream may be opened before a connection gives memory back; less where
/// peers have less time than this to be slow in.
pub(crate) const LOOK_AFTER: Duration = Duration::from_secs(1);

/// How long a client keeps a connection. One that is kept no longer takes no more streams, and ends with its last.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// How long without a stream; [`Duration::MAX`] is for ever.
    pub idle: Duration,
    /// How long in all; [`Duration::MAX`] is for ever.
    pub life: Duration,
}

/// What is remembered to tell an idle connection from a busy one.
#[derive(Default)]
pub(crate) struct Idleness {
    /// Streams opened so far.
    opened: u64,
    /// Streams that had been opened when the task last looked.
    seen: u64,
    next: Look,
    /// Since when nothing has happened, as far as looks have told.
    rests_since: Option<Time>,
    /// How long a client keeps the connection without a stream.
    rest: Option<Duration>,
    /// When a client keeps it no longer.
    life_ends: Option<Time>,
}

/// When the task looks next.
#[derive(Clone, Copy, Default)]
enum Look {
    /// Nothing has happened since it looked last, and nothing is to end.
    #[default]
    Never,
    /// Something has happened.
    Soon(Time),
    /// Nothing has happened; then the connection is to end.
    Late(Time),
}

impl Idleness {
    /// When the task looks next, unless nothing has happened since it looked last.
    pub(crate) fn look_at(&self) -> Option<Time> {
        match self.next {
            Look::Never => None,
            Look::Soon(at) | Look::Late(at) => Some(at),
        }
    }

    /// When the connection has rested or lived long enough.
    fn ends_at(&self) -> Option<Time> {
        let rested = self.rests_since.zip(self.rest).map(|(since, rest)| since.saturating_add(rest));
        [rested, self.life_ends].into_iter().flatten().min().filter(|at| *at < Time::FAR)
    }
}

impl Conn {
    /// Keeps it so long from now on: on a client, where its standby task looks after it.
    pub fn keep(&self, keep: Keep) {
        let now = self.time();
        let mut shared = self.lock();
        shared.now = now;
        shared.idleness.rest = Some(keep.idle);
        shared.idleness.life_ends = Some(now.saturating_add(keep.life));
        shared.idleness.next = Look::Never;
        shared.look_soon();
        shared.wake_task();
        self.unlock_and_wake(shared);
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
        if !matches!(self.idleness.next, Look::Soon(_)) {
            self.idleness.next = Look::Soon(self.now.saturating_add(self.look_after()));
        }
    }

    /// How often to look: a few times within what there is time for.
    fn look_after(&self) -> Duration {
        let Idleness { rest, life_ends, .. } = &self.idleness;
        let life = life_ends.map(|at| at.saturating_since(Time::ZERO));
        let least = [*rest, life].into_iter().flatten().fold(LOOK_AFTER, |least, time| least.min(time / 8));
        self.least.look_after().min(least.max(LOOK_AFTER / 100))
    }

    /// Looks whether the peer is too slow, and whether the connection is to end, and gives memory back when nothing has
    /// happened for a while.
    pub(crate) fn look_around(&mut self, now: Time) {
        if self.idleness.look_at().is_none_or(|at| now < at) {
            return;
        }
        self.look_for_slow_peer(now);
        if self.is_idle() && self.idleness.opened == self.idleness.seen && !self.blocked {
            self.lie_idle(now);
        } else {
            self.idleness.seen = self.idleness.opened;
            self.idleness.rests_since = None;
            self.idleness.next = Look::Soon(now.saturating_add(self.look_after()));
        }
        if self.idleness.ends_at().is_some_and(|at| at <= now) {
            self.retire();
        }
    }

    /// Nothing has happened since the last look.
    fn lie_idle(&mut self, now: Time) {
        if self.idleness.rests_since.is_none() {
            self.idleness.rests_since = Some(now);
            self.trim();
        }
        self.idleness.next = self.idleness.ends_at().map_or(Look::Never, Look::Late);
    }

    /// Takes no more streams; who waits to open one looks for another connection.
    fn retire(&mut self) {
        self.idleness.life_ends = None;
        self.idleness.rest = None;
        self.stop_taking_streams();
    }
}
