//! Chooses which waiting caller reads the socket, and passes that role on.
//!
//! On a client the callers read themselves: the caller that was polled last and still waits is the *reader*,
//! and its waker is with the reactor. No other caller hears of the socket, and the others count on the
//! reader, which must not go without passing the role on:
//!
//! Rule 1: the caller that takes the half out is the reader from then on; there is one half, so there is one
//! reader at a time.
//! Rule 2: a caller that takes the reading from the connection's task wakes the task, since the task's waker
//! is not with the reactor any more.
//! Rule 3: a caller that leaves, with its answer or without, passes the reading on to a caller that waits,
//! and wakes it.
//! Rule 4: a caller counts as woken from when its waker is taken until it runs or leaves; the waker goes off
//! in between.
//!
//! All of this is memory work under the connection's lock: no system call, no clock, no waking; wakers are
//! appended to a list. The content that is read plays no part here, so that a model of threads can run the
//! code as it is (`crates/simulation/tests/hand_over.rs`).

use std::task::Waker;

use super::wakers::Wakes;

/// The direction that a handle waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Side {
    /// A head, content or trailers.
    Read,
    /// Room to send.
    Write,
}

/// The present reader of the socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reader {
    /// The connection's own task: of a server, or of a client, where it then sleeps without a tick.
    Task,
    /// Nobody: a client's last caller has left, and its standby task has not run since.
    Nobody,
    /// A caller that waits on this slot.
    Caller(u32, Side),
}

/// A handle's place to be woken.
#[derive(Default)]
pub(crate) struct Wait {
    waker: Option<Waker>,
    state: WaitState,
    /// The handle has waited since [`take_waited`](Self::take_waited) was last called.
    has_waited: bool,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum WaitState {
    #[default]
    Away,
    /// The handle waits to be woken.
    Waiting,
    /// The handle was woken and has not run since.
    Woken,
}

impl Wait {
    /// Records that the handle waits.
    #[inline]
    pub(crate) fn begin(&mut self, waker: &Waker) {
        self.state = WaitState::Waiting;
        self.has_waited = true;
        match &mut self.waker {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Returns true if the handle waits and was not woken yet.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.state == WaitState::Waiting
    }

    /// Returns true if the handle waits, or has waited since the last call, even if it was woken in between.
    pub(crate) fn take_waited(&mut self) -> bool {
        std::mem::take(&mut self.has_waited) || self.is_waiting()
    }

    /// Takes the waker of a waiting handle, which counts as woken from here on.
    #[inline]
    fn wake(&mut self) -> Option<Waker> {
        if !self.is_waiting() {
            return None;
        }
        self.state = WaitState::Woken;
        self.waker.take()
    }

    /// Ends the wait: the handle runs. Returns true if it had been woken.
    #[inline]
    #[must_use]
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(&mut self.state) == WaitState::Woken
    }
}

/// The places of all callers, by slot and side.
pub(crate) trait Waits {
    fn count(&self) -> usize;
    fn wait(&mut self, slot: usize, side: Side) -> &mut Wait;
}

/// The next step of a caller that still waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// The caller returns, and is woken later.
    Rests,
    /// The caller takes a turn for all.
    Turns,
}

/// The reading half of a socket, `H`, and its present owner.
pub(crate) struct HandOver<H> {
    /// The reading half; `None` while somebody reads.
    half: Option<H>,
    reader: Reader,
    /// The slot at which the search for the next reader starts.
    last_reader: usize,
    /// Callers that were woken and have not run since.
    woken: usize,
    /// Woken callers that another caller let go first, and that did not run.
    late: usize,
    /// The caller that lets the woken ones run before it writes for all of them.
    yielding: Option<Reader>,
    /// The waker of the connection's own task.
    task: Option<Waker>,
    /// The connection's own task runs now, and will check everything before it sleeps.
    task_runs: bool,
    /// The number of turns so far, by which the standby task sees whether callers still take them.
    turns: u64,
}

impl<H> HandOver<H> {
    pub(crate) fn new(half: H) -> Self {
        Self {
            half: Some(half),
            reader: Reader::Task,
            last_reader: 0,
            woken: 0,
            late: 0,
            yielding: None,
            task: None,
            task_runs: false,
            turns: 0,
        }
    }

