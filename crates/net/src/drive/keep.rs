//! The time for which a connection is kept, and its end when it is idle or stuck.

use std::{sync::Arc, time::Duration};

use crate::{connection::checks::idle::IdleObserver, drive::shared::Conn, error::limit::Overrun};

/// The times for which a client keeps a connection. One that is kept no longer takes no more streams, and
/// ends with its last.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// The longest time without a stream; [`Duration::MAX`] is for ever.
    pub idle: Duration,
    /// The longest life; [`Duration::MAX`] is for ever.
    pub life: Duration,
    /// The longest time that a caller waits for content while unread responses hold all that the peer may
    /// send; [`Duration::MAX`] is for ever.
    pub unread: Duration,
}

impl Conn {
    /// Sets these times, on a client, whose standby task checks them.
    pub fn keep(&self, keep: Keep) {
        let now = self.time();
        let mut connection = self.lock();
        connection.now = now;
        connection.idleness.keep(now, keep.idle, keep.life);
        connection.starvation.allow(keep.unread);
        connection.look_soon();
        connection.wake_task();
        self.unlock_and_wake(connection);
    }

    /// Begins the idle time of a server's connection, at the instant at which its time began.
    pub(crate) fn begin_idle_time(&self, timeout: Duration, observer: Option<Arc<dyn IdleObserver>>) {
        let mut connection = self.lock();
        connection.idleness.begin(timeout, observer);
        // The memory of the first bytes is charged already.
        connection.tell_if_heavy();
        connection.look_soon();
    }

    /// Ends a server's connection if no stream is open on it and all of its output was taken; over HTTP/2 a
    /// GOAWAY with NO_ERROR says so. Returns false, and changes nothing, otherwise.
    pub fn retire_idle(&self) -> bool {
        let mut connection = self.lock();
        let is_idle = connection.is_unused() && !connection.output.is_blocked();
        if is_idle {
            connection.retire();
        }
        self.unlock_and_wake(connection);
        is_idle
    }

    /// Returns true if a stream was ever opened on the connection.
    pub fn is_used(&self) -> bool {
        self.lock().idleness.is_used()
    }

    /// Returns true if no stream is held by a handle.
    pub fn has_no_streams(&self) -> bool {
        self.lock().is_unused()
    }

    /// Returns the number of streams that are held by handles.
    pub fn streams_held(&self) -> u32 {
        self.lock().slots.used_count()
    }

    /// Ends a server's connection that holds much and moves little while memory is scarce; returns true if it
    /// did. The first call of several begins to measure how much it moves.
    pub fn end_if_stuck(&self) -> bool {
        let now = self.time();
        let mut connection = self.lock();
        let (moved, held) = (connection.fed + connection.output.taken(), connection.held.bytes());
        let is_stuck = connection.progress.is_stuck(now, moved, held);
        if is_stuck {
            connection.now = now;
            connection.give_up(Overrun::HELD_TOO_LONG);
        }
        self.unlock_and_wake(connection);
        is_stuck
    }
}
