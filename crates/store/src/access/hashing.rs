//! Slow hashes, on threads for work that blocks: few at once, and few in wait.
//!
//! Rule: a hash that has begun is counted until it has ended, though nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::password::MEMORY_KIB_MAX;

/// The hashes that may wait for each one that is computed. Twenty at 20 ms are less than half a second.
const WAITING_FOR_EACH: usize = 20;

/// Too many hashes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowded;

/// The bounds of the hashes that are computed at once: as many as there are processors, within 256 MiB together.
#[derive(Debug)]
pub(super) struct Hashing {
    /// Those that are computed or wait.
    places: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    memory_kib: Arc<Semaphore>,
    counts: Arc<Counts>,
}

/// The number of hashes, for tests.
#[derive(Debug, Default)]
struct Counts {
    running: AtomicUsize,
    most: AtomicUsize,
    begun: AtomicUsize,
}

impl Hashing {
    pub(super) fn new() -> Self {
        Self::on(available_parallelism().map_or(1, usize::from))
    }

    pub(super) fn on(threads: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(threads * (1 + WAITING_FOR_EACH))),
            threads: Arc::new(Semaphore::new(threads)),
            memory_kib: Arc::new(Semaphore::new(MEMORY_KIB_MAX as usize)),
            counts: Arc::default(),
        }
    }

    /// Computes on a thread for work that blocks.
    ///
    /// # Errors
    /// [`Crowded`] at once, if as many wait as may.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        memory_kib: u32,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Crowded> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| Crowded)?;
        // Nobody closes them.
        let thread = self.threads.clone().acquire_owned().await.map_err(|_| Crowded)?;
        let memory = memory_kib.min(MEMORY_KIB_MAX);
        let memory = self.memory_kib.clone().acquire_many_owned(memory).await.map_err(|_| Crowded)?;
        let counts = self.counts.clone();
        let task = spawn_blocking(move || {
            let _held = (place, thread, memory);
            counts.begin();
            let result = work();
            counts.running.fetch_sub(1, Ordering::Relaxed);
            result
        });
        // Its runtime ends, or it has panicked, which no hash does.
        task.await.map_err(|_| Crowded)
    }

    /// The hashes that were begun so far, and the most at once.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn counted(&self) -> (usize, usize) {
        (self.counts.begun.load(Ordering::Relaxed), self.counts.most.load(Ordering::Relaxed))
    }
}

impl Counts {
    fn begin(&self) {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(running, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn few_run_at_once_and_few_wait() {
        let hashing = Arc::new(Hashing::on(2));
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let mut tasks = tokio::task::JoinSet::new();
        let all = 2 * (1 + WAITING_FOR_EACH);
        for _ in 0..all {
            let (hashing, gate) = (hashing.clone(), gate.clone());
            tasks.spawn(async move { hashing.run(1024, move || gate.lock().unwrap().recv()).await });
        }
        while hashing.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(hashing.run(1, || ()).await, Err(Crowded));
        (0..all).for_each(|_| release.send(()).unwrap());
        while let Some(result) = tasks.join_next().await {
            assert_eq!(result.unwrap(), Ok(Ok(())));
        }
        let (begun, most) = hashing.counted();
        assert_eq!(begun, all);
        assert!((1..=2).contains(&most), "{most}");
        assert_eq!(hashing.run(1, || 7).await, Ok(7), "there is room again");
    }

    #[tokio::test]
    async fn memory_is_shared() {
        let hashing = Arc::new(Hashing::on(8));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let hashing = hashing.clone();
            tasks.spawn(async move { hashing.run(MEMORY_KIB_MAX, || ()).await });
        }
        while let Some(result) = tasks.join_next().await {
            assert_eq!(result.unwrap(), Ok(()));
        }
        assert_eq!(hashing.counted(), (20, 1));
    }
}
