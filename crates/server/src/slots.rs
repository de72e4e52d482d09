//! The requests of one connection that are being handled, in slots that are used again.
//!
//! The futures lie in boxes of their handlers (`work.rs`), so that a slot without a request is small. The waker of a slot is made
//! once, and that of the first slot is the task itself. A future that is woken sets its slot's bit and wakes the connection's task,
//! unless that task is running anyway.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use alula_fields::Status;
use alula_net::{Conn, Incoming, Refused, StreamName};

use crate::{
    Answer, Exchange,
    ended::EndedRequest,
    endpoint::{Endpoint, NO_ENTRY},
    failure::{FailureCause, RequestFacts},
    late::LateAnswer,
    observing::RequestSpan,
    reporting::{Reporter, message_of},
    scheme::SchemeSource,
    work::Running,
};

/// Slots whose readiness one word tells.
const GROUP: usize = 64;

pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// The slot that was freed last; each free slot names the one that was freed before it.
    free: Option<usize>,
    /// The number of slots that are in use.
    used: usize,
    /// The groups after the first.
    groups: Vec<Arc<Group>>,
    task: Arc<Task>,
    reporter: Reporter,
    endpoint: Arc<dyn Endpoint>,
    /// True if one handler answers all requests.
    is_single: bool,
    /// True if somebody sees requests end.
    sees_ends: bool,
    /// The octets of the largest future so far, and how many slots have a box.
    work_octets: usize,
    boxes: usize,
}

/// The size of the slots: how many they are, and the octets of the futures in them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Measure {
    slots: usize,
    works: usize,
}

struct Slot {
    /// The box of its handler's future, which stays for the next request.
    work: Option<Running>,
    /// True if there is a future in it.
    runs: bool,
    /// The answer of a handler that has ended with an error, while the peer takes it.
    late: Option<LateAnswer>,
    stream: Option<StreamName>,
    next_free: Option<usize>,
    waker: Waker,
    span: RequestSpan,
    /// The facts of the request, once somebody would hear of them.
    facts: Option<Box<RequestFacts>>,
    /// The time at which the request began, since the connection was opened.
    began: Duration,
    /// The route that it was handed to, by number.
    entry: u32,
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

/// The slots that were woken, of 64.
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

impl Slots {
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

    pub(crate) fn new(reporter: Reporter, endpoint: Arc<dyn Endpoint>) -> Self {
        let (is_single, sees_ends) = (endpoint.is_single(), endpoint.sees_ends());
        let task = Task { waker: Mutex::new(None), runs: AtomicBool::new(false), first: Group::default() };
        Self {
            slots: Vec::new(),
            free: None,
            used: 0,
            groups: Vec::new(),
            task: Arc::new(task),
            reporter,
            endpoint,
            is_single,
            sees_ends,
            work_octets: 0,
            boxes: 0,
        }
    }

