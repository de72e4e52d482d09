//! The turns of long steps on the threads of connections: other work passes between two steps.
//!
//! A large data type takes tens of milliseconds to decode. The requests of one connection of HTTP/2 are
//! polled one after the other: forty such steps would hold up all connections of their thread until the last
//! is done.

use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

/// The turns of long steps: as many at once as there are processors.
#[derive(Debug)]
pub(crate) struct LongSteps(Semaphore);

impl LongSteps {
    pub(crate) fn new() -> Self {
        Self::of_places(available_parallelism().map_or(1, usize::from))
    }

    fn of_places(places: usize) -> Self {
        Self(Semaphore::new(places))
    }

    /// Waits for the turn of a long step, until the deadline at most: a step that is late is made all the
    /// same.
    pub(crate) async fn wait(&self, deadline: Instant) {
        let place = match self.0.try_acquire() {
            Ok(place) => Some(place),
            Err(_) => timeout_at(deadline, self.0.acquire()).await.ok().and_then(Result::ok),
        };
        // The thread looks for what others sent before the step. The next in turn has this place only then,
        // and gives way in the same manner.
        yield_now().await;
        drop(place);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::Poll;
    use std::time::Duration;

    use super::*;

    /// Polls all futures in one task, as a connection does with its requests, and returns the most steps that
    /// were made between two turns of another.
    pub(crate) async fn most_at_once<F: Future>(steps: &AtomicUsize, futures: Vec<F>) -> usize {
        let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
        let is_done = Cell::new(false);
        let all = poll_fn(|context| {
            futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
            is_done.set(futures.is_empty());
            if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        });
        let others = async {
            let mut most = 0;
            while !is_done.get() {
                let before = steps.load(Relaxed);
                yield_now().await;
                most = most.max(steps.load(Relaxed) - before);
            }
            most
        };
        tokio::join!(biased; others, all).0
    }

    #[tokio::test]
    async fn others_pass_between_two_steps() {
        const PLACES: usize = 2;
        let (steps, turns) = (AtomicUsize::new(0), LongSteps::of_places(PLACES));
        let step = async || {
            turns.wait(Instant::now() + Duration::from_secs(60)).await;
            steps.fetch_add(1, Relaxed);
        };
        let most = most_at_once(&steps, (0..40).map(|_| step()).collect()).await;
        assert_eq!(steps.load(Relaxed), 40);
        assert!(most <= PLACES, "{most}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_that_is_late_is_made() {
        let turns = LongSteps::of_places(0);
        turns.wait(Instant::now() + Duration::from_secs(60)).await;
    }
}
