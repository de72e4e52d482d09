//! The connections of an origin whose callers wait for any of them: the free ones of those that take one request at a time, and the
//! callers that wait.
//!
//! Rule 1: a connection is in the list while it is free; a caller that takes it sends a request on it or gives it back.
//! Rule 2: a connection that has ended, or was dropped with its runtime, is counted off once, by itself, and makes room for
//! another.
//! Rule 3: the one freed last is taken first, so that those that are not needed idle, and end; the one that has idled longest
//! ends at once when there are more than may idle.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use crate::{conn::Conn, connection::membership::News, occupied::Occupied};

/// The connections of one origin and the callers that wait for them. Free connections are held by their own tasks, not from here.
pub struct ConnectionPool {
    inner: Mutex<Inner>,
    idle_max: usize,
}

#[derive(Default)]
struct Inner {
    /// All that are open, so that an error can say what holds them.
    members: Vec<Weak<Conn>>,
    /// Freed last, last.
    free: VecDeque<Weak<Conn>>,
    /// Connections that are open or being opened.
    open: usize,
    waiting: VecDeque<Waiting>,
    /// Callers with a ticket: those that wait, and those that were called and may take a connection yet.
    callers: usize,
    /// The number of the last ticket.
    tickets: u64,
    is_closed: bool,
}

/// A caller in the queue.
struct Waiting {
    number: u64,
    waker: Waker,
    /// A connection is being opened for it: it has no use for room for another.
    opens: bool,
}

impl ConnectionPool {
    /// Makes a pool without connections, of which so many may be free at a time.
    pub fn new(idle_max: usize) -> Self {
        Self { inner: Mutex::default(), idle_max }
    }

    /// Takes a free connection, the one used last, that its peer has neither closed nor written to since. One system call for
    /// each that is looked at; allocates nothing.
    pub fn take(&self) -> Option<Arc<Conn>> {
        loop {
            let conn = self.inner().free.pop_back()?;
            let Some(conn) = conn.upgrade() else { continue };
            if conn.is_fit() {
                return Some(conn);
            }
            conn.close();
        }
    }

    /// Makes room for another connection, if there may be so many; it is to be opened then, and
    /// [added](Self::add) or [given up](Self::lose).
    pub fn begin_to_open(&self, most: usize) -> bool {
        let mut inner = self.inner();
        let may_open = inner.open < most;
        inner.open += usize::from(may_open);
        may_open
    }

    /// Returns true if none is open or being opened.
    pub fn is_empty(&self) -> bool {
        self.inner().open == 0
    }

    /// A connection for which there is room is open, and free.
    pub fn add(self: &Arc<Self>, conn: &Arc<Conn>) {
        self.inner().members.push(Arc::downgrade(conn));
        conn.belongs_to(self.clone());
        self.give(Arc::downgrade(conn));
    }

    /// A connection that takes many requests at a time is one more for whoever waits.
    pub fn join(self: &Arc<Self>, conn: &Arc<Conn>) {
        let mut inner = self.inner();
        inner.open += 1;
        inner.members.push(Arc::downgrade(conn));
        drop(inner);
        conn.belongs_to(self.clone());
    }

    /// Counts the requests that hold its connections. Locks one after the other; allocates.
    pub fn occupied(&self) -> Occupied {
        let members = self.inner().members.clone();
        members.iter().filter_map(Weak::upgrade).map(|conn| conn.occupied()).sum()
    }

    /// Hears the news of a connection.
    pub(crate) fn hear(&self, conn: &Weak<Conn>, news: News) {
        match news {
            News::Free => self.give(conn.clone()),
            News::Room => self.pass_on(),
            News::Lost => {
                let mut inner = self.inner();
                inner.free.retain(|free| !free.ptr_eq(conn));
                inner.members.retain(|member| !member.ptr_eq(conn));
                drop(inner);
                self.lose();
            }
        }
    }

    fn give(&self, conn: Weak<Conn>) {
        let mut inner = self.inner();
        if inner.is_closed {
            drop(inner);
            return conn.upgrade().into_iter().for_each(|conn| conn.close());
        }
        inner.free.push_back(conn);
        let longest = inner.take_excess(self.idle_max);
        wake_next(inner);
        longest.iter().filter_map(Weak::upgrade).for_each(|conn| conn.close());
    }

    /// A connection has ended, or could not be opened.
    pub fn lose(&self) {
        let mut inner = self.inner();
        inner.open -= 1;
        call_for_room(inner);
    }

    /// There may be more room: the caller that waits longest looks.
    pub fn pass_on(&self) {
        wake_next(self.inner());
    }