    /// Drops all futures, and the slots. Those who see the ends of requests see these.
    pub(crate) fn clear(&mut self, conn: &Arc<Conn>) {
        for index in 0..self.slots.len() {
            self.let_go(index);
            // One after the other: two that panicked while all are dropped would end the process.
            self.drop_work(index);
            if let (true, Some(stream)) = (self.sees_ends, self.slots[index].stream) {
                self.tell_end(conn, index, stream);
            }
        }
        (self.slots, self.groups) = (Vec::new(), Vec::new());
        (self.free, self.used, self.boxes) = (None, 0, 0);
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

    /// Their size.
    #[inline]
    pub(crate) const fn measure(&self) -> Measure {
        Measure { slots: self.slots.len(), works: self.boxes * self.work_octets }
    }

    /// Gives the boxes of futures back that no request needs.
    pub(crate) fn give_boxes_back(&mut self) {
        if self.used == 0 && self.boxes > 0 {
            self.slots.iter_mut().for_each(|slot| slot.work = None);
            self.boxes = 0;
        }
    }

    /// Returns the octets that the slots hold: wakers, futures with all that lies in them, and the facts of requests, where they
    /// are noted.
    pub(crate) fn octets(&self, measure: Measure) -> usize {
        let facts = if self.reporter.has_listener() { RequestFacts::OCTETS_MAX } else { 0 };
        measure.works + measure.slots * (size_of::<Slot>() + size_of::<SlotWaker>() + facts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Begins to answer a request and polls the future once. A panic on the way is the end of that future only.
    pub(crate) fn start(&mut self, conn: &Arc<Conn>, incoming: Incoming, scheme: SchemeSource) {
        let index = self.take(incoming.key);
        let span = RequestSpan::begin(&incoming.head, &self.reporter);
        let slot = &mut self.slots[index];
        if self.sees_ends || self.reporter.has_listener() {
            slot.facts.get_or_insert_default().note(&incoming.head);
        }
        if self.sees_ends {
            slot.facts.get_or_insert_default().note_more(&incoming.head);
            slot.began = since_opened(conn);
            conn.begin_tally(incoming.key);
        }
        slot.span = span.clone();
        let had_box = slot.work.is_some();
        slot.entry = NO_ENTRY;
        let (endpoint, is_single) = (&self.endpoint, self.is_single);
        let (work, entry) = (&mut slot.work, &mut slot.entry);
        let begin = || match work {
            Some(work) if is_single => {
                work.start(Exchange::new(incoming, scheme, span.clone()));
                None
            }
            _ => endpoint.begin(Exchange::new(incoming, scheme, span.clone()), work, entry),
        };
        let begun = catch_unwind(AssertUnwindSafe(|| span.within(begin)));
        if let Some(work) = slot.work.as_ref().filter(|_| !had_box) {
            self.boxes += 1;
            self.work_octets = self.work_octets.max(work.octets());
        }
        match begun {
            Ok(None) => {
                slot.runs = true;
                self.poll(conn, index);
            }
            Ok(Some(answer)) => self.fail(conn, index, answer),
            Err(panic) => self.panicked(conn, index, message_of(&*panic)),
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
    pub(crate) fn cancel(&mut self, conn: &Arc<Conn>, stream: StreamName) {
        // There are as many as there were streams at once: looking through them costs less than an index of every request.
        if let Some(index) = self.slots.iter().position(|slot| slot.stream == Some(stream)) {
            self.let_go(index);
            self.slots[index].late = None;
            self.end(conn, index);
        }
    }

    /// Lets a handler go that finishes by itself, in a task of its own.
    #[cold]
    fn let_go(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        if let Some(work) = slot.work.take_if(|work| slot.runs && work.is_detached()) {
            slot.runs = false;
            self.boxes -= 1;
            tokio::spawn(work);
        }
    }

    /// Polls every future that was woken, until none is.
    pub(crate) fn poll_ready(&mut self, conn: &Arc<Conn>) {
        let ready = self.task.first.ready.swap(0, Ordering::SeqCst);
        self.poll_group(conn, 0, ready);
        for at in 0..self.groups.len() {
            let ready = self.groups[at].ready.swap(0, Ordering::SeqCst);
            self.poll_group(conn, (at + 1) * GROUP, ready);
        }
    }

    /// Polls the futures of a group whose bits are set; `first` is the index of its first slot.
    #[inline]
    fn poll_group(&mut self, conn: &Arc<Conn>, first: usize, mut ready: u64) {
        while ready != 0 {
            let index = first + ready.trailing_zeros() as usize;
            ready &= ready - 1;
            self.poll(conn, index);
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
            work: None,
            runs: false,
            late: None,
            stream: None,
            next_free: None,
            waker,
            span: RequestSpan::none(),
            facts: None,
            began: Duration::ZERO,
            entry: 0,
        });
        index
    }

    /// A future that ends, or panics, is dropped: its result answers for it.
    fn poll(&mut self, conn: &Arc<Conn>, index: usize) {
        let slot = &mut self.slots[index];
        let Some(work) = slot.work.as_mut().filter(|_| slot.runs) else { return self.poll_late(conn, index) };
        let mut cx = Context::from_waker(&slot.waker);
        match catch_unwind(AssertUnwindSafe(|| slot.span.within(|| Pin::new(work).poll(&mut cx)))) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(Ok(_))) => self.end(conn, index),
            Ok(Poll::Ready(Err(answer))) => self.fail(conn, index, answer),
            Err(panic) => self.panicked(conn, index, message_of(&*panic)),
        }
    }

    /// Sends on what the peer had no room for.
    #[cold]
    fn poll_late(&mut self, conn: &Arc<Conn>, index: usize) {
        let slot = &mut self.slots[index];
        let mut cx = Context::from_waker(&slot.waker);
        if slot.late.as_mut().is_some_and(|late| late.poll(&mut cx).is_ready()) {
            slot.late = None;
            self.end(conn, index);
        }
    }

    #[cold]
    fn panicked(&mut self, conn: &Arc<Conn>, index: usize, message: &str) {
        self.tell(index, FailureCause::Panic(message));
        self.answer(conn, index, Answer::new(Status::INTERNAL_SERVER_ERROR).content(""));
    }

    /// Answers with what a handler has ended with.
    #[cold]
    fn fail(&mut self, conn: &Arc<Conn>, index: usize, answer: Answer) {
        if let Some(error) = answer.cause() {
            self.tell(index, FailureCause::Error(error));
        }
        self.answer(conn, index, answer);
    }

    #[cold]
    fn tell(&self, index: usize, cause: FailureCause<'_>) {
        let slot = &self.slots[index];
        if let Some(facts) = &slot.facts {
            self.reporter.tell(facts, &slot.span, cause);
        }
    }

    /// Answers for a handler that has ended, unless it has answered itself.
    #[cold]
    fn answer(&mut self, conn: &Arc<Conn>, index: usize, answer: Answer) {
        self.drop_work(index);
        let slot = &mut self.slots[index];
        let left = slot.stream.filter(|_| conn.has_left()).and_then(|stream| conn.reclaim(stream));
        slot.late = left.and_then(|left| LateAnswer::begin(left, answer, &slot.span));
        if slot.late.is_some() { self.poll_late(conn, index) } else { self.end(conn, index) }
    }

    fn end(&mut self, conn: &Arc<Conn>, index: usize) {
        self.drop_work(index);
        let slot = &mut self.slots[index];
        let stream = slot.stream.take();
        if let Some(stream) = stream.filter(|_| conn.has_left()) {
            answer_for(conn, stream, &slot.span);
        }
        if let (true, Some(stream)) = (self.sees_ends, stream) {
            self.tell_end(conn, index, stream);
        }
        let slot = &mut self.slots[index];
        slot.span = RequestSpan::none();
        slot.next_free = self.free.replace(index);
        self.used -= 1;
    }

    #[cold]
    fn tell_end(&mut self, conn: &Arc<Conn>, index: usize, stream: StreamName) {
        let slot = &self.slots[index];
        let Some(facts) = &slot.facts else { return };
        let ended = EndedRequest {
            entry: slot.entry,
            facts,
            peer: self.reporter.peer(),
            version: self.reporter.version(),
            began: slot.began,
            ended: since_opened(conn),
            tally: conn.take_tally(stream),
        };
        // A hook that panics is no reason to end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| self.endpoint.ended(&ended)));
    }

    /// Answers requests that were let go of when their handlers had ended.
    #[cold]
    pub(crate) fn answer_left(&self, conn: &Arc<Conn>) {
        let is_handled = |name: &StreamName| self.slots.iter().any(|slot| slot.stream == Some(*name));
        let left = conn.left().into_iter().filter(|name| !is_handled(name));
        left.for_each(|name| answer_for(conn, name, &RequestSpan::none()));
    }

    /// Drops a future, and keeps its box. What a destructor panics about is no reason to end the connection.
    #[inline(always)]
    fn drop_work(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(work) = slot.work.as_mut().filter(|_| mem::take(&mut slot.runs)) else { return };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| slot.span.within(|| work.clear()))) {
            self.tell(index, FailureCause::Panic(message_of(&*panic)));
        }
    }
}

/// Answers 500 to a request that its handler has let go of.
#[cold]
fn answer_for(conn: &Arc<Conn>, stream: StreamName, span: &RequestSpan) {
    if let Some(left) = conn.reclaim(stream) {
        // It is short enough to be sent at once.
        let _ = LateAnswer::begin(left, Answer::new(Status::INTERNAL_SERVER_ERROR).content(""), span);
    }
}

/// The time since the connection was opened.
fn since_opened(conn: &Conn) -> Duration {
    Duration::from_nanos(conn.time().as_nanos())
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wake_slot(self.group.as_deref().unwrap_or(&self.task.first), self.bit);
    }
}
