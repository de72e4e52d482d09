//! The connections to one origin on one runtime: the machine that decides, behind one lock, and its work
//! outside of the lock.
//!
//! Rule: nothing is woken, begun, closed or let go of under the lock, since each of these may have news for
//! the pool.

pub(crate) mod caller;
mod machine;
mod member;
pub(crate) mod opener;
pub(crate) mod opening;
pub(crate) mod origin;
pub(crate) mod origins;
pub(crate) mod pools;
mod queue;
pub(crate) mod queue_deadlines;
pub(crate) mod runtimes;
mod shared;
mod single;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
};

use alula_net::{Conn, ConnectionPool, News, Occupied, PoolBooks, Version};
use tokio::time::Instant;

pub(crate) use self::machine::Limits;
use self::{
    machine::{Answer, Effects, Machine, Reply},
    opener::Opener,
    queue::Ticket,
};
use crate::{
    observe::observer::Watcher,
    pool::opening::{Opening, Outcome},
};

type PoolMachine = Machine<Arc<Conn>, Arc<Opening>, Waker>;
type PoolEffects = Effects<Arc<Conn>, Waker>;

pub(crate) struct Pool {
    machine: Mutex<PoolMachine>,
    opener: Opener,
}

impl Pool {
    /// Makes a pool without connections.
    pub(crate) fn new(opener: Opener) -> Self {
        Self { machine: Mutex::new(Machine::new(opener.limits())), opener }
    }

    /// Takes a connection that needs no waiting for, unless its peer allows no more requests. One system call
    /// for each of HTTP/1.1 that is looked at; allocates nothing.
    #[inline]
    pub(crate) fn take(&self) -> Option<Arc<Conn>> {
        loop {
            let conn = self.lock().take()?;
            if takes_request(&conn) {
                return Some(conn);
            }
            conn.close();
        }
    }

    /// Answers a call of this observer, and begins to open the connection that it has to wait for.
    fn ask(
        self: &Arc<Self>,
        ticket: &mut Option<Ticket>,
        opens: bool,
        watcher: Option<&Watcher>,
    ) -> Answer<Arc<Conn>, Arc<Opening>> {
        let begin = |before: &[Arc<Conn>]| {
            self.opener.learn_of(before);
            Opening::begin(watcher.cloned())
        };
        loop {
            let Reply { answer, call, start, gone } = self.lock().ask(ticket, opens, Instant::now, begin);
            start.into_iter().for_each(|opening| self.opener.start(self, opening));
            call.into_iter().for_each(Waker::wake);
            drop(gone);
            match answer {
                // The server closed it while it was idle; the next one is tried, or another is opened.
                Answer::Take(conn) if !takes_request(&conn) => conn.close(),
                answer => return answer,
            }
        }
    }

    /// The outcome of opening a connection.
    fn settle(self: &Arc<Self>, outcome: &Outcome) {
        let Ok(conn) = outcome else {
            let effects = self.lock().not_opened(Instant::now());
            return carry_out(effects);
        };
        // Counted before it joins, so that news which comes at once finds it among the members.
        let tells = self.lock().count(conn);
        if tells {
            conn.join(self.clone());
        }
        let (effects, gone) = self.lock().opened(conn.clone(), Instant::now());
        drop(gone);
        carry_out(effects);
    }

    /// A caller leaves: it has what it waited for, or waits no longer.
    fn left(&self, ticket: Ticket) {
        let (effects, next) = self.lock().left(ticket);
        carry_out(effects);
        next.into_iter().for_each(Waker::wake);
    }

    /// Has a caller woken when it is called; returns false if it was called already, and is to ask again.
    fn watch(&self, ticket: &Ticket, waker: &Waker) -> bool {
        self.lock().watch(ticket, waker)
    }

    /// Forgets a connection that takes no more requests.
    fn forget(&self, gone: &Arc<Conn>) {
        self.opener.learn_of(std::slice::from_ref(gone));
        self.lock().forget(gone);
        gone.close();
    }

    /// Forgets its connections of HTTP/2; requests that are on them go on.
    #[cold]
    pub(crate) fn leave_http2(&self) {
        let conns = self.lock().conns();
        conns.iter().filter(|conn| conn.version() == Version::Http2).for_each(|conn| self.forget(conn));
    }

    /// Counts the requests that hold its connections. Locks one after the other; allocates.
    #[cold]
    fn occupied(&self) -> Occupied {
        let conns = self.lock().conns();
        conns.iter().map(|conn| conn.occupied()).sum()
    }

    /// Returns true if nothing would be lost with it: no connection is open, or being opened.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    /// Has its connections notice what came while nobody drove them. Allocates nothing.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        // One at a time: what a connection has to tell, it tells here.
        let at = |index| self.lock().at_rest(index);
        (0..).map_while(at).filter_map(|conn| conn.upgrade()).for_each(|conn| conn.look_in());
    }

    /// Ends the connections that no request holds, and those that will be free. Callers that wait are woken.
    pub(crate) fn close(&self) {
        let (conns, callers) = self.lock().close();
        conns.for_each(|conn| conn.close());
        callers.for_each(Waker::wake);
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, PoolMachine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPool for Pool {
    fn hear(&self, conn: &Weak<Conn>, news: News) {
        let effects = self.lock().heard(conn, news);
        carry_out(effects);
    }

    fn books(&self) -> PoolBooks {
        let machine = self.lock();
        let (members, free) = (machine.members(), machine.all_at_rest());
        PoolBooks { open: machine.counted(), members, free, waiting: machine.waiting() }
    }
}

/// Returns true if a connection takes a request, as far as that is known; one of HTTP/1.1 is looked at.
#[inline]
fn takes_request(conn: &Conn) -> bool {
    conn.version() == Version::Http2 || conn.is_fit()
}

#[inline]
fn carry_out(effects: PoolEffects) {
    effects.call.into_iter().for_each(Waker::wake);
    effects.close.into_iter().for_each(|conn| close(&conn));
}

#[cold]
fn close(conn: &Weak<Conn>) {
    conn.upgrade().into_iter().for_each(|conn| conn.close());
}
