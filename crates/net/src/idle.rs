//! What a connection looks after now and then: whether its peer is too slow (`pace.rs`), whether it is idle and gives its
//! memory back, and whether it has lived or idled long enough.
//!
//! A connection is idle while no stream is open. PING, SETTINGS and WINDOW_UPDATE do not count as use. A client sets the bounds
//! with [`Keep`]; a server's come from `Limits::idle_timeout` and begin when the connection was accepted.
//!
//! Rule: a busy connection pays one comparison per run of its task for this. The task looks once in [`LOOK_AFTER`]; when
//! no stream was opened since it last looked and none is held, the spare buffers go, and it looks no more until the next
//! stream or until the connection is to end, unless the socket is full.

use std::{sync::Arc, time::Duration};

use alula_fields::Time;

use crate::{conn::Conn, shared::Shared};

/// How long between two looks, and so how long no stream may be opened before a connection gives memory back; less where
/// peers have less time than this to be slow in.
pub(crate) const LOOK_AFTER: Duration = Duration::from_secs(1);

/// The time that a client keeps a connection. One that is kept no longer takes no more streams, and ends with its last.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// How long without a stream; [`Duration::MAX`] is for ever.
    pub idle: Duration,
    /// How long in all; [`Duration::MAX`] is for ever.
    pub life: Duration,
    /// The time that a caller waits for content while responses that are not read hold all that the peer may send;
    /// [`Duration::MAX`] is for ever.
    pub unread: Duration,
}

/// Is told when a connection becomes idle, and when it is used again.
///
/// Both are called while the connection is locked, so an implementation does memory work only.
pub trait IdleObserver: Send + Sync {
    /// Called when no stream has been open for about a second, or since the connection began.
    fn idle(&self);

    /// Called when a stream is opened on a connection that was idle.
    fn busy(&self);
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
    /// The time that the connection is kept without a stream.
    rest: Option<Duration>,
    /// When a client keeps it no longer.
    life_ends: Option<Time>,
    /// The connection was found idle, and no stream was opened since.
    is_idle: bool,
    observer: Option<Arc<dyn IdleObserver>>,
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
    /// Returns true if nothing has happened for a while.
    pub(crate) const fn lies_idle(&self) -> bool {
        self.is_idle
    }

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
        shared.starving.allow(keep.unread);
        shared.idleness.life_ends = Some(now.saturating_add(keep.life));
        shared.idleness.next = Look::Never;
        shared.look_soon();
        shared.wake_task();
        self.unlock_and_wake(shared);
    }

    /// Begins the idle time of a server's connection, at the instant at which its time began.
    pub(crate) fn begin_idle_time(&self, timeout: Duration, observer: Option<Arc<dyn IdleObserver>>) {
        let mut shared = self.lock();
        let idleness = &mut shared.idleness;
        (idleness.rests_since, idleness.rest, idleness.observer) =
            (Some(Time::ZERO), Some(timeout), observer);
        // A stream that came with the handshake has been noted already.
        idleness.next = Look::Never;
        shared.look_soon();
    }

    /// Ends a server's connection if no stream is open on it and all of its output was taken; over HTTP/2 a GOAWAY with
    /// NO_ERROR says so. Returns false, and changes nothing, otherwise.
    pub fn retire_idle(&self) -> bool {
        let mut shared = self.lock();
        let is_idle = shared.is_idle() && !shared.blocked;
        if is_idle {
            shared.retire();
        }
        self.unlock_and_wake(shared);
        is_idle
    }

    /// Returns true if a stream was ever opened on the connection.
    pub fn is_used(&self) -> bool {
        self.lock().idleness.opened > 0
    }

    /// Returns true if no stream is held by a handle.
    pub fn has_no_streams(&self) -> bool {
        self.lock().is_idle()
    }
}

/// A part of a time, and no more than `most`. Dividing is what costs here, and is mostly not needed.
pub(crate) fn part_of(time: Duration, parts: u32, most: Duration) -> Duration {
    const { assert!(LOOK_AFTER.as_secs() == 1) };
    if time.as_secs() >= u64::from(parts) && most <= LOOK_AFTER { most } else { most.min(time / parts) }
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
            self.look_again();
        }
    }

    fn look_again(&mut self) {
        self.idleness.next = Look::Soon(self.now.saturating_add(self.look_after()));
        if let (true, Some(observer)) = (std::mem::take(&mut self.idleness.is_idle), &self.idleness.observer)
        {
            observer.busy();
        }
    }

    /// How often to look: a few times within what there is time for.
    fn look_after(&self) -> Duration {
        let Idleness { rest, life_ends, .. } = &self.idleness;
        let life = life_ends.map(|at| at.saturating_since(Time::ZERO));
        let least =
            [*rest, life].into_iter().flatten().fold(LOOK_AFTER, |least, time| part_of(time, 8, least));
        self.least.look_after().min(least.max(LOOK_AFTER / 100))
    }

    /// Looks whether the peer is too slow, and whether the connection is to end, and gives memory back when nothing has
    /// happened for a while.
    pub(crate) fn look_around(&mut self, now: Time) {
        let Some(due) = self.idleness.look_at().filter(|due| *due <= now) else { return };
        if now.saturating_since(due) <= LOOK_AFTER {
            self.look_for_slow_peer(now);
        } else {
            // This side was held up: what its peer did meanwhile may still wait in the socket.
            self.rest_paces();
        }
        self.look_for_starving(now);
        let is_discarding = self.machine.discarding().is_some();
        if self.is_idle() && self.idleness.opened == self.idleness.seen && !self.blocked && !is_discarding {
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
        self.idleness.rests_since.get_or_insert(now);
        if !std::mem::replace(&mut self.idleness.is_idle, true) {
            self.trim();
            if let Some(observer) = &self.idleness.observer {
                observer.idle();
            }
        }
        self.idleness.next = self.idleness.ends_at().map_or(Look::Never, Look::Late);
    }

    /// Takes no more streams. A server says so to its peer; a client's callers that wait to open one look for another connection.
    fn retire(&mut self) {
        self.idleness.life_ends = None;
        self.idleness.rest = None;
        self.stop_taking_streams();
        if !self.machine.is_client() {
            self.machine.goaway(false);
        }
    }
}
