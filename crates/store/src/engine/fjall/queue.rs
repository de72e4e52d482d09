//! The queue of writes: bounded by their number and by the octets that they hold, until each is answered.
//!
//! A write that finds no room is [`Busy`](EngineError::Busy) at once. Waiting would only make the queue longer under another name; a server's
//! requests wait for memory before they come here.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::options::FjallOptions;
use super::slot::Slot;
use crate::engine::EngineError;

pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    held: Arc<Held>,
    writes_max: usize,
    octets_max: usize,
    refuses: AtomicBool,
}

#[derive(Default)]
struct State {
    slots: VecDeque<Box<dyn Slot>>,
    is_closed: bool,
}

/// The event that ended a wait.
pub(super) enum Taken {
    Slot(Box<dyn Slot>),
    /// The time has passed.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

/// The writes that are not answered yet, and their octets.
#[derive(Default)]
struct Held {
    writes: AtomicUsize,
    octets: AtomicUsize,
}

/// The room of one write, which is given back when its slot is dropped.
pub(super) struct Room {
    held: Arc<Held>,
    octets: usize,
}

impl Queue {
    pub(super) fn new(options: &FjallOptions) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            held: Arc::default(),
            writes_max: options.writes_waiting_max,
            octets_max: options.octets_waiting_max,
            refuses: AtomicBool::new(false),
        }
    }

    /// Takes the room of a write of so many octets.
    pub(super) fn reserve(&self, octets: usize) -> Result<Room, EngineError> {
        if self.refuses() {
            return Err(EngineError::WritesRefused);
        }
        let writes = self.held.writes.fetch_add(1, Ordering::Relaxed);
        let before = self.held.octets.fetch_add(octets, Ordering::Relaxed);
        // Dropping it gives back what was taken.
        let room = Room { held: Arc::clone(&self.held), octets };
        let is_over = before > 0 && before.saturating_add(octets) > self.octets_max;
        if writes >= self.writes_max || is_over { Err(EngineError::Busy) } else { Ok(room) }
    }

    pub(super) fn push(&self, slot: Box<dyn Slot>) -> Result<(), EngineError> {
        let mut state = self.lock();
        if self.refuses() || state.is_closed {
            return Err(EngineError::WritesRefused);
        }
        state.slots.push_back(slot);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next slot, for so long.
    pub(super) fn take(&self, time: Duration) -> Taken {
        let is_idle = |state: &mut State| state.slots.is_empty() && !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.lock(), time, is_idle);
        let mut state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        match state.slots.pop_front() {
            Some(slot) => Taken::Slot(slot),
            None if state.is_closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// The next slot, if one waits.
    pub(super) fn take_waiting(&self) -> Option<Box<dyn Slot>> {
        self.lock().slots.pop_front()
    }

    /// Takes no writes any more, and returns those that wait.
    pub(super) fn refuse(&self) -> VecDeque<Box<dyn Slot>> {
        let mut state = self.lock();
        self.refuses.store(true, Ordering::SeqCst);
        std::mem::take(&mut state.slots)
    }

    /// Takes writes again.
    pub(super) fn accept(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    pub(super) fn refuses(&self) -> bool {
        self.refuses.load(Ordering::SeqCst)
    }

    /// Ends the queue when it is empty.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits for so long, or until the queue is closed. Returns true if it is.
    pub(super) fn wait_closed(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| !state.is_closed);
        waited.map_or_else(|error| error.into_inner().0.is_closed, |(state, _)| state.is_closed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.held.writes.fetch_sub(1, Ordering::Relaxed);
        self.held.octets.fetch_sub(self.octets, Ordering::Relaxed);
    }
}
