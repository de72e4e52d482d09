//! Requests that run in tasks of their own.

use std::{future::poll_fn, mem::replace, panic::resume_unwind, task::Poll};

use alula_fields::Status;
use alula_net::Sent;
use tokio::task::AbortHandle;

use crate::answer::{Answer, IntoAnswer};

/// Runs a request in a task, which is aborted when the future is dropped.
pub(crate) async fn in_own_task<E: IntoAnswer>(
    work: impl Future<Output = Result<Sent, E>> + Send + 'static,
) -> Result<Sent, Answer> {
    let task = tokio::spawn(async move {
        requeued().await;
        work.await.map_err(E::into_answer)
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

/// Puts the awaiting task at the end of its worker's queue, and wakes another worker.
///
/// A task that was just spawned is the next of the worker that spawned it: no other worker takes it or is
/// woken, and while it computes nobody may be looking at the sockets. Another that is awake takes what is
/// queued, or looks at them.
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

/// Aborts a task when it is dropped.
struct EndsWithMe(AbortHandle);

impl Drop for EndsWithMe {
    fn drop(&mut self) {
        self.0.abort();
    }
}
