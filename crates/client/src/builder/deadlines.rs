//! The time limits of calls.

use std::time::Duration;

use super::ClientBuilder;

/// The time that a call waits for one of its origin's connections. Those that are held by responses which
/// nobody reads are never free again.
const QUEUE: Duration = Duration::from_secs(30);

/// The time limits of every call, unless it has its own.
#[derive(Clone, Copy)]
pub(crate) struct Deadlines {
    /// The limit of the whole call.
    pub(crate) total: Option<Duration>,
    /// The limit of the wait for a free connection; opening one for this call has its own limit.
    pub(crate) queue: Option<Duration>,
    /// The limit of the wait for the response head after the request head was sent.
    pub(crate) head: Option<Duration>,
    /// The longest time without progress on content, in either direction.
    pub(crate) idle: Option<Duration>,
    /// True if the times of the steps are recorded.
    pub(crate) timing: bool,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { total: None, queue: Some(QUEUE), head: None, idle: None, timing: false }
    }
}

/// The settings of time limits.
impl ClientBuilder {
    /// Sets the time that a call may wait until a connection to its origin is free, if there may be no more,
    /// or until the server allows another stream; 30 seconds unless set, and unlimited with
    /// [`Duration::MAX`]. Opening a connection has [a deadline of its own](Self::connect_timeout).
    ///
    /// The call then fails in [`Phase::Queue`](crate::Phase::Queue); nothing was sent. The error
    /// [says](crate::Error::occupied) what holds the connections: a response holds one, or a stream of one, until its content
    /// was read to its end or it is dropped.
    ///
    /// A call over HTTP/2 that has its response waits as long for content that cannot come, since responses
    /// that are not read hold the whole window of the connection. It fails in
    /// [`Phase::Content`](crate::Phase::Content) then.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().queue_timeout(Duration::from_secs(5)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn queue_timeout(mut self, after: Duration) -> Self {
        self.settings.deadlines.queue = Some(after);
        self
    }

    /// Sets the time that a call may wait for the head of its response; unlimited unless set.
    #[must_use]
    pub fn head_timeout(mut self, after: Duration) -> Self {
        self.settings.deadlines.head = Some(after);
        self
    }

    /// Sets the time that a call may take from its start to the end of the content; unlimited unless set.
    #[must_use]
    pub fn timeout(mut self, after: Duration) -> Self {
        self.settings.deadlines.total = Some(after);
        self
    }

    /// Sets the longest time without progress on content, of the request or of the response; unlimited unless
    /// set. Content that nobody asks for may take its time.
    ///
    /// It is looked at four times within that time, so it may be a quarter more. The call then fails in
    /// [`Phase::Send`](crate::Phase::Send) or [`Phase::Content`](crate::Phase::Content).
    #[must_use]
    pub fn read_timeout(mut self, after: Duration) -> Self {
        self.settings.deadlines.idle = Some(after);
        self
    }

    /// Sets whether the times of every call's steps are recorded, for
    /// [`Response::timing`](crate::Response::timing); false unless set. It reads the clock a few times per
    /// call, and allocates nothing.
    #[must_use]
    pub fn timing(mut self, on: bool) -> Self {
        self.settings.deadlines.timing = on;
        self
    }
}
