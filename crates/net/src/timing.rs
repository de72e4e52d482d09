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
    /// The time at which the last octet of the request was handed to the connection.
    pub sent: Option<Instant>,
    /// The time at which the head of the response was here.
    pub head: Option<Instant>,
    /// The time at which the last octet of the response was handed over.
    pub end: Option<Instant>,
}

impl Opened {
    /// It began then.
    pub const fn begun_at(began: Instant) -> Self {
        Self { began, resolved: None, connected: None, secured: None }
    }
}
