//! The layers that a route has by name.

use std::{future::poll_fn, mem::replace, panic::resume_unwind, sync::Arc, task::Poll, time::Duration};

use alula_fields::Status;
use tokio::{sync::Semaphore, task::AbortHandle, time::timeout};

use super::wrap::{Next, Wrap};
use crate::{Answer, Exchange};

/// Bounds the time of handlers.
pub(super) fn time_limit<S: 'static>(after: Duration) -> impl Wrap<S> {
    move |exchange: Exchange<S>, next: Next<S>| async move {
        match timeout(after, next.run(exchange)).await {
            Ok(result) => result,
            Err(_) => Err(Answer::new(Status::SERVICE_UNAVAILABLE).detail("the request took too long")),
        }
    }
}

/// Bounds how many handlers run at once.
pub(super) fn concurrency<S: 'static>(max: usize) -> impl Wrap<S> {
    let room = Arc::new(Semaphore::new(max.clamp(1, Semaphore::MAX_PERMITS)));
    move |exchange: Exchange<S>, next: Next<S>| {
        let room = room.clone();
        async move {
            // Nobody closes it.
            let _held = room.acquire().await;
            next.run(exchange).await
        }
    }
}

/// Runs each handler in a task.
pub(super) fn spawned<S: 'static>() -> impl Wrap<S> {
    |exchange: Exchange<S>, next: Next<S>| async move {
        let task = tokio::spawn(async move {
            requeued().await;
            next.run(exchange).await
        });
        let _ended = EndsWithMe(task.abort_handle());
        match task.await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // Its runtime ends.
                Err(_) => Err(Answer::new(Status::SERVICE_UNAVAILABLE)),
            },
        }
    }
}

/// Puts the task that awaits it at the end of its worker's queue, and wakes another worker.
///
/// A task that was just spawned is the next of the worker that spawned it: no other worker takes it or is woken, and while it computes
/// nobody may be looking at the sockets. Another that is awake takes what is queued, or looks at them.
async fn requeued() {
    let mut is_queued = false;
    poll_fn(|cx| {
        if replace(&mut is_queued, true) {
            return Poll::Ready(());
        }
        // Not `yield_now`, which waits for the sockets to be looked at, and wakes nobody.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Ends a task when it is dropped.
struct EndsWithMe(AbortHandle);

impl Drop for EndsWithMe {
    fn drop(&mut self) {
        self.0.abort();
    }
}
