//! The handler futures of one connection, in slots that are used again.
//!
//! A slot is boxed once and refilled; its waker is made once, and that of the first slot is the task itself. A future that is woken sets its slot's bit and wakes the
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

use alula_net::{Conn, Error, Incoming, Refused, Sent, StreamName};

use crate::{
    failure::{FailureCause, RequestFacts},
    observing::RequestSpan,
    reporting::{Reporter, message_of},
};

/// Slots whose readiness one word tells.
const GROUP: usize = 64;

pub(crate) struct Slots<F> {
    slots: Vec<Slot<F>>,
    /// The slot that was freed last; each free slot names the one that was freed before it.
    free: Option<usize>,
    /// The number of slots that are in use.
    used: usize,
    /// The groups after the first.
    groups: Vec<Arc<Group>>,
    task: Arc<Task>,
    reporter: Reporter,
}

struct Slot<F> {
    future: Pin<Box<Option<F>>>,
    stream: Option<StreamName>,
    next_free: Option<usize>,
    waker: Waker,
    span: RequestSpan,
    /// What is asked for, once somebody would hear of it.
    facts: Option<Box<RequestFacts>>,
}

/// The connection's task, as its handlers see it.
struct Task {
    waker: Mutex<Option<Waker>>,
    runs: AtomicBool,
    /// The first group of slots, which is all that most connections need.
    first: Group,
}

/// As a waker, that of the first slot: a connection that asks once at a time needs no other.
impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_slot(&self.first, 1);
    }
}

