//! The time that each step of a call took.

use std::time::Duration;

use alula_net::{Marks, Opened};
use tokio::time::Instant;

use crate::response::Response;

/// The time of each step of a call, counted from its beginning.
///
/// The first step includes the time of redirects and earlier tries. A call that found a connection open did
/// not wait for one to be opened, and has none of these steps.
///
/// ```no_run
/// # async fn main_() -> Result<(), alula::Error> {
/// # let client = alula::Client::new()?;
/// let mut response = client.get("https://example.com/").timed().send().await?;
/// while response.body().chunk().await?.is_some() {}
/// if let Some(timing) = response.timing() {
///     println!("head after {:?}, end after {:?}", timing.head, timing.end);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timing {
    /// The time at which a connection had taken the request.
    pub queued: Duration,
    /// The time at which the addresses of the host were known; none if they were not looked up for this call.
    pub resolved: Option<Duration>,
    /// The time at which the connection was open, a proxy's part included; none if it was there before.
    pub connected: Option<Duration>,
    /// The time at which TLS was agreed on; none in clear text, and if the connection was there before.
    pub secured: Option<Duration>,
    /// The time at which the last byte of the request was handed to the connection; none while it has not
    /// been.
    pub sent: Option<Duration>,
    /// The time at which the head of the response was here.
    pub head: Duration,
    /// The time at which the last byte of the response was read; none while it has not been.
    pub end: Option<Duration>,
    is_reused: bool,
}

impl Timing {
    /// Returns true if the connection was opened before the call began.
    pub const fn is_reused(&self) -> bool {
        self.is_reused
    }

    fn of(marks: &Marks, opened: Option<Opened>) -> Self {
        let after = |at: Instant| at.saturating_duration_since(marks.began);
        // Steps that were over when the call began were not waited for.
        let step = |at: Option<Instant>| at.filter(|at| *at > marks.began).map(after);
        let opened = opened.unwrap_or(Opened::begun_at(marks.began));
        let last = opened.secured.or(opened.connected);
        Self {
            queued: after(marks.queued),
            resolved: step(opened.resolved),
            connected: step(opened.connected),
            secured: step(opened.secured),
            sent: marks.sent.map(after),
            head: after(marks.head.unwrap_or(marks.queued)),
            end: marks.end.map(after),
            is_reused: last.is_none_or(|last| last <= marks.began),
        }
    }
}

impl Response {
    /// Returns the times of the steps, if [the call](crate::Call::timed) or [the
    /// client](crate::ClientBuilder::timing) asked for them. It is known as far as the content was read.
    /// Allocates nothing.
    pub fn timing(&self) -> Option<Timing> {
        let (marks, opened) = self.marks()?;
        Some(Timing::of(&marks, opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_that_was_there_before_has_no_steps() {
        let second = Duration::from_secs(1);
        let start = Instant::now();
        let opened = Opened {
            began: start,
            resolved: Some(start + second),
            connected: Some(start + 2 * second),
            secured: None,
        };
        let marks = |began| Marks {
            began,
            queued: start + 3 * second,
            sent: Some(start + 3 * second),
            head: Some(start + 4 * second),
            end: None,
        };
        let timing = Timing::of(&marks(start), Some(opened));
        let steps = [timing.resolved, timing.connected, timing.secured];
        assert_eq!((steps, timing.is_reused()), ([Some(second), Some(2 * second), None], false));
        assert_eq!((timing.queued, timing.head, timing.end), (3 * second, 4 * second, None));
        let timing = Timing::of(&marks(start + 3 * second), Some(opened));
        assert_eq!(([timing.resolved, timing.connected], timing.is_reused()), ([None, None], true));
        assert_eq!((timing.queued, timing.head), (Duration::ZERO, second));
        // A call that began while the connection was being opened waited for what was left of it.
        let timing = Timing::of(&marks(start + second * 3 / 2), Some(opened));
        assert_eq!(
            ([timing.resolved, timing.connected], timing.is_reused()),
            ([None, Some(second / 2)], false)
        );
    }
}
