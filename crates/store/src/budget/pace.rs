//! The pace that a transfer keeps while others wait for the room that it holds.
//!
//! Rule: time is a credit. It begins with two seconds, what moves adds to it, and what has moved pays for a
//! pause of half a minute at most. While nobody waits, it is never used up.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Budget, TooSlow};

/// The bytes in each second that a transfer has to move on average.
const PACE_BYTES: u64 = 256 * 1024;

/// The time that a transfer may lag: at its beginning, once it got room that it waited for, and when others
/// begin to wait.
const GRACE: Duration = Duration::from_secs(2);

/// The longest pause that earlier progress pays for.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The pace of one transfer.
#[derive(Debug)]
pub(crate) struct Pace<'b> {
    budget: &'b Budget,
    /// The moment at which the credit is used up.
    end: Instant,
    /// The bytes that have moved and are not added to the credit yet.
    moved: u64,
}

impl<'b> Pace<'b> {
    pub(super) fn begin(budget: &'b Budget) -> Self {
        Self { budget, end: Instant::now() + GRACE, moved: 0 }
    }

    /// Returns the pace of a transfer of so many bytes whose progress is not seen before it has ended.
    pub(super) fn of_whole(budget: &'b Budget, bytes: u64) -> Self {
        Self { budget, end: Instant::now() + GRACE + time_of(bytes), moved: 0 }
    }

    /// Counts bytes that have moved.
    pub(crate) fn moved(&mut self, bytes: usize) {
        self.moved += bytes as u64;
    }

    /// Begins anew after a wait that the peer did not cause.
    pub(crate) fn go_on(&mut self) {
        self.end = self.end.max(Instant::now() + GRACE);
    }

    /// Awaits a part of a transfer. Reads no clock if that is ready. Allocates nothing.
    ///
    /// # Errors
    /// The transfer is slow, and others wait.
    pub(crate) async fn part<F: Future>(&mut self, part: F) -> Result<F::Output, TooSlow> {
        let mut part = pin!(part);
        let ready = std::future::poll_fn(|cx| match part.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Poll::Ready(None),
        });
        if let Some(output) = ready.await {
            return Ok(output);
        }
        if self.moved > 0 {
            self.settle();
        }
        loop {
            match timeout_at(self.end, part.as_mut()).await {
                Ok(output) => return Ok(output),
                Err(_) if self.budget.others_wait() => return Err(TooSlow),
                Err(_) => self.go_on(),
            }
        }
    }

    fn settle(&mut self) {
        let earned = time_of(std::mem::take(&mut self.moved));
        self.end = (self.end + earned).min(Instant::now() + PAUSE_MAX);
    }
}

/// Returns the time in which so many bytes move at the pace.
const fn time_of(bytes: u64) -> Duration {
    Duration::from_millis(bytes.saturating_mul(1_000) / PACE_BYTES)
}
