//! The table of all connections of a server: their limit, and the choice of the one that makes room for a
//! newcomer.
//!
//! Rule 1: a connection tells of itself when it arrives, introduces itself and leaves, and when it becomes
//! idle or is used again (`IdleObserver` of `net`), never for each request. All else is worked out when room
//! is needed.
//! Rule 2: who makes room is worked out for several newcomers at once (`weighing.rs`), so that a flood at the
//! bound costs a look at a few entries for each connection. Each one is asked only when its turn comes, and
//! if it still is idle.
//! Rule 3: a connection is asked, not aborted: its task reads what has arrived, and stays if that was a
//! request.

mod entry;
mod memory;
mod weighing;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use alula_machine::Limits;
use alula_net::Ledger;
use tokio::{sync::Notify, time::Instant};

pub(crate) use self::entry::{FIRST_REQUEST, Registration};
use self::{
    entry::Entry,
    memory::MemoryRelief,
    weighing::{Weighed, first_to_go},
};
use crate::listen::descriptors;

/// The part of the connections that is chosen at once to make room.
const CHOSEN_SHARE: usize = 64;

/// The time that a newcomer waits before another connection is asked to make room.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(50);

pub(crate) struct Connections {
    connections_max: usize,
    handshakes_max: usize,
    /// The time for which an ended connection is still read, and the bytes.
    pub(crate) linger_timeout: Duration,
    pub(crate) linger_bytes: u64,
    ledger: Arc<Ledger>,
    epoch: Instant,
    relief: MemoryRelief,
    table: Mutex<Table>,
    /// Notifies that a connection has left, or stays after it was asked to leave.
    room: Notify,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    /// The entries with a handshake in progress that were not asked to leave.
    handshakes: usize,
    /// The next connections to make room, in order, as far as they were chosen.
    idle_first: VecDeque<Arc<Entry>>,
    handshakes_first: VecDeque<Arc<Entry>>,
    has_stopped: bool,
}

struct Row {
    entry: Arc<Entry>,
    is_handshake: bool,
}

impl Connections {
    pub(crate) fn new(limits: &Limits, ledger: Arc<Ledger>) -> Arc<Self> {
        let connections_max = limits.connections_max.unwrap_or_else(descriptors::connections_max).max(1);
        let handshakes_max = limits.handshakes.unwrap_or(connections_max / 2).max(1);
        Arc::new(Self {
            connections_max: connections_max as usize,
            handshakes_max: handshakes_max as usize,
            linger_timeout: limits.linger_timeout,
            linger_bytes: limits.linger_bytes.into(),
            ledger,
            epoch: Instant::now(),
            relief: MemoryRelief::new(limits),
            table: Mutex::default(),
            room: Notify::new(),
        })
    }

    /// Adds a newcomer. If there are too many handshakes in progress then, one of them is asked to leave.
    pub(crate) fn enter(self: &Arc<Self>, peer: SocketAddr) -> Registration {
        let entry = Arc::new(Entry::new(peer, self));
        self.insert(entry.clone(), self.table());
        Registration::new(self.clone(), entry)
    }

    /// Adds a newcomer once there is room, as [`room_for_one`](Self::room_for_one) makes it; `None` if
    /// connections are asked to stop before. There may be several at once.
    ///
    /// Dropping the future before it is ready loses nothing.
    pub(crate) async fn enter_when_room(self: &Arc<Self>, peer: SocketAddr) -> Option<Registration> {
        loop {
            if let ControlFlow::Break(entered) = self.try_enter(peer) {
                return entered;
            }
            let _ = tokio::time::timeout(ASK_AGAIN_AFTER, self.room.notified()).await;
        }
    }

    /// Adds a newcomer if there is room; otherwise asks an idle connection to leave.
    fn try_enter(self: &Arc<Self>, peer: SocketAddr) -> ControlFlow<Option<Registration>> {
        let mut table = self.table();
        if table.has_stopped {
            return ControlFlow::Break(None);
        }
        if table.rows.len() >= self.connections_max {
            table.evict_idle();
            return ControlFlow::Continue(());
        }
        let entry = Arc::new(Entry::new(peer, self));
        self.insert(entry.clone(), table);
        ControlFlow::Break(Some(Registration::new(self.clone(), entry)))
    }

    fn insert(&self, entry: Arc<Entry>, mut table: MutexGuard<'_, Table>) {
        entry.index.store(table.rows.len(), Relaxed);
        table.rows.push(Row { entry: entry.clone(), is_handshake: true });
        table.handshakes += 1;
        if table.has_stopped {
            // The others were asked when the server stopped.
            entry.ask_to_stop();
        }
        if table.handshakes > self.handshakes_max {
            table.evict_handshake();
        }
    }

    /// Waits for room for one more connection; the longest idle ones of the heaviest prefix are asked to
    /// leave. Waits while none is idle.
    ///
    /// Dropping the future before it is ready loses nothing.
    pub(crate) async fn room_for_one(&self) {
        while !self.make_room() {
            let _ = tokio::time::timeout(ASK_AGAIN_AFTER, self.room.notified()).await;
        }
    }

