//! The queue of writes: bounded by their number and by the bytes that they hold, until each is answered.
//!
//! One write too many is [`Busy`](EngineError::Busy) at once: waiting would only make the queue longer under
//! another name. Bytes are waited for until the deadline, in the order in which writes came: large writes
//! are few, and each would be lost to a moment.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::slot::{Decided, Entry, Slot};
use crate::engine::EngineError;
use crate::engine::fjall::open::options::FjallOptions;

pub(in crate::engine::fjall) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// The writes that are not answered yet.
    writes: Arc<AtomicUsize>,
    writes_max: usize,
    /// The bytes that are free.
    bytes: Arc<Semaphore>,
    bytes_max: u32,
    refuses: AtomicBool,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The writes that are being decided by helpers, and come back.
    apart: usize,
    is_closed: bool,
}

impl State {
    const fn is_over(&self) -> bool {
        self.is_closed && self.apart == 0
    }
}

/// The event that ended a wait.
pub(in crate::engine::fjall) enum Taken {
    Entry(Entry),
    /// The time has passed.
    Nothing,
    /// The queue is closed and empty, and nothing comes back to it.
    Closed,
}

/// The room of one write, which is given back when its slot is dropped.
pub(in crate::engine::fjall) struct Room {
    _count: Counted,
    bytes: OwnedSemaphorePermit,
}

/// The count of a write, taken back when this is dropped.
struct Counted(Arc<AtomicUsize>);

impl Queue {
    pub(in crate::engine::fjall) fn new(options: &FjallOptions) -> Self {
        let bytes_max = u32::try_from(options.bytes_waiting_max).unwrap_or(u32::MAX);
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            writes: Arc::default(),
            writes_max: options.writes_waiting_max,
            bytes: Arc::new(Semaphore::new(bytes_max as usize)),
            bytes_max,
            refuses: AtomicBool::new(false),
        }
    }

    /// Waits for the room of a write of so many bytes. A write of more than the queue holds takes all of it.
    pub(in crate::engine::fjall) async fn reserve(
        &self,
        bytes: usize,
        deadline: Instant,
    ) -> Result<Room, EngineError> {
        if self.refuses() {
            return Err(EngineError::WritesRefused);
        }
        let count = self.count()?;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.bytes_max);
        let bytes = timeout_at(deadline, Arc::clone(&self.bytes).acquire_many_owned(bytes)).await;
        // The semaphore is never closed.
        let bytes = bytes.map_err(|_| EngineError::TimedOut)?.map_err(|_| EngineError::WritesRefused)?;
        Ok(Room { _count: count, bytes })
    }

    fn count(&self) -> Result<Counted, EngineError> {
        let before = self.writes.fetch_add(1, Ordering::Relaxed);
        // Dropping it gives back what was taken.
        let counted = Counted(Arc::clone(&self.writes));
        if before < self.writes_max { Ok(counted) } else { Err(EngineError::Busy) }
    }

    pub(in crate::engine::fjall) fn push(&self, slot: Box<dyn Slot>) -> Result<(), EngineError> {
        let mut state = self.lock();
        if self.refuses() || state.is_closed {
            return Err(EngineError::WritesRefused);
        }
        state.entries.push_back(Entry::Waiting(slot));
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Returns the number of writes that helpers are deciding.
    pub(in crate::engine::fjall) fn apart(&self) -> usize {
        self.lock().apart
    }

    /// Counts a write that a helper decides. The queue does not end before it comes back.
    pub(in crate::engine::fjall) fn hand_out(&self) {
        self.lock().apart += 1;
    }

    /// Takes back a write that a helper decided, before all others.
    pub(in crate::engine::fjall) fn hand_back(&self, decided: Decided) {
        let mut state = self.lock();
        state.apart -= 1;
        // Nobody may come for it any more.
        let refused = if self.refuses() {
            Some(decided)
        } else {
            state.entries.push_front(Entry::Decided(decided));
            None
        };
        drop(state);
        self.changed.notify_all();
        if let Some(decided) = refused {
            Entry::Decided(decided).refuse();
        }
    }

    /// Waits for the next write, for so long.
    pub(in crate::engine::fjall) fn take(&self, time: Duration) -> Taken {
        let is_idle = |state: &mut State| state.entries.is_empty() && !state.is_over();
        let waited = self.changed.wait_timeout_while(self.lock(), time, is_idle);
        let mut state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        match state.entries.pop_front() {
            Some(entry) => Taken::Entry(entry),
            None if state.is_over() => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Takes the next write, if one waits.
    pub(in crate::engine::fjall) fn take_waiting(&self) -> Option<Entry> {
        self.lock().entries.pop_front()
    }

    /// Takes no writes any more, and returns those that wait.
    pub(in crate::engine::fjall) fn refuse(&self) -> VecDeque<Entry> {
        let mut state = self.lock();
        self.refuses.store(true, Ordering::SeqCst);
        std::mem::take(&mut state.entries)
    }

    /// Takes writes again.
    pub(in crate::engine::fjall) fn accept(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    pub(in crate::engine::fjall) fn refuses(&self) -> bool {
        self.refuses.load(Ordering::SeqCst)
    }

    /// Ends the queue when it is empty.
    pub(in crate::engine::fjall) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits for so long, or until the queue is closed. Returns true if it is.
    pub(in crate::engine::fjall) fn wait_closed(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| !state.is_closed);
        waited.map_or_else(|error| error.into_inner().0.is_closed, |(state, _)| state.is_closed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// Returns the bytes of the write, up to the bound of the queue.
    pub(in crate::engine::fjall) fn bytes(&self) -> usize {
        self.bytes.num_permits()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
