//! The handler futures of one connection, in slots that are used again.
//!
//! A slot is boxed once and refilled; its waker is made once. A future that is woken sets its slot's bit and wakes the
//! connection's task, unless that task is running anyway.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use alula_net::StreamName;

/// Slots whose readiness one word tells.
const GROUP: usize = 64;

pub(crate) struct Slots<F> {
    slots: Vec<Slot<F>>,
    free: Vec<usize>,
    /// The slot that last answered a stream, by the stream's index.
    by_stream: Vec<usize>,
    groups: Vec<Arc<Group>>,
    task: Arc<Task>,
}

struct Slot<F> {
    future: Pin<Box<Option<F>>>,
    stream: Option<StreamName>,
    waker: Waker,
}

/// The connection's task, as its handlers see it.
struct Task {
    waker: Mutex<Option<Waker>>,
    runs: AtomicBool,
}

/// Which of 64 slots were woken.
struct Group {
    ready: AtomicU64,
    task: Arc<Task>,
}

struct SlotWaker {
    group: Arc<Group>,
    bit: u64,
}

impl<F: Future> Slots<F> {
    pub(crate) fn new() -> Self {
        let task = Task { waker: Mutex::new(None), runs: AtomicBool::new(false) };
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_stream: Vec::new(),
            groups: Vec::new(),
            task: Arc::new(task),
        }
    }

    /// From here to [`Self::end_run`] wakes set bits only.
    pub(crate) fn begin_run(&self, waker: &Waker) {
        self.task.runs.store(true, Ordering::SeqCst);
        let mut slot = self.task.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *slot {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// False when a slot was woken meanwhile: run again.
    pub(crate) fn end_run(&self) -> bool {
        self.task.runs.store(false, Ordering::SeqCst);
        self.groups.iter().all(|group| group.ready.load(Ordering::SeqCst) == 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Begins to answer a stream and polls the future once. A panic on the way is the end of that future only.
    pub(crate) fn start(&mut self, stream: StreamName, begin: impl FnOnce() -> F) {
        let index = self.take(stream);
        let slot = &mut self.slots[index];
        match catch_unwind(AssertUnwindSafe(|| slot.future.set(Some(begin())))) {
            Ok(()) => self.poll(index),
            Err(_) => self.end(index),
        }
    }

    /// A slot for what answers this stream.
    fn take(&mut self, stream: StreamName) -> usize {
        let index = self.free.pop().unwrap_or_else(|| self.add());
        if self.by_stream.len() <= stream.index() {
            self.by_stream.resize(stream.index() + 1, 0);
        }
        self.by_stream[stream.index()] = index;
        self.slots[index].stream = Some(stream);
        index
    }

    /// Drops the future that answers this stream, if it still runs.
    pub(crate) fn cancel(&mut self, stream: StreamName) {
        let index = self.by_stream.get(stream.index()).copied();
        if let Some(index) = index.filter(|&index| self.slots[index].stream == Some(stream)) {
            self.end(index);
        }
    }

    /// Polls every future that was woken, until none is.
    pub(crate) fn poll_ready(&mut self) {
        for at in 0..self.groups.len() {
            let mut ready = self.groups[at].ready.swap(0, Ordering::SeqCst);
            while ready != 0 {
                let index = at * GROUP + ready.trailing_zeros() as usize;
                ready &= ready - 1;
                self.poll(index);
            }
        }
    }

    fn add(&mut self) -> usize {
        let index = self.slots.len();
        if index.is_multiple_of(GROUP) {
            self.groups.push(Arc::new(Group { ready: AtomicU64::new(0), task: self.task.clone() }));
        }
        let waker = SlotWaker { group: self.groups[index / GROUP].clone(), bit: 1 << (index % GROUP) };
        self.slots.push(Slot { future: Box::pin(None), stream: None, waker: Waker::from(Arc::new(waker)) });
        self.free.reserve(self.slots.len());
        index
    }

    /// A future that ends, or panics, is dropped: what it held answers for it.
    fn poll(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(future) = slot.future.as_mut().as_pin_mut() else { return };
        let mut cx = Context::from_waker(&slot.waker);
        if !matches!(catch_unwind(AssertUnwindSafe(|| future.poll(&mut cx))), Ok(Poll::Pending)) {
            self.end(index);
        }
    }

    fn end(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.stream = None;
        // What a destructor panics about is no reason to end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| slot.future.set(None)));
        self.free.push(index);
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.group.ready.fetch_or(self.bit, Ordering::SeqCst);
        let task = &self.group.task;
        if !task.runs.load(Ordering::SeqCst) {
            let waker = task.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}
