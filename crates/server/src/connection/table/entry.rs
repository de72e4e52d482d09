//! The entry of a connection in the listener's table, and the listener's requests to its task.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{
            AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use alula_net::{IdleObserver, Overrun};
use tokio::{
    task::AbortHandle,
    time::{Instant, sleep_until},
};

use super::{Connections, weighing::Prefix};

/// The time in which the first request of a connection may begin after the server stops.
pub(crate) const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// The bit that asks a connection to finish its requests, because the server stops.
const STOP: u8 = 1;
/// The bit that asks a connection to make room for another, if it is idle or its handshake is in progress.
const LEAVE: u8 = 2;
/// The bit that asks a connection to end, because memory is scarce, unless it makes progress.
const GET_ON: u8 = 4;

/// A connection as the listener sees it.
pub(crate) struct Entry {
    pub(super) prefixes: [Prefix; 2],
    pub(super) arrived: Instant,
    /// The place of the connection in the table.
    pub(super) index: AtomicUsize,
    /// The time since which it has been idle, in nanoseconds of the table's time; 0 if it is not.
    idle_since: AtomicU64,
    /// The instant at which the table's time begins.
    epoch: Instant,
    /// The bytes that it holds, if they are many.
    held: AtomicU64,
    connections: Weak<Connections>,
    asked: AtomicU8,
    /// The requests that it still answers, recorded after it was asked to stop.
    requests_left: AtomicU32,
    waker: Mutex<Option<Waker>>,
    task: OnceLock<AbortHandle>,
}

impl Entry {
    pub(super) fn new(peer: SocketAddr, connections: &Arc<Connections>) -> Self {
        Self {
            prefixes: Prefix::both(peer),
            arrived: Instant::now(),
            index: AtomicUsize::new(0),
            idle_since: AtomicU64::new(0),
            epoch: connections.epoch,
            held: AtomicU64::new(0),
            connections: Arc::downgrade(connections),
            asked: AtomicU8::new(0),
            requests_left: AtomicU32::new(0),
            waker: Mutex::default(),
            task: OnceLock::new(),
        }
    }

    /// Returns the table's time at which the connection arrived.
    pub(super) fn arrived_at(&self) -> u64 {
        self.since_epoch(self.arrived)
    }

    /// Returns the table's time at which the connection became idle, if it is idle and was not asked to leave
    /// yet.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let since = self.idle_since.load(Relaxed);
        (since > 0 && self.asked.load(Acquire) & LEAVE == 0).then_some(since)
    }

    /// Asks the connection to make room. False if it was asked before, or has left.
    pub(super) fn ask_to_leave(&self) -> bool {
        let is_new = self.asked.fetch_or(LEAVE, Release) & LEAVE == 0;
        if is_new {
            self.wake();
        }
        is_new
    }

    /// Asks the connection to end unless it makes progress, because memory is scarce and it holds much.
    pub(super) fn ask_to_get_on(&self) {
        if self.asked.fetch_or(GET_ON, Release) & GET_ON == 0 {
            self.wake();
        }
    }

    /// Returns the bytes that the connection holds, as far as it has reported.
    pub(super) fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// Returns the number of requests that the connection still answers; 0 before it was asked to stop.
    pub(super) fn requests_left(&self) -> usize {
        self.requests_left.load(Relaxed) as usize
    }

    /// Records that the connection has left, and is not asked any more.
    pub(super) fn has_left(&self) {
        self.asked.fetch_or(LEAVE, Release);
    }

    /// Aborts its task.
    pub(super) fn abort(&self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }

    pub(super) fn ask_to_stop(&self) {
        self.asked.fetch_or(STOP, Release);
        self.wake();
    }

    fn wake(&self) {
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waker.into_iter().for_each(Waker::wake);
    }

    fn rests_since(&self, at: Instant) {
        self.idle_since.store(self.since_epoch(at), Relaxed);
    }

    fn since_epoch(&self, at: Instant) -> u64 {
        // Never 0, which says that it is not idle.
        at.saturating_duration_since(self.epoch).as_nanos() as u64 + 1
    }
}

impl IdleObserver for Entry {
    fn idle(&self) {
        self.rests_since(Instant::now());
    }

    fn busy(&self) {
        self.idle_since.store(0, Relaxed);
    }

    fn holds(&self, bytes: u64, is_scarce: bool) {
        self.held.store(bytes, Relaxed);
        if is_scarce && let Some(connections) = self.connections.upgrade() {
            connections.relieve_memory();
        }
    }

    fn is_stopping(&self) -> bool {
        self.asked.load(Acquire) & STOP != 0
    }
}

