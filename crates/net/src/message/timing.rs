//! The times of the steps of an exchange, and of opening its connection.

use tokio::time::Instant;

/// The times of the steps in which a connection was opened.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// The time at which it began.
    pub began: Instant,
    /// The time at which the addresses were known; none if they were not looked up.
    pub resolved: Option<Instant>,
    /// The time at which the transport was open, including that to a proxy.
    pub connected: Option<Instant>,
    /// The time at which TLS was agreed on, if it is spoken.
    pub secured: Option<Instant>,
}

/// The time at which each phase of an exchange began.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// The time at which the call began.
    pub began: Instant,
    /// The time at which a connection had taken the request.
    pub queued: Instant,
    /// The time at which the last byte of the request was handed to the connection.
    pub sent: Option<Instant>,
    /// The time at which the head of the response was here.
    pub head: Option<Instant>,
    /// The time at which the last byte of the response was handed over.
    pub end: Option<Instant>,
}

impl Marks {
    /// Records that the request was completely sent.
    #[inline]
    pub(crate) fn request_is_sent(&mut self) {
        self.sent = Some(Instant::now());
    }

    /// Records that the head of the response was taken, and the end if nothing follows.
    #[inline]
    pub(crate) fn head_is_taken(&mut self, is_end: bool) {
        self.head = Some(Instant::now());
        self.end = self.head.filter(|_| is_end);
    }

    /// Records that the content of the response was taken to its end.
    #[inline]
    pub(crate) fn content_is_taken(&mut self) {
        self.end.get_or_insert_with(Instant::now);
    }
}

impl Opened {
    /// Creates the times of an exchange that began at this instant.
    pub const fn begun_at(began: Instant) -> Self {
        Self { began, resolved: None, connected: None, secured: None }
    }
}