    /// Waits until a connection has left, after asking an idle one, or for a moment: the system has no
    /// descriptors left.
    pub(crate) async fn fewer(&self) {
        self.table().evict_idle();
        let _ = tokio::time::timeout(ASK_AGAIN_AFTER, self.room.notified()).await;
    }

    /// Returns true if there is room for one more connection; otherwise asks an idle one to leave, if there
    /// is one.
    pub(crate) fn make_room(&self) -> bool {
        let mut table = self.table();
        let has_room = table.rows.len() < self.connections_max;
        if !has_room {
            table.evict_idle();
        }
        has_room
    }

    /// Asks all present and future connections to finish.
    pub(crate) fn stop(&self) {
        let mut table = self.table();
        table.has_stopped = true;
        table.rows.iter().for_each(|row| row.entry.ask_to_stop());
    }

    /// Asks the present connections to finish.
    pub(crate) fn stop_present(&self) {
        self.table().rows.iter().for_each(|row| row.entry.ask_to_stop());
    }

    /// Returns the number of requests that connections still answer since they were asked to stop. Looks at
    /// every connection.
    pub(crate) fn requests_left(&self) -> usize {
        self.table().rows.iter().map(|row| row.entry.requests_left()).sum()
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.table().has_stopped
    }

    /// Waits until every connection has left. It looks again after a moment: others that wait may have been
    /// told in its place.
    pub(crate) async fn all_left(&self) {
        while !self.table().rows.is_empty() {
            let _ = tokio::time::timeout(ASK_AGAIN_AFTER, self.room.notified()).await;
        }
    }

    /// Returns a guard that aborts the tasks of all connections when it is dropped.
    pub(crate) fn aborted_at_end(self: &Arc<Self>) -> AbortedAtEnd {
        AbortedAtEnd(self.clone())
    }

    fn handshake_ends(&self, entry: &Entry) {
        let mut table = self.table();
        let index = entry.index.load(Relaxed);
        table.handshakes -= usize::from(std::mem::take(&mut table.rows[index].is_handshake));
    }

    fn leave(&self, entry: &Entry) {
        // A list of candidates may still name it: it is not to be asked for room any more.
        entry.has_left();
        let mut table = self.table();
        let index = entry.index.load(Relaxed);
        let row = table.rows.swap_remove(index);
        table.handshakes -= usize::from(row.is_handshake);
        if let Some(moved) = table.rows.get(index) {
            moved.entry.index.store(index, Relaxed);
        }
        drop(table);
        self.room.notify_one();
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Aborts the tasks of all connections when it is dropped.
pub(crate) struct AbortedAtEnd(Arc<Connections>);

impl Drop for AbortedAtEnd {
    fn drop(&mut self) {
        // Without the lock: a task that goes at once leaves the table.
        let entries: Vec<_> = self.0.table().rows.iter().map(|row| row.entry.clone()).collect();
        entries.iter().for_each(|entry| entry.abort());
    }
}

impl Table {
    /// Asks an idle connection to make room, if there is one.
    fn evict_idle(&mut self) {
        if !self.ask_idle() {
            self.idle_first = self.choose(|row| {
                let since = row.entry.idle_since().filter(|_| !row.is_handshake);
                Some(Weighed { prefixes: row.entry.prefixes, since })
            });
            self.ask_idle();
        }
    }

    fn ask_idle(&mut self) -> bool {
        std::iter::from_fn(|| self.idle_first.pop_front())
            .any(|entry| entry.idle_since().is_some() && entry.ask_to_leave())
    }

    /// Asks a handshake in progress to make room.
    fn evict_handshake(&mut self) {
        if !self.ask_handshake() {
            self.handshakes_first = self.choose(|row| {
                let since = Some(row.entry.arrived_at());
                row.is_handshake.then_some(Weighed { prefixes: row.entry.prefixes, since })
            });
            self.ask_handshake();
        }
    }

    fn ask_handshake(&mut self) -> bool {
        while let Some(entry) = self.handshakes_first.pop_front() {
            let row = self.rows.get_mut(entry.index.load(Relaxed));
            let row = row.filter(|row| row.is_handshake && Arc::ptr_eq(&row.entry, &entry));
            if let Some(row) = row
                && entry.ask_to_leave()
            {
                // It counts no more: what it has sent decides what becomes of it.
                row.is_handshake = false;
                self.handshakes -= 1;
                return true;
            }
        }
        false
    }

    /// Chooses the next connections to make room, by weight.
    fn choose(&self, weigh: impl Fn(&Row) -> Option<Weighed>) -> VecDeque<Arc<Entry>> {
        let (rows, weighed): (Vec<&Row>, Vec<Weighed>) =
            self.rows.iter().filter_map(|row| Some((row, weigh(row)?))).unzip();
        let most = (weighed.len() / CHOSEN_SHARE).max(1);
        first_to_go(&weighed, most).into_iter().map(|index| rows[index].entry.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