/// A connection's place in the table, which it leaves when this is dropped. Its task asks here what is asked
/// of it.
pub(crate) struct Registration {
    connections: Arc<Connections>,
    entry: Arc<Entry>,
    /// True once the entry has the waker of the task, which never changes.
    has_waker: bool,
}

impl Registration {
    pub(super) const fn new(connections: Arc<Connections>, entry: Arc<Entry>) -> Self {
        Self { connections, entry, has_waker: false }
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Returns the instant at which the connection was accepted.
    pub(crate) fn arrived(&self) -> Instant {
        self.entry.arrived
    }

    /// Returns the place in which the connection's task is recorded.
    pub(crate) fn task(&self) -> TaskOf {
        TaskOf(self.entry.clone())
    }

    /// Tells the table when the connection becomes idle.
    pub(crate) fn observer(&self) -> Arc<dyn IdleObserver> {
        self.entry.clone()
    }

    /// Returns the request of the listener to the connection; its task is woken when that changes. To be
    /// polled by one task only.
    #[inline]
    pub(crate) fn poll_asked(&mut self, cx: &mut Context<'_>) -> Asked {
        if !self.has_waker {
            self.register(cx);
        }
        Asked(self.entry.asked.load(Acquire))
    }

    fn register(&mut self, cx: &mut Context<'_>) {
        let mut waker = self.entry.waker.lock().unwrap_or_else(PoisonError::into_inner);
        *waker = Some(cx.waker().clone());
        self.has_waker = true;
    }

    /// Returns the result of a handshake, unless the connection has to make room before, or the server stops
    /// and it takes too long. All that has arrived is read before either.
    pub(crate) async fn unless_asked_to_leave<T>(
        &mut self,
        mut handshake: Pin<&mut impl Future<Output = T>>,
    ) -> Option<T> {
        let mut late = None;
        std::future::poll_fn(|cx| {
            let asked = self.poll_asked(cx);
            if let Poll::Ready(done) = handshake.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            if asked.leaves() {
                self.note_evicted_handshake();
                return Poll::Ready(None);
            }
            if !asked.stops() {
                return Poll::Pending;
            }
            let ends_at = self.entry.arrived + FIRST_REQUEST;
            late.get_or_insert_with(|| Box::pin(sleep_until(ends_at))).as_mut().poll(cx).map(|()| None)
        })
        .await
    }

    /// Records that the peer has introduced itself: the connection is no handshake any more, and stays if it
    /// was asked to leave as one.
    pub(crate) fn handshake_ends(&self) {
        self.connections.handshake_ends(&self.entry);
        // It may have been asked to make room as a handshake, which it is no more.
        self.stays();
    }

    /// Counts a handshake in progress that makes room.
    pub(crate) fn note_evicted_handshake(&self) {
        self.connections.ledger.note_overrun(Overrun::HANDSHAKES);
    }

    /// Counts an idle connection that makes room.
    pub(crate) fn note_evicted(&self) {
        self.connections.ledger.note_overrun(Overrun::CONNECTIONS);
    }

    /// Withdraws the request to leave, because the connection is needed.
    pub(crate) fn stays(&self) {
        if self.entry.asked.fetch_and(!LEAVE, Acquire) & LEAVE != 0 {
            self.connections.room.notify_one();
        }
    }

    /// Records that the connection checks the request to make progress.
    pub(crate) fn is_looked_at(&self) {
        self.entry.asked.fetch_and(!GET_ON, Acquire);
    }

    /// Records how many requests are still answered after a stop.
    pub(crate) fn note_requests_left(&self, requests: u32) {
        self.entry.requests_left.store(requests, Relaxed);
    }

    /// Records that the connection has ended and only reads what its peer still sends, so that it can make
    /// room at any time.
    pub(crate) fn lingers(&self, since: Instant) {
        self.entry.rests_since(since);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.connections.leave(&self.entry);
    }
}

/// A connection whose task is about to be spawned.
pub(crate) struct TaskOf(Arc<Entry>);

impl TaskOf {
    /// Records the handle that aborts the task. It may have ended already.
    pub(crate) fn begins(self, task: AbortHandle) {
        // It is noted once.
        let _ = self.0.task.set(task);
    }
}

/// A request of the listener to a connection.
#[derive(Clone, Copy)]
pub(crate) struct Asked(u8);

impl Asked {
    /// Returns true if the connection should finish its requests, and end.
    pub(crate) const fn stops(self) -> bool {
        self.0 & STOP != 0
    }

    /// Returns true if the connection should end unless it makes progress.
    pub(crate) const fn gets_on(self) -> bool {
        self.0 & GET_ON != 0
    }

    /// Returns true if the connection should end to make room for another.
    pub(crate) const fn leaves(self) -> bool {
        self.0 & LEAVE != 0
    }
}
