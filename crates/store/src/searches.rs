//! The threads on which texts are searched for patterns: as many as there are processors, each query in its
//! turn.
//!
//! A search takes up to ten microseconds for a byte, and cannot be interrupted within one text. The thread of
//! a connection is that of many others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use crate::engine::EngineError;

/// The permits of the searches that run at once.
#[derive(Debug)]
pub(crate) struct Searches(Arc<Semaphore>);

/// Tells a search whether its query goes on.
#[derive(Debug)]
pub(crate) struct Going {
    is_abandoned: Arc<AtomicBool>,
    deadline: Instant,
}

impl Searches {
    pub(crate) fn new() -> Self {
        Self::of_places(available_parallelism().map_or(1, usize::from))
    }

    pub(crate) fn of_places(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places)))
    }

    /// Runs a search on a blocking thread, once it is its turn. Dropping the future has the search end before
    /// its next text.
    ///
    /// # Errors
    /// [`EngineError::TimedOut`] if its turn does not come before the deadline, and what the search returns.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        search: impl FnOnce(&Going) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let place = timeout_at(deadline, Arc::clone(&self.0).acquire_owned()).await;
        // Nobody closes the places.
        let place = place.map_err(|_| EngineError::TimedOut)?.map_err(|_| EngineError::TimedOut)?;
        let going = Going { is_abandoned: Arc::default(), deadline };
        let _abandon = Abandon(Arc::clone(&going.is_abandoned));
        let task = spawn_blocking(move || {
            let _place = place;
            search(&going)
        });
        // Its runtime ends, or it has panicked, which no search does.
        task.await.map_err(|_| EngineError::TimedOut)?
    }
}

impl Going {
    /// Checks that the query goes on.
    ///
    /// # Errors
    /// [`EngineError::TimedOut`] after the deadline, or if nobody waits any more.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            true => Err(EngineError::TimedOut),
            false => Ok(()),
        }
    }
}

/// Ends a search when its caller has gone.
struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn as_many_run_as_there_are_places() {
        let searches = Searches::of_places(1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (end, ends) = mpsc::channel::<()>();
        let first = searches.run(soon(), move |going| {
            let _ = begun.send(());
            let _ = ends.recv();
            going.check()
        });
        let second = async {
            begins.await.expect("the first has begun");
            let late = searches.run(Instant::now(), |_| Ok(())).await;
            assert!(matches!(late, Err(EngineError::TimedOut)), "{late:?}");
            end.send(()).expect("it waits");
        };
        let (first, ()) = tokio::join!(first, second);
        first.expect("it was waited for");
        searches.run(soon(), |_| Ok(())).await.expect("a place");
    }

    #[tokio::test]
    async fn one_for_which_nobody_waits_ends() {
        let searches = Searches::of_places(1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let search = searches.run(soon(), move |going| {
            let _ = begun.send(());
            while going.check().is_ok() {
                std::thread::yield_now();
            }
            Ok(())
        });
        tokio::select! {
            _ = search => panic!("it runs until it is told to end"),
            begun = begins => begun.expect("it has begun"),
        }
        searches.run(soon(), |_| Ok(())).await.expect("its place");
    }
}
