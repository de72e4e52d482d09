//! How long a call may take, in all and in its parts.

use std::time::Duration;

use super::ClientBuilder;

/// The deadlines of every call, unless it has its own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Deadlines {
    /// The whole call.
    pub(crate) total: Option<Duration>,
    /// From the sent head to that of the response.
    pub(crate) head: Option<Duration>,
}

impl ClientBuilder {
    /// How long a call may wait for the head of its response; without bound unless set.
    #[must_use]
    pub fn head_deadline(mut self, after: Duration) -> Self {
        self.settings.deadlines.head = Some(after);
        self
    }

    /// How long a call may take from its start to the end of its content; without bound unless set.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.settings.deadlines.total = Some(after);
        self
    }
}
