//! The wakers of a connection's slots: each sets the bit of its slot, and wakes the connection's task unless
//! it runs.
//!
//! A table of slots passes from connection to connection, and its wakers with it. One that somebody has kept
//! since a request that is over wakes a slot that it does not know: that slot is polled once without need.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Wake, Waker},
};

/// The connection's task, as its handlers wake it.
#[derive(Default)]
pub(super) struct Task {
    waker: Mutex<Option<Waker>>,
    runs: AtomicBool,
    /// The first group of slots, which is all that most connections need.
    pub(super) first: Group,
}

/// The waker of the first slot: a connection with one request at a time needs no other.
impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_slot(&self.first, 1);
    }
}

impl Task {
    /// Sets the bit of a slot, and wakes the connection's task unless it runs.
    fn wake_slot(&self, group: &Group, bit: u64) {
        group.ready.fetch_or(bit, Ordering::SeqCst);
        if !self.runs.load(Ordering::SeqCst) {
            let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Begins a run of handlers: until [`Self::end_run`], wakes set bits and do not wake the task.
    pub(super) fn begin_run(&self, waker: &Waker) {
        self.runs.store(true, Ordering::SeqCst);
        let mut slot = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *slot {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Ends a run of handlers: from here on, wakers wake the task.
    pub(super) fn end_run(&self) {
        self.runs.store(false, Ordering::SeqCst);
    }

    /// Clears the task and all bits, for another task.
    pub(super) fn leave(&self) {
        drop(self.waker.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.end_run();
        self.first.take_ready();
    }
}

/// The bits of 64 slots that were woken.
#[derive(Default)]
pub(super) struct Group {
    ready: AtomicU64,
}

impl Group {
    /// Returns true if no slot was woken.
    pub(super) fn is_quiet(&self) -> bool {
        self.ready.load(Ordering::SeqCst) == 0
    }

    /// Takes the bits of the woken slots.
    pub(super) fn take_ready(&self) -> u64 {
        self.ready.swap(0, Ordering::SeqCst)
    }
}

/// The waker of a slot after the first.
pub(super) struct SlotWaker {
    pub(super) task: Arc<Task>,
    /// The group of the slot, unless it is the first.
    pub(super) group: Option<Arc<Group>>,
    pub(super) bit: u64,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wake_slot(self.group.as_deref().unwrap_or(&self.task.first), self.bit);
    }
}
