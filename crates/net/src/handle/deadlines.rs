//! The time that the caller gives an exchange; `connection/stream_deadlines.rs` holds it against the clock.

use std::time::Duration;

use tokio::time::Instant;

use crate::{connection::stream::deadlines::StreamDeadlines, handle::stream::Stream};

/// The time limits of an exchange and its parts; `None` is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadlines {
    /// The time by which the response has to be complete.
    pub ends_at: Option<Instant>,
    /// The duration that the caller gave for the whole, for messages.
    pub total: Option<Duration>,
    /// The time that the head may take from now on.
    pub head: Option<Duration>,
    /// The longest time without progress on content that is waited for, in either direction.
    pub idle: Option<Duration>,
}

impl Deadlines {
    /// Returns true if there is a limit.
    #[inline]
    pub const fn are_any(&self) -> bool {
        self.ends_at.is_some() || self.head.is_some() || self.idle.is_some()
    }
}

impl Stream {
    /// Sets the time limits after which the stream fails.
    pub fn set_deadlines(&self, deadlines: Deadlines) {
        let conn = self.conn();
        let now = conn.time();
        let ends_after = deadlines.ends_at.map(|at| at.saturating_duration_since(Instant::now()));
        let mut connection = conn.lock();
        let Some(slot) = connection.slots.get(self.at()) else { return };
        let moved = slot.counts.moved().iter().sum();
        let deadlines =
            StreamDeadlines::new(now, (ends_after, deadlines.total), deadlines.head, deadlines.idle, moved);
        let next = slot.set_deadlines(deadlines);
        if let Some(next) = next.filter(|next| connection.next_deadline.is_none_or(|earlier| *next < earlier))
        {
            connection.next_deadline = Some(next);
            connection.wake_task();
        }
        conn.unlock_and_wake(connection);
    }
}
