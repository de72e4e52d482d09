//! The deadlines of a call's wait for a connection, and its error.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use alula_net::{Cause, Error, Phase, Retry};
use tokio::time::{Instant, timeout_at};

use crate::pool::opening::Opening;

/// The deadlines of a call that has no connection yet. The clock is read only once it waits for one.
pub(crate) struct QueueDeadlines {
    /// The time at which the call has to end.
    ends_at: Option<Instant>,
    /// The time that it may wait until a connection is free.
    queue: Option<Duration>,
    /// The end of that time, once the wait has begun.
    queue_ends_at: Option<Instant>,
}

impl QueueDeadlines {
    pub(crate) fn new(ends_at: Option<Instant>, queue: Option<Duration>) -> Self {
        Self { ends_at, queue, queue_ends_at: None }
    }

    /// Waits for a connection that is being opened. That has a deadline of its own, and is not waiting in the
    /// queue.
    pub(crate) async fn while_opening<T>(
        &self,
        opening: &Opening,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        within((self.ends_at, None), || opening.phase(), work).await
    }

    /// Waits until a connection is free, or has room.
    pub(crate) async fn in_queue<T>(
        &mut self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut work = pin!(work);
        // As a rule nobody has to wait.
        if let Some(result) = poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
        {
            return result;
        }
        within(self.queue_ends_at(), || Phase::Queue, work).await
    }

    /// Returns the time at which waiting in the queue ends, and the limit if that is the reason.
    fn queue_ends_at(&mut self) -> (Option<Instant>, Option<Duration>) {
        if self.queue_ends_at.is_none() {
            self.queue_ends_at = self.queue.and_then(|queue| Instant::now().checked_add(queue));
        }
        let ends_at = [self.queue_ends_at, self.ends_at].into_iter().flatten().min();
        (ends_at, self.queue.filter(|_| ends_at == self.queue_ends_at))
    }
}

async fn within<T>(
    (ends_at, given): (Option<Instant>, Option<Duration>),
    phase: impl FnOnce() -> Phase,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let Some(ends_at) = ends_at else { return work.await };
    match timeout_at(ends_at, work).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(phase(), Cause::Timeout, Retry::Safe).in_spite_of(given)),
    }
}