    /// Returns true if somebody reads.
    #[inline]
    pub(crate) fn in_turn(&self) -> bool {
        self.half.is_none()
    }

    #[inline]
    pub(crate) fn reader(&self) -> Reader {
        self.reader
    }

    #[inline]
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    #[inline]
    pub(crate) fn task_runs(&self) -> bool {
        self.task_runs
    }

    /// Returns the number of callers that were woken and have not run since.
    #[allow(dead_code, reason = "tests and simulations ask")]
    pub(crate) fn woken(&self) -> usize {
        self.woken
    }

    /// Counts a turn that begins.
    #[inline]
    pub(crate) fn count_turn(&mut self) {
        self.turns += 1;
    }

    /// Takes the reading half out, unless it is in use. The caller that takes it leaves its waker with the
    /// reactor, in place of another's: from here on it is the reader.
    #[inline]
    pub(crate) fn begin_to_read(&mut self, me: Reader, wake: &mut Wakes) -> Option<H> {
        let half = self.half.take()?;
        if self.reader == Reader::Task && me != Reader::Task {
            self.wake_task(wake);
        }
        self.reader = me;
        Some(half)
    }

    /// Puts the reading half back.
    #[inline]
    pub(crate) fn end_to_read(&mut self, half: H) {
        self.half = Some(half);
    }

    /// Takes the reading half out for the last reads, when the connection is over.
    pub(crate) fn take_half(&mut self) -> Option<H> {
        self.half.take()
    }

    /// Moves the waker of a waiting caller, if there is one, to the list.
    #[inline]
    pub(crate) fn wake_caller(&mut self, wait: &mut Wait, wake: &mut Wakes) {
        if let Some(waker) = wait.wake() {
            self.woken += 1;
            wake.push(waker);
        }
    }

    /// Counts off callers that were woken and have run, or have gone.
    #[inline]
    pub(crate) fn count_arrived(&mut self, callers: usize) {
        self.woken -= callers;
        self.late = self.late.min(self.woken);
    }

    /// Counts the reader as arrived: it checks its slot next, and needs no waking.
    pub(crate) fn arrive(&mut self, me: Reader, waits: &mut impl Waits) {
        if let Reader::Caller(slot, side) = me
            && waits.wait(slot as usize, side).end()
        {
            self.count_arrived(1);
        }
    }

    /// Decides whether a client's waiting caller rests or takes a turn.
    pub(crate) fn part(&mut self, me: Reader, waker: &Waker, wake: &mut Wakes) -> Part {
        if self.in_turn() {
            // The reader writes as well, so no caller has to wait for this one to write.
            self.yielding.take_if(|yielding| *yielding == me);
            return Part::Rests;
        }
        if self.lets_others_run(me, waker, wake) { Part::Rests } else { Part::Turns }
    }

    /// Returns true if this caller lets the woken ones run first: they may have bytes to send, so the first
    /// caller that comes to wait runs again after them and writes once for all. A caller that has not run by
    /// then is not waited for again: a task may do something else, and a task that polls two callers in turns
    /// would let them go first for ever.
    fn lets_others_run(&mut self, me: Reader, waker: &Waker, wake: &mut Wakes) -> bool {
        if self.yielding == Some(me) {
            self.late = self.woken;
        }
        if self.woken == self.late {
            self.yielding = None;
            return false;
        }
        if self.yielding.is_none() {
            self.yielding = Some(me);
            wake.push(waker.clone());
        }
        true
    }

    /// Lets a client's caller leave. If the others count on it, to read or to write for all, another waiting
    /// caller takes its role, or else the connection's task does.
    pub(crate) fn give_way(
        &mut self,
        leaves: impl Fn(Reader) -> bool,
        waits: &mut impl Waits,
        wake: &mut Wakes,
    ) {
        // Callers that came meanwhile count on the one that yielded, but not while somebody is in a turn:
        // that one goes on reading, and has to stay the reader so that it is noticed when it leaves.
        let yielded = self.yielding.take_if(|yielding| leaves(*yielding)).is_some();
        if leaves(self.reader) || (yielded && !self.in_turn()) {
            self.pass_on(waits, wake);
        }
    }

