//! When what happened: on one stream, and while its connection was opened.
//!
//! Rule: a stream that nobody times pays one comparison for this where its head is taken, and one where its content ends.

use tokio::time::Instant;

use crate::{conn::Conn, slot::Slot, stream::Stream};

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

impl Conn {
    /// Keeps when it was opened; the first word stands. Without TLS there is nothing that was secured.
    pub fn was_opened(&self, opened: Opened) {
        let secured = opened.secured.filter(|_| self.is_secured());
        let _ = self.opened.set(Opened { secured, ..opened });
    }

    /// Returns true if the connection is over TLS.
    #[cfg(feature = "tls")]
    pub fn is_secured(&self) -> bool {
        self.lock().tls.is_some()
    }

    /// Returns true if the connection is over TLS.
    #[cfg(not(feature = "tls"))]
    pub const fn is_secured(&self) -> bool {
        false
    }
}

impl Stream {
    /// Returns the times at which its connection was opened, if they were kept. Allocates nothing.
    pub fn opened(&self) -> Option<Opened> {
        self.conn().opened.get().copied()
    }

    /// Times the exchange, of a call that began then. `is_sent` says that the request has no content.
    pub fn time_since(&self, began: Instant, is_sent: bool) {
        let queued = Instant::now();
        let sent = is_sent.then_some(queued);
        self.with_slot(|slot| slot.marks = Some(Marks { began, queued, sent, head: None, end: None }));
    }

    /// Returns the time of each phase, if it is timed. Allocates nothing.
    pub fn marks(&self) -> Option<Marks> {
        self.with_slot(|slot| slot.marks).flatten()
    }
}

impl Slot {
    /// The request is sent to its end.
    #[inline]
    pub(crate) fn mark_sent(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.sent = Some(Instant::now());
        }
    }

    /// The head of the response is taken, and with it the end if there is no content.
    #[inline]
    pub(crate) fn mark_head(&mut self, is_end: bool) {
        if let Some(marks) = &mut self.marks {
            marks.head = Some(Instant::now());
            marks.end = marks.head.filter(|_| is_end);
        }
    }

    /// The content of the response was taken to its end.
    #[inline]
    pub(crate) fn mark_end(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.end.get_or_insert_with(Instant::now);
        }
    }
}
