//! The hand-over of a connection between callers, in every order in which threads can meet.
//!
//! The code that runs here is `crates/net/src/drive/reader.rs` itself, under the lock of a model: callers and
//! the standby task do around it what `shared.rs` and `client_task.rs` do, a socket that wakes who read it
//! last stands for the reactor, and loom tries the interleavings. The standby task has no tick here: what the
//! design promises, it promises without. A caller that is not woken when its answer is there waits for ever,
//! which loom reports as a deadlock.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::model::Builder;
use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;

#[allow(dead_code, reason = "the model has no server")]
#[path = "../../net/src/drive/reader.rs"]
mod reader;
#[allow(dead_code, reason = "the model gives no memory back")]
#[path = "../../net/src/drive/wakers.rs"]
mod wakers;

use reader::{HandOver, Part, Reader, Side, Wait, Waits};
use wakers::Wakes;

/// How often a thread may be stopped where it would not stop by itself, at most. `cargo xtask loom` takes the
/// release build: one more makes thirty times as many interleavings.
const PREEMPTIONS: usize = if cfg!(debug_assertions) { 1 } else { 2 };

/// What a caller does.
#[derive(Clone, Copy, Debug)]
enum Conduct {
    /// It waits for its answer.
    Waits,
    /// It is dropped the first time it would wait.
    Leaves,
    /// It waits until it is woken, and is dropped without having run.
    LeavesWhenWoken,
}

struct Half;

struct Conn {
    shared: Mutex<Shared>,
    socket: Mutex<Socket>,
}

struct Shared {
    hand_over: HandOver<Half>,
    callers: Callers,
    wake: Wakes,
    is_answered: Vec<bool>,
    callers_left: usize,
}

struct Callers(Vec<[Wait; 2]>);

/// Answers that have arrived, and who is to be woken by the next.
#[derive(Default)]
struct Socket {
    arrived: VecDeque<usize>,
    reader: Option<Waker>,
}

impl Waits for Callers {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn wait(&mut self, slot: usize, side: Side) -> &mut Wait {
        &mut self.0[slot][side as usize]
    }
}

