//! The requests of one connection that are being handled, in reusable slots.
//!
//! The futures lie in boxes of their handlers (`work.rs`), so that a slot without a request is small. The
//! waker of a slot is made once, and that of the first slot is the task itself. A future that is woken sets
//! its slot's bit and wakes the connection's task, unless that task is running anyway.

mod table;
mod waking;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use alula_fields::Status;
use alula_machine::Time;
use alula_net::{Conn, Incoming, Refused, StreamName};

use crate::{
    answer::{Answer, ended::EndedRequest, late::LateAnswer},
    connection::{
        endpoint::{Endpoint, NO_ENTRY, Notes},
        slow_turns::{SlowRoute, TurnClock},
        work::Running,
    },
    exchange::{Exchange, scheme::SchemeSource},
    observe::{
        failure::{FailureCause, RequestFacts},
        observing::RequestSpan,
        reporting::{Reporter, message_of},
    },
};
use table::Table;
pub(crate) use table::{Measure, Tables};

/// The slots of one group, whose readiness fits a word.
const GROUP: usize = 64;

pub(crate) struct Slots {
    table: Table,
    /// The spare tables of all connections.
    tables: Arc<Tables>,
    reporter: Reporter,
    endpoint: Arc<dyn Endpoint>,
    /// True if one handler answers all requests.
    is_single: bool,
    /// True if hooks see the ends of requests.
    sees_ends: bool,
    clock: TurnClock,
}

impl Slots {
    /// Reports a request that was refused on a connection that goes on.
    #[cold]
    pub(crate) fn tell_refused(&self, conn: &Conn, refused: Refused) {
        if self.reporter.has_listener() {
            let mut facts = RequestFacts::default();
            refused.head().into_iter().for_each(|head| facts.note(head));
            self.reporter.tell_refused(&conn.refusal(&refused), &facts);
        }
    }

    /// Reports that the peer broke a rule, so that a request did not reach a handler.
    pub(crate) fn tell_breach(&self, conn: &Conn) {
        if self.reporter.has_listener()
            && let Some(error) = conn.breach()
        {
            let mut facts = RequestFacts::default();
            conn.with_refused_head(|head| facts.note(head));
            self.reporter.tell_refused(&error, &facts);
        }
    }

    pub(crate) fn new(reporter: Reporter, endpoint: Arc<dyn Endpoint>, tables: Arc<Tables>) -> Self {
        let (is_single, sees_ends) = (endpoint.is_single(), endpoint.sees_ends());
        let clock = TurnClock::new(reporter.hears_slow_turns());
        Self { table: Table::default(), tables, reporter, endpoint, is_single, sees_ends, clock }
    }

    /// Begins the measurement of a turn at this time.
    #[inline]
    pub(crate) fn begin_turn(&mut self, began: Time) {
        if self.clock.is_on() {
            self.clock.begin_turn(began);
        }
    }

    /// Ends the measurement of a turn, once all its handlers have run, and reports the turn if it was slow.
    #[inline]
    pub(crate) fn end_turn(&mut self, conn: &Conn) {
        if self.clock.is_on()
            && let Some(slow) = self.clock.end_turn(|| conn.time(), &self.tables.slow_turns)
        {
            self.tell_slow(slow);
        }
    }

    #[cold]
    fn note_run(&mut self, conn: &Conn, entry: u32) {
        if let Some(slow) = self.clock.ran(entry, || conn.time(), &self.tables.slow_turns) {
            self.tell_slow(slow);
        }
    }

    #[cold]
    fn tell_slow(&self, slow: SlowRoute) {
        self.reporter.tell_slow_turns(self.endpoint.pattern(slow.route), slow.took);
    }

    /// Drops all futures, and gives the slots to other connections or drops them. Endpoints that see the ends
    /// of requests see these.
    pub(crate) fn clear(&mut self, conn: &Arc<Conn>) {
        for index in 0..self.table.len() {
            self.let_go(index);
            // One after the other: two that panicked while all are dropped would end the process.
            self.drop_work(index);
            if let (true, Some(stream)) = (self.sees_ends, self.table[index].stream) {
                self.tell_end(conn, index, stream);
            }
        }
        if self.table.is_unused() {
            self.table.leave(&self.tables);
        } else {
            self.table.clear();
        }
    }

