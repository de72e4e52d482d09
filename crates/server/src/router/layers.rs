//! The named layers of a route.

use std::{sync::Arc, time::Duration};

use alula_fields::Status;
use tokio::{sync::Semaphore, time::timeout};

use super::wrap::{Next, Wrap};
use crate::{answer::Answer, connection::spawned::in_own_task, exchange::Exchange};

/// Limits the time of handlers.
pub(super) fn time_limit<S: 'static>(after: Duration) -> impl Wrap<S> {
    move |exchange: Exchange<S>, next: Next<S>| async move {
        match timeout(after, next.run(exchange)).await {
            Ok(result) => result,
            Err(_) => Err(Answer::new(Status::SERVICE_UNAVAILABLE).detail("the request took too long")),
        }
    }
}

/// Limits how many handlers run at once.
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
    |exchange: Exchange<S>, next: Next<S>| in_own_task(async move { next.run(exchange).await })
}