impl Socket {
    fn poll_read(&mut self, cx: &Context<'_>) -> Poll<usize> {
        match self.arrived.pop_front() {
            Some(answer) => Poll::Ready(answer),
            None => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Conn {
    fn new(callers: usize) -> Self {
        let shared = Shared {
            hand_over: HandOver::new(Half),
            callers: Callers((0..callers).map(|_| Default::default()).collect()),
            wake: Wakes::default(),
            is_answered: vec![false; callers],
            callers_left: callers,
        };
        Self { shared: Mutex::new(shared), socket: Mutex::new(Socket::default()) }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }

    fn unlock_and_wake<'a>(&'a self, mut shared: MutexGuard<'a, Shared>) {
        let mut wake = std::mem::take(&mut shared.wake);
        drop(shared);
        while !wake.is_empty() {
            wake.take_few().for_each(Waker::wake);
        }
    }

    /// `Conn::poll_wait`.
    fn poll_wait(&self, caller: usize, cx: &Context<'_>) -> Poll<()> {
        let me = Reader::Caller(caller as u32, Side::Read);
        let mut guard = self.lock();
        if guard.callers.wait(caller, Side::Read).end() {
            guard.hand_over.count_arrived(1);
        }
        loop {
            let shared = &mut *guard;
            if shared.is_answered[caller] {
                shared.hand_over.give_way(|who| who == me, &mut shared.callers, &mut shared.wake);
                self.unlock_and_wake(guard);
                return Poll::Ready(());
            }
            shared.callers.wait(caller, Side::Read).begin(cx.waker());
            if shared.hand_over.part(me, cx.waker(), &mut shared.wake) == Part::Rests {
                self.unlock_and_wake(guard);
                return Poll::Pending;
            }
            let progress;
            (guard, progress) = self.turn(guard, cx, me);
            if !progress {
                self.unlock_and_wake(guard);
                return Poll::Pending;
            }
        }
    }

    /// `Conn::turn`.
    fn turn<'a>(
        &'a self,
        mut guard: MutexGuard<'a, Shared>,
        cx: &Context<'_>,
        me: Reader,
    ) -> (MutexGuard<'a, Shared>, bool) {
        let shared = &mut *guard;
        shared.hand_over.count_turn();
        let Some(half) = shared.hand_over.begin_to_read(me, &mut shared.wake) else { return (guard, false) };
        drop(guard);
        let read = self.socket.lock().unwrap().poll_read(cx);
        let mut guard = self.lock();
        let shared = &mut *guard;
        shared.hand_over.end_to_read(half);
        let Poll::Ready(answer) = read else { return (guard, false) };
        shared.hand_over.arrive(me, &mut shared.callers);
        shared.is_answered[answer] = true;
        let wait = shared.callers.wait(answer, Side::Read);
        shared.hand_over.wake_caller(wait, &mut shared.wake);
        self.unlock_and_wake(guard);
        (self.lock(), true)
    }

    /// `Conn::release`: the handle is dropped.
    fn release(&self, caller: usize) {
        let mut guard = self.lock();
        let shared = &mut *guard;
        if shared.callers.wait(caller, Side::Read).end() {
            shared.hand_over.count_arrived(1);
        }
        let is_of = |who| matches!(who, Reader::Caller(slot, _) if slot as usize == caller);
        shared.hand_over.give_way(is_of, &mut shared.callers, &mut shared.wake);
        shared.callers_left -= 1;
        if shared.callers_left == 0 {
            shared.hand_over.wake_task(&mut shared.wake);
        }
        self.unlock_and_wake(guard);
    }

    /// `Standby::poll`, without its timer. Ready once no caller is left.
    fn poll_standby(&self, cx: &Context<'_>) -> Poll<()> {
        let mut guard = self.lock();
        guard.hand_over.task_begins(cx.waker());
        if guard.hand_over.standby_reads(None) && !guard.hand_over.in_turn() {
            loop {
                let progress;
                (guard, progress) = self.turn(guard, cx, Reader::Task);
                if !progress || guard.hand_over.reader() != Reader::Task {
                    break;
                }
            }
        }
        let is_over = guard.callers_left == 0;
        self.unlock_and_wake(guard);
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// The peer answers, and the reactor wakes who read last.
    fn answer(&self, caller: usize) {
        let mut socket = self.socket.lock().unwrap();
        socket.arrived.push_back(caller);
        let reader = socket.reader.take();
        drop(socket);
        reader.into_iter().for_each(Waker::wake);
    }

    fn call(&self, caller: usize, conduct: Conduct) {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            if polls > 1 && matches!(conduct, Conduct::LeavesWhenWoken) {
                return Poll::Ready(());
            }
            let polled = self.poll_wait(caller, cx);
            if matches!(conduct, Conduct::Leaves) { Poll::Ready(()) } else { polled }
        }));
        self.release(caller);
    }
}

/// Every caller that waits gets its answer, in every order; the number of orders is printed.
fn check(conducts: &'static [Conduct]) {
    static ORDERS: AtomicUsize = AtomicUsize::new(0);
    let before = ORDERS.load(Relaxed);
    let mut builder = Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        ORDERS.fetch_add(1, Relaxed);
        let conn = Arc::new(Conn::new(conducts.len()));
        let callers: Vec<_> = (0..conducts.len())
            .map(|caller| {
                let conn = conn.clone();
                thread::spawn(move || conn.call(caller, conducts[caller]))
            })
            .collect();
        let standby = {
            let conn = conn.clone();
            thread::spawn(move || block_on(poll_fn(|cx| conn.poll_standby(cx))))
        };
        (0..conducts.len()).for_each(|caller| conn.answer(caller));
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        standby.join().unwrap();
        assert_eq!(conn.lock().hand_over.woken(), 0, "nobody counts as woken in the end");
    });
    let orders = ORDERS.load(Relaxed) - before;
    println!("{conducts:?}: {orders} interleavings, {PREEMPTIONS} preemptions at most");
    assert!(orders > 10, "threads meet in more orders than that");
}

/// One after the other: the counter is of all.
#[test]
fn nobody_waits_for_ever() {
    use Conduct::{Leaves, LeavesWhenWoken, Waits};
    check(&[Waits]);
    check(&[Leaves, Waits]);
    check(&[LeavesWhenWoken, Waits]);
    check(&[Waits, Waits]);
}