    /// Begins a run of handlers: until [`Self::end_run`], wakes set bits and do not wake the task.
    pub(crate) fn begin_run(&mut self, waker: &Waker) {
        self.table.begin_run(&self.tables, waker);
    }

    /// Ends a run of handlers. Returns false if a slot was woken meanwhile and has to run again.
    pub(crate) fn end_run(&self) -> bool {
        self.table.end_run()
    }

    /// Returns the size of the slots and of their futures.
    #[inline]
    pub(crate) const fn measure(&self) -> Measure {
        self.table.measure()
    }

    /// Gives the slots to other connections, unless a request is in progress.
    pub(crate) fn leave(&mut self) {
        self.table.leave(&self.tables);
    }

    /// Returns the bytes that the slots hold: wakers, futures with their contents, and recorded facts of
    /// requests.
    pub(crate) fn bytes(&self, measure: Measure) -> usize {
        let facts = if self.reporter.has_listener() { RequestFacts::BYTES_MAX } else { 0 };
        measure.works + measure.slots * (Table::slot_bytes() + facts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_unused()
    }

    /// Begins to answer a request and polls the future once. A panic on the way is the end of that future
    /// only.
    pub(crate) fn start(&mut self, conn: &Arc<Conn>, incoming: Incoming, scheme: SchemeSource) {
        let index = self.table.take(incoming.key);
        let span = RequestSpan::begin(&incoming.head, &self.reporter);
        let slot = &mut self.table[index];
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
        let (work, notes) =
            (&mut slot.work, Notes { entry: &mut slot.entry, facts: slot.facts.as_deref_mut() });
        let begin = || match work {
            Some(work) if is_single => {
                work.start(Exchange::new(incoming, scheme, span.clone()));
                None
            }
            _ => endpoint.begin(Exchange::new(incoming, scheme, span.clone()), work, notes),
        };
        let begun = catch_unwind(AssertUnwindSafe(|| span.within(begin)));
        if let Some(bytes) = slot.work.as_ref().filter(|_| !had_box).map(Running::bytes) {
            self.table.note_box(bytes);
        }
        match begun {
            Ok(None) => {
                self.table[index].runs = true;
                self.poll(conn, index);
            }
            Ok(Some(answer)) => self.fail(conn, index, answer),
            Err(panic) => self.panicked(conn, index, message_of(&*panic)),
        }
    }

    /// Drops the future for this stream, if it still runs.
    pub(crate) fn cancel(&mut self, conn: &Arc<Conn>, stream: StreamName) {
        // There are as many as there were streams at once: looking through them costs less than an index of
        // every request.
        let index = self.table.iter().position(|slot| slot.stream == Some(stream));
        if let Some(index) = index {
            self.let_go(index);
            self.table[index].late = None;
            self.end(conn, index);
        }
    }

    /// Detaches a handler that finishes by itself, in a task of its own.
    #[cold]
    fn let_go(&mut self, index: usize) {
        let slot = &mut self.table[index];
        if let Some(work) = slot.work.take_if(|work| slot.runs && work.is_detached()) {
            slot.runs = false;
            self.table.note_box_gone();
            tokio::spawn(work);
        }
    }

    /// Polls every future that was woken, until none is.
    pub(crate) fn poll_ready(&mut self, conn: &Arc<Conn>) {
        for group in 0..self.table.groups() {
            let ready = self.table.take_ready(group);
            self.poll_group(conn, group * GROUP, ready);
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

    /// Polls the handler in a slot. A future that ends, or panics, is dropped: its result answers for it.
    fn poll(&mut self, conn: &Arc<Conn>, index: usize) {
        // A waker may outlive the slots of a connection that has left or dropped them.
        let Some(slot) = self.table.get_mut(index) else { return };
        let Some(work) = slot.work.as_mut().filter(|_| slot.runs) else { return self.poll_late(conn, index) };
        let mut cx = Context::from_waker(&slot.waker);
        let entry = slot.entry;
        let polled = catch_unwind(AssertUnwindSafe(|| slot.span.within(|| Pin::new(work).poll(&mut cx))));
        if self.clock.is_on() {
            self.note_run(conn, entry);
        }
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(Ok(_))) => self.end(conn, index),
            Ok(Poll::Ready(Err(answer))) => self.fail(conn, index, answer),
            Err(panic) => self.panicked(conn, index, message_of(&*panic)),
        }
    }

    /// Continues sending an answer for which the peer had no room.
    #[cold]
    fn poll_late(&mut self, conn: &Arc<Conn>, index: usize) {
        let slot = &mut self.table[index];
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

    /// Answers with the error of a handler.
    #[cold]
    fn fail(&mut self, conn: &Arc<Conn>, index: usize, answer: Answer) {
        // A peer that goes away is no failure.
        if let Some(error) = answer.cause().filter(|error| !conn.has_left_with(error)) {
            self.tell(index, FailureCause::Error(error));
        }
        self.answer(conn, index, answer);
    }

    #[cold]
    fn tell(&self, index: usize, cause: FailureCause<'_>) {
        let slot = &self.table[index];
        if let Some(facts) = &slot.facts {
            self.reporter.tell(facts, &slot.span, cause);
        }
    }

    /// Answers for a handler that has ended without an answer.
    #[cold]
    fn answer(&mut self, conn: &Arc<Conn>, index: usize, answer: Answer) {
        self.drop_work(index);
        let slot = &mut self.table[index];
        // There is a stream to reclaim only if the handler let go of it unanswered.
        let left = slot.stream.filter(|_| conn.has_left()).and_then(|stream| conn.reclaim(stream));
        slot.late = left.and_then(|left| LateAnswer::begin(left, answer, &slot.span));
        if slot.late.is_some() { self.poll_late(conn, index) } else { self.end(conn, index) }
    }

    fn end(&mut self, conn: &Arc<Conn>, index: usize) {
        self.drop_work(index);
        let slot = &mut self.table[index];
        let stream = slot.stream.take();
        // The handler ended well and let go of its exchange unanswered: the peer still needs an answer.
        if let Some(stream) = stream.filter(|_| conn.has_left()) {
            answer_for(conn, stream, &slot.span);
        }
        if let (true, Some(stream)) = (self.sees_ends, stream) {
            self.tell_end(conn, index, stream);
        }
        let slot = &mut self.table[index];
        slot.span = RequestSpan::none();
        self.table.free(index);
    }

    #[cold]
    fn tell_end(&mut self, conn: &Arc<Conn>, index: usize, stream: StreamName) {
        let slot = &self.table[index];
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

    /// Answers requests whose responders were dropped before their handlers ended.
    #[cold]
    pub(crate) fn answer_left(&self, conn: &Arc<Conn>) {
        let is_handled = |name: &StreamName| self.table.iter().any(|slot| slot.stream == Some(*name));
        let left = conn.left().into_iter().filter(|name| !is_handled(name));
        left.for_each(|name| answer_for(conn, name, &RequestSpan::none()));
    }

    /// Drops a future, and keeps its box. A panic in a destructor is no reason to end the connection.
    #[inline(always)]
    fn drop_work(&mut self, index: usize) {
        let slot = &mut self.table[index];
        let Some(work) = slot.work.as_mut().filter(|_| mem::take(&mut slot.runs)) else { return };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| slot.span.within(|| work.clear()))) {
            self.tell(index, FailureCause::Panic(message_of(&*panic)));
        }
    }
}

/// Answers 500 to a request whose handler has dropped its responder.
#[cold]
fn answer_for(conn: &Arc<Conn>, stream: StreamName, span: &RequestSpan) {
    if let Some(left) = conn.reclaim(stream) {
        // It is short enough to be sent at once.
        let _ = LateAnswer::begin(left, Answer::new(Status::INTERNAL_SERVER_ERROR).content(""), span);
    }
}

/// Returns the time since the connection was opened.
fn since_opened(conn: &Conn) -> Duration {
    Duration::from_nanos(conn.time().as_nanos())
}