    /// A place at the end of the queue: what happens from now on is heard of.
    pub fn ticket(&self) -> PoolTicket<'_> {
        let mut inner = self.inner();
        inner.tickets += 1;
        inner.callers += 1;
        let number = inner.tickets;
        inner.waiting.push_back(Waiting { number, waker: Waker::noop().clone(), opens: false });
        PoolTicket { connections: self, number }
    }

    /// Has the connections that are free [look in](Conn::look_in). Allocates nothing.
    pub fn look_in(&self) {
        // One at a time: what a connection has to tell, it tells here.
        let at = |index| self.inner().free.get(index).cloned();
        (0..).map_while(at).filter_map(|conn| conn.upgrade()).for_each(|conn| conn.look_in());
    }

    /// Ends the connections that are free, and those that will be. All who wait are woken, since nothing will become free.
    pub fn close(&self) {
        let mut inner = self.inner();
        inner.is_closed = true;
        let (free, waiting) = (std::mem::take(&mut inner.free), std::mem::take(&mut inner.waiting));
        drop(inner);
        free.iter().filter_map(Weak::upgrade).for_each(|conn| conn.close());
        waiting.into_iter().for_each(|next| next.waker.wake());
    }

    /// Returns what it holds now, for simulations.
    #[cfg(feature = "simulation")]
    pub fn books(&self) -> PoolBooks {
        let inner = self.inner();
        let alive = |conns: &mut dyn Iterator<Item = &Weak<Conn>>| conns.filter_map(Weak::upgrade).collect();
        PoolBooks {
            open: inner.open,
            members: alive(&mut inner.members.iter()),
            free: alive(&mut inner.free.iter()),
            waiting: inner.waiting.len(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Takes out the free connection that has idled longest, if there are more than may idle and callers may yet take.
    fn take_excess(&mut self, idle_max: usize) -> Option<Weak<Conn>> {
        if self.free.len() > idle_max.saturating_add(self.callers) { self.free.pop_front() } else { None }
    }
}

fn wake_next(mut inner: MutexGuard<'_, Inner>) {
    let next = inner.waiting.pop_front();
    drop(inner);
    next.into_iter().for_each(|next| next.waker.wake());
}

/// Calls the caller that waits longest of those for whom no connection is being opened: others would leave the room unused.
fn call_for_room(mut inner: MutexGuard<'_, Inner>) {
    let index = inner.waiting.iter().position(|next| !next.opens);
    let next = index.and_then(|index| inner.waiting.remove(index));
    drop(inner);
    next.into_iter().for_each(|next| next.waker.wake());
}

/// The contents of the pool of an origin, for simulations.
#[cfg(feature = "simulation")]
pub struct PoolBooks {
    /// The connections that it counts as open or being opened.
    pub open: usize,
    /// The connections that are open.
    pub members: Vec<Arc<Conn>>,
    /// The connections that it would give to the next request.
    pub free: Vec<Arc<Conn>>,
    /// The callers that wait and were not called.
    pub waiting: usize,
}

/// A place among the callers that wait; left by dropping it. A caller that was called and leaves without having looked passes that on.
pub struct PoolTicket<'a> {
    connections: &'a ConnectionPool,
    number: u64,
}

impl PoolTicket<'_> {
    /// Waits until a connection may be free, or there may be room for one unless this caller `opens` one. A caller that is called keeps
    /// the first place, and is to look before it waits again.
    pub fn poll_change(&self, opens: bool, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.connections.inner();
        match inner.waiting.iter_mut().find(|queued| queued.number == self.number) {
            Some(queued) => {
                queued.waker.clone_from(cx.waker());
                queued.opens = opens;
                Poll::Pending
            }
            None => {
                let waker = Waker::noop().clone();
                inner.waiting.push_front(Waiting { number: self.number, waker, opens });
                if opens {
                    // It was called for room before it opened a connection in another.
                    call_for_room(inner);
                }
                Poll::Ready(())
            }
        }
    }
}

impl Drop for PoolTicket<'_> {
    fn drop(&mut self) {
        let mut inner = self.connections.inner();
        let before = inner.waiting.len();
        inner.waiting.retain(|queued| queued.number != self.number);
        // One that was kept for this caller may be one too many.
        inner.callers -= 1;
        let longest = inner.take_excess(self.connections.idle_max);
        match inner.waiting.len() == before {
            true if inner.free.is_empty() => call_for_room(inner),
            true => wake_next(inner),
            false => drop(inner),
        }
        longest.iter().filter_map(Weak::upgrade).for_each(|conn| conn.close());
    }
}