    fn pass_on(&mut self, waits: &mut impl Waits, wake: &mut Wakes) {
        if self.reader == Reader::Task {
            // The task sleeps as the reader and has to look in again from now on.
            self.wake_task(wake);
        }
        self.reader = Reader::Nobody;
        let count = waits.count();
        for step in 0..count {
            let slot = (self.last_reader + step + 1) % count;
            for side in [Side::Read, Side::Write] {
                let wait = waits.wait(slot, side);
                if wait.is_waiting() {
                    self.last_reader = slot;
                    self.wake_caller(wait, wake);
                    self.reader = Reader::Caller(slot as u32, side);
                    return;
                }
            }
        }
    }

    /// Sets the waker of the connection's task, which runs now.
    pub(crate) fn task_begins(&mut self, waker: &Waker) {
        match &mut self.task {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Records whether a server's task is running, and needs no waking.
    pub(crate) fn set_task_runs(&mut self, runs: bool) {
        self.task_runs = runs;
    }

    pub(crate) fn wake_task(&mut self, wake: &mut Wakes) {
        if !self.task_runs
            && let Some(waker) = self.task.take()
        {
            wake.push(waker);
        }
    }

    /// Returns true if the standby task reads when it next runs; `seen` is how many turns there had been when
    /// it last ticked, if it ticks now.
    pub(crate) fn standby_reads(&self, seen: Option<u64>) -> bool {
        !matches!(self.reader, Reader::Caller(..)) || seen == Some(self.turns)
    }

    /// Returns true if the standby task is the reader, and then sleeps without a tick.
    pub(crate) fn task_reads(&self) -> bool {
        self.reader == Reader::Task && !self.in_turn()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Waits for Vec<[Wait; 2]> {
        fn count(&self) -> usize {
            self.len()
        }

        fn wait(&mut self, slot: usize, side: Side) -> &mut Wait {
            &mut self[slot][side as usize]
        }
    }

    const SENDER: Reader = Reader::Caller(0, Side::Write);
    const RECEIVER: Reader = Reader::Caller(0, Side::Read);

    /// Two callers of one task let a third go first that was woken and is not polled; each woke their task,
    /// in which then the other let it go first, and so on for ever.
    #[test]
    fn who_does_not_come_is_let_go_first_once() {
        let (mut hand_over, mut wake) = (HandOver::new("half"), Wakes::default());
        let mut late = Wait::default();
        late.begin(Waker::noop());
        hand_over.wake_caller(&mut late, &mut wake);
        wake.take_few().for_each(drop);
        let mut part = |me| hand_over.part(me, Waker::noop(), &mut wake);
        assert_eq!((part(SENDER), part(RECEIVER)), (Part::Rests, Part::Rests));
        assert_eq!((part(RECEIVER), part(SENDER)), (Part::Rests, Part::Turns));
        assert_eq!((part(RECEIVER), part(SENDER)), (Part::Turns, Part::Turns));
        assert_eq!(wake.len(), 1, "the task was woken once");
        hand_over.count_arrived(usize::from(late.end()));
        assert_eq!(hand_over.woken(), 0);
    }

    #[test]
    fn a_reader_that_leaves_passes_on_and_one_that_does_not_read_need_not() {
        let (mut hand_over, mut wake) = (HandOver::new("half"), Wakes::default());
        let mut waits: Vec<[Wait; 2]> = vec![Default::default(), Default::default()];
        waits[1][0].begin(Waker::noop());
        let half = hand_over.begin_to_read(SENDER, &mut wake);
        hand_over.end_to_read(half.expect("nobody else reads"));
        hand_over.give_way(|who| who == RECEIVER, &mut waits, &mut wake);
        assert_eq!((hand_over.reader(), wake.len()), (SENDER, 0));
        hand_over.give_way(|who| who == SENDER, &mut waits, &mut wake);
        assert_eq!((hand_over.reader(), wake.len()), (Reader::Caller(1, Side::Read), 1));
        assert_eq!(hand_over.woken(), 1);
    }
}