impl Task {
    /// Notes that a slot was woken, and wakes the connection's task unless that runs.
    fn wake_slot(&self, group: &Group, bit: u64) {
        group.ready.fetch_or(bit, Ordering::SeqCst);
        if !self.runs.load(Ordering::SeqCst) {
            let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// Which of 64 slots were woken.
#[derive(Default)]
struct Group {
    ready: AtomicU64,
}

struct SlotWaker {
    task: Arc<Task>,
    /// The group of the slot, unless it is the first.
    group: Option<Arc<Group>>,
    bit: u64,
}

impl<F: Future<Output = Result<Sent, Error>>> Slots<F> {
    /// Tells that a request was refused on a connection that goes on.
    #[cold]
    pub(crate) fn tell_refused(&self, conn: &Conn, refused: Refused) {
        if self.reporter.has_listener() {
            self.reporter.tell_refused(&conn.refusal(refused));
        }
    }

    /// Tells that the peer broke a rule, so that a request did not get to a handler.
    pub(crate) fn tell_breach(&self, conn: &Conn) {
        if self.reporter.has_listener()
            && let Some(error) = conn.breach()
        {
            self.reporter.tell_refused(&error);
        }
    }

    pub(crate) fn new(reporter: Reporter) -> Self {
        let task = Task { waker: Mutex::new(None), runs: AtomicBool::new(false), first: Group::default() };
        Self { slots: Vec::new(), free: None, used: 0, groups: Vec::new(), task: Arc::new(task), reporter }
    }

    /// Drops all futures, and the slots.
    pub(crate) fn clear(&mut self) {
        (self.slots, self.groups) = (Vec::new(), Vec::new());
        (self.free, self.used) = (None, 0);
        self.task.first.ready.store(0, Ordering::SeqCst);
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
        let is_quiet = |group: &Group| group.ready.load(Ordering::SeqCst) == 0;
        is_quiet(&self.task.first) && self.groups.iter().all(|group| is_quiet(group))
    }

    /// The number of slots, used or free.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// What the slots hold: futures of handlers with all that lies in them, and wakers; the facts of requests, where they are noted.
    pub(crate) fn octets(&self) -> usize {
        let facts = if self.reporter.has_listener() { RequestFacts::OCTETS_MAX } else { 0 };
        self.slots.len() * (size_of::<Slot<F>>() + size_of::<Option<F>>() + size_of::<SlotWaker>() + facts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Begins to answer a request and polls the future once. A panic on the way is the end of that future only.
    pub(crate) fn start(&mut self, incoming: Incoming, begin: impl FnOnce(Incoming, RequestSpan) -> F) {
        let index = self.take(incoming.key);
        let span = RequestSpan::begin(&incoming.head, &self.reporter);
        let slot = &mut self.slots[index];
        if self.reporter.has_listener() {
            slot.facts.get_or_insert_default().note(&incoming.head);
        }
        slot.span = span.clone();
        let begin = || slot.future.set(Some(begin(incoming, span.clone())));
        match catch_unwind(AssertUnwindSafe(|| span.within(begin))) {
            Ok(()) => self.poll(index),
            Err(panic) => self.fail(index, FailureCause::Panic(message_of(&*panic))),
        }
    }

    /// A slot for what answers this stream.
    fn take(&mut self, stream: StreamName) -> usize {
        let index = self.free.unwrap_or_else(|| self.add());
        let slot = &mut self.slots[index];
        slot.stream = Some(stream);
        self.free = slot.next_free.take();
        self.used += 1;
        index
    }

    /// Drops the future that answers this stream, if it still runs.
    pub(crate) fn cancel(&mut self, stream: StreamName) {
        // There are as many as there were streams at once: looking through them costs less than an index of every request.
        if let Some(index) = self.slots.iter().position(|slot| slot.stream == Some(stream)) {
            self.end(index);
        }
    }

    /// Polls every future that was woken, until none is.
    pub(crate) fn poll_ready(&mut self) {
        let ready = self.task.first.ready.swap(0, Ordering::SeqCst);
        self.poll_group(0, ready);
        for at in 0..self.groups.len() {
            let ready = self.groups[at].ready.swap(0, Ordering::SeqCst);
            self.poll_group((at + 1) * GROUP, ready);
        }
    }

    /// Polls the futures of a group whose bits are set; `first` is the index of its first slot.
    #[inline]
    fn poll_group(&mut self, first: usize, mut ready: u64) {
        while ready != 0 {
            let index = first + ready.trailing_zeros() as usize;
            ready &= ready - 1;
            self.poll(index);
        }
    }

    fn add(&mut self) -> usize {
        let index = self.slots.len();
        if index > 0 && index.is_multiple_of(GROUP) {
            self.groups.push(Arc::default());
        }
        let waker = if index == 0 {
            // A connection that asks once at a time needs one.
            self.slots = Vec::with_capacity(1);
            Waker::from(self.task.clone())
        } else {
            let group = (index / GROUP).checked_sub(1).map(|at| self.groups[at].clone());
            let waker = SlotWaker { task: self.task.clone(), group, bit: 1 << (index % GROUP) };
            Waker::from(Arc::new(waker))
        };
        self.slots.push(Slot {
            future: Box::pin(None),
            stream: None,
            next_free: None,
            waker,
            span: RequestSpan::none(),
            facts: None,
        });
        index
    }

    /// A future that ends, or panics, is dropped: what it held answers for it.
    fn poll(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(future) = slot.future.as_mut().as_pin_mut() else { return };
        let mut cx = Context::from_waker(&slot.waker);
        match catch_unwind(AssertUnwindSafe(|| slot.span.within(|| future.poll(&mut cx)))) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(Ok(_))) => self.end(index),
            Ok(Poll::Ready(Err(error))) => self.fail(index, FailureCause::Error(&error)),
            Err(panic) => self.fail(index, FailureCause::Panic(message_of(&*panic))),
        }
    }

    #[cold]
    fn fail(&mut self, index: usize, cause: FailureCause<'_>) {
        self.tell(index, cause);
        self.end(index);
    }

    #[cold]
    fn tell(&self, index: usize, cause: FailureCause<'_>) {
        let slot = &self.slots[index];
        if let Some(facts) = &slot.facts {
            self.reporter.tell(facts, &slot.span, cause);
        }
    }

    fn end(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.stream = None;
        // What a destructor panics about is no reason to end the connection.
        let ended = catch_unwind(AssertUnwindSafe(|| slot.span.within(|| slot.future.set(None))));
        if let Err(panic) = ended {
            self.tell(index, FailureCause::Panic(message_of(&*panic)));
        }
        let slot = &mut self.slots[index];
        slot.span = RequestSpan::none();
        slot.next_free = self.free.replace(index);
        self.used -= 1;
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wake_slot(self.group.as_deref().unwrap_or(&self.task.first), self.bit);
    }
}
