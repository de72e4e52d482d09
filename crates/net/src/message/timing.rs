//! The times of what happened: on one stream, and while its connection was opened.

use tokio::time::Instant;

/// The times of the steps by which a connection was opened.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// The time at which it began.
    pub began: Instant,
    /// The time at which the addresses were known; none if they were not looked up.
    pub resolved: Option<Instant>,
    /// The time at which the transport was open, a proxy's part included.
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
    /// The request is sent to its end.
    #[inline]
    pub(crate) fn request_is_sent(&mut self) {
        self.sent = Some(Instant::now());
    }

    /// The head of the response is taken, and with it the end if nothing follows.
    #[inline]
    pub(crate) fn head_is_taken(&mut self, is_end: bool) {
        self.head = Some(Instant::now());
        self.end = self.head.filter(|_| is_end);
    }

    /// The content of the response was taken to its end.
    #[inline]
    pub(crate) fn content_is_taken(&mut self) {
        self.end.get_or_insert_with(Instant::now);
    }
}

impl Opened {
    /// It began then.
    pub const fn begun_at(began: Instant) -> Self {
        Self { began, resolved: None, connected: None, secured: None }
    }
}
