//! Slow hashes, on threads for work that blocks: few at once, and few in wait, by [turns](super::turns).
//!
//! Rule: a hash that has begun is counted until it has ended, though nobody waits for it any more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::password::MEMORY_KIB_MAX;
use super::turns::{Asker, Turns};

/// The hashes that may wait for each one that is computed. Twenty at 20 ms are less than half a second.
const WAITING_FOR_EACH: usize = 20;

/// Too many hashes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowded;

/// The bounds of the hashes that are computed at once: as many as there are processors, within 256 MiB
/// together.
#[derive(Clone, Debug)]
pub(super) struct Hashing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    counts: Counts,
}

#[derive(Debug)]
struct State {
    threads_free: usize,
    memory_kib_free: u32,
    waiting: Turns<Waiter>,
}

/// A login that waits for a turn.
#[derive(Debug)]
struct Waiter {
    memory_kib: u32,
    go: oneshot::Sender<Turn>,
}

/// A thread and memory, until this is dropped.
#[derive(Debug)]
struct Turn {
    hashing: Hashing,
    memory_kib: u32,
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
        let waiting = Turns::new(threads * WAITING_FOR_EACH);
        let state = State { threads_free: threads, memory_kib_free: MEMORY_KIB_MAX, waiting };
        Self(Arc::new(Shared { state: Mutex::new(state), counts: Counts::default() }))
    }

    /// Computes a hash on a blocking thread, when it is the turn of the asker.
    ///
    /// # Errors
    /// [`Crowded`], if too many wait whose turn comes before: at once, or when others come.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        asker: Asker,
        memory_kib: u32,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Crowded> {
        let turn = self.queue(asker, memory_kib.min(MEMORY_KIB_MAX)).await.map_err(|_| Crowded)?;
        let task = spawn_blocking(move || {
            let counts = &turn.hashing.0.counts;
            counts.begin();
            let result = work();
            counts.running.fetch_sub(1, Ordering::Relaxed);
            result
        });
        // Its runtime ends, or it has panicked, which no hash does.
        task.await.map_err(|_| Crowded)
    }

    /// Puts an asker into the queue, unless too many wait; dropping the returned waiter leaves the queue.
    fn queue(&self, asker: Asker, memory_kib: u32) -> oneshot::Receiver<Turn> {
        let (go, turn) = oneshot::channel();
        let mut state = self.state();
        // Logins that were given up make room first.
        state.waiting.retain(|waiter| !waiter.go.is_closed());
        let _gone = state.waiting.push(asker, Waiter { memory_kib, go });
        self.give_turns(state);
        turn
    }

    /// Gives turns to the next askers while there are threads and memory.
    fn give_turns(&self, mut state: MutexGuard<'_, State>) {
        let mut refused = Vec::new();
        while state.threads_free > 0 {
            let memory_kib_free = state.memory_kib_free;
            let Some(waiter) = state.waiting.next_if(|waiter| waiter.memory_kib <= memory_kib_free) else {
                break;
            };
            let memory_kib = waiter.memory_kib;
            state.threads_free -= 1;
            state.memory_kib_free -= memory_kib;
            let turn = Turn { hashing: self.clone(), memory_kib };
            // One who has gone gives the turn back, once the lock is free.
            refused.extend(waiter.go.send(turn).err());
        }
        drop(state);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of hashes that were begun so far, and the most that ran at once.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn counted(&self) -> (usize, usize) {
        (self.0.counts.begun.load(Ordering::Relaxed), self.0.counts.most.load(Ordering::Relaxed))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.hashing.state();
        state.threads_free += 1;
        state.memory_kib_free += self.memory_kib;
        self.hashing.give_turns(state);
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
    use std::net::IpAddr;
    use std::sync::mpsc;

    use super::super::peers::Prefixes;
    use super::super::turns::{Askers, Standing};
    use super::*;

    /// Returns an asker at a host of its own for each number.
    fn asker(number: usize) -> Asker {
        let peer = Prefixes::of(IpAddr::from([10, number as u8, 0, 1]));
        Askers::default().asker(Some(peer), "ann", Standing::unknown(0, 0))
    }

    #[tokio::test]
    async fn few_run_at_once_and_few_wait() {
        let hashing = Hashing::on(2);
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let mut tasks = tokio::task::JoinSet::new();
        let all = 2 * (1 + WAITING_FOR_EACH);
        for _ in 0..all {
            let (hashing, gate) = (hashing.clone(), gate.clone());
            tasks
                .spawn(async move { hashing.run(asker(1), 1024, move || gate.lock().unwrap().recv()).await });
        }
        while hashing.state().waiting.len() < all - 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(hashing.run(asker(1), 1, || ()).await, Err(Crowded));
        // Somebody else has a turn before the last of those.
        let other = tokio::spawn({
            let hashing = hashing.clone();
            async move { hashing.run(asker(2), 1, || 7).await }
        });
        let crowded = tasks.join_next().await.unwrap().unwrap();
        assert_eq!(crowded, Err(Crowded));
        // The first of them waited before the other one came.
        (0..2).for_each(|_| release.send(()).unwrap());
        assert_eq!(other.await.unwrap(), Ok(7));
        (0..all - 3).for_each(|_| release.send(()).unwrap());
        while let Some(result) = tasks.join_next().await {
            assert_eq!(result.unwrap(), Ok(Ok(())));
        }
        let (begun, most) = hashing.counted();
        assert_eq!(begun, all);
        assert!((1..=2).contains(&most), "{most}");
        assert_eq!(hashing.run(asker(1), 1, || 7).await, Ok(7), "there is room again");
    }

    #[tokio::test]
    async fn memory_is_shared() {
        let hashing = Hashing::on(8);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let hashing = hashing.clone();
            tasks.spawn(async move { hashing.run(asker(1), MEMORY_KIB_MAX, || ()).await });
        }
        while let Some(result) = tasks.join_next().await {
            assert_eq!(result.unwrap(), Ok(()));
        }
        assert_eq!(hashing.counted(), (20, 1));
    }
}
