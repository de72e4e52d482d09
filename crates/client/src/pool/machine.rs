//! The machine of a pool: the connections to one origin on one runtime, the openings, and the waiting
//! callers.
//!
//! Rule 1: it does no work. Each transition says what is to be done once the lock is released: wake these,
//! close that one, open one more.
//! Rule 2: until it is known what the origin speaks, one connection is opened, and everybody waits for it.
//! Rule 3: a connection that has ended, or was dropped with its runtime, is counted off once, by itself, and
//! makes room for another.
//! Rule 4: no transition has a wildcard over the state; a test prints them all.

use tokio::time::Instant;

use alula_net::News;

use super::{
    member::Member,
    queue::{Queue, Ticket},
    shared::{Room, Shared},
    single::Single,
};

/// The limits on connections.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The connections of HTTP/1.1 that are open or being opened.
    pub(crate) connections_max: usize,
    /// The connections of HTTP/1.1 that are free.
    pub(crate) idle_max: usize,
    /// The connections of HTTP/2.
    pub(crate) http2_connections_max: usize,
}

/// The state of a pool, where `C` is a connection, `O` an opening, and `W` wakes a caller.
pub(super) struct Machine<C: Member, O, W> {
    state: State<C, O>,
    /// The connections that report news: all except one of HTTP/2 that is the only one allowed.
    members: Vec<C::Weak>,
    queue: Queue<W>,
    limits: Limits,
}

enum State<C: Member, O> {
    /// The version of the origin is unknown.
    Unknown,
    /// The first connection is being opened, and will show the version.
    First(O),
    /// The origin speaks HTTP/1.1.
    Single(Single<C>),
    /// The origin speaks HTTP/2.
    Shared(Shared<C, O>),
    /// The pool is closed: it opens no more connections.
    Closed,
}

/// The answer to a call that asks for a connection.
pub(super) enum Answer<C, O> {
    /// A connection to send the request on.
    Take(C),
    /// The first connection, whose outcome all calls of this moment share.
    First(O),
    /// A connection that is being opened for this call; another may be free earlier.
    Own(O),
    /// A place in the queue, for the next free connection, or for this opening.
    Wait(Option<O>),
    /// The refusal of a closed pool.
    Closed,
}

/// The answer to a call, and the work after the lock is released.
pub(super) struct Reply<C, O, W> {
    pub(super) answer: Answer<C, O>,
    /// A caller to wake.
    pub(super) call: Option<W>,
    /// An opening to start.
    pub(super) start: Option<O>,
    /// Connections to drop.
    pub(super) gone: Vec<C>,
}

impl<C, O, W> Reply<C, O, W> {
    const fn just(answer: Answer<C, O>) -> Self {
        Self { answer, call: None, start: None, gone: Vec::new() }
    }
}

/// The work after news, once the lock is released.
pub(super) struct Effects<C: Member, W> {
    /// A caller to wake.
    pub(super) call: Option<W>,
    /// A connection to close.
    pub(super) close: Option<C::Weak>,
}

impl<C: Member, W> Effects<C, W> {
    const NONE: Self = Self { call: None, close: None };

    #[inline]
    const fn calling(call: Option<W>) -> Self {
        Self { call, close: None }
    }

    const fn closing(conn: C::Weak) -> Self {
        Self { call: None, close: Some(conn) }
    }
}

/// The requests for connections.
impl<C: Member, O: Clone, W: Clone> Machine<C, O, W> {
    pub(super) fn new(limits: Limits) -> Self {
        Self { state: State::Unknown, members: Vec::new(), queue: Queue::default(), limits }
    }

    /// Takes a connection that is available without waiting. Allocates nothing.
    #[inline]
    pub(super) fn take(&mut self) -> Option<C> {
        match &mut self.state {
            State::Single(single) => single.take(),
            State::Shared(shared) => shared.take(self.limits.http2_connections_max),
            State::Unknown | State::First(_) | State::Closed => None,
        }
    }

    /// Answers a call; `opens` is true if a connection is being opened for it already. A call that has to
    /// wait for others to give back what they have enters the queue, and keeps its ticket until it has sent
    /// its request. `begin` makes what stands for a connection that is opened beside those.
    pub(super) fn ask(
        &mut self,
        ticket: &mut Option<Ticket>,
        opens: bool,
        now: impl FnOnce() -> Instant,
        begin: impl FnOnce(&[C]) -> O,
    ) -> Reply<C, O, W> {
        let was_called = ticket.as_ref().is_some_and(|ticket| self.queue.enter_again(ticket));
        match &mut self.state {
            State::Unknown => self.open_first(Vec::new(), begin),
            State::First(opening) => Reply::just(Answer::First(opening.clone())),
            State::Single(single) => {
                if let Some(conn) = single.take() {
                    return Reply::just(Answer::Take(conn));
                }
                // Members are counted rather than free connections: a busy connection takes a place as
                // well.
                let begins = !opens && self.members.len() + single.opening() < self.limits.connections_max;
                self.queue.wait(ticket, opens || begins);
                // It may have been called for room before it opened a connection in another.
                let passes_on = was_called && (opens || begins);
                let call = if passes_on { self.queue.call_for_room() } else { None };
                if !begins {
                    return Reply { call, ..Reply::just(Answer::Wait(None)) };
                }
                single.opens();
                let opening = begin(&[]);
                Reply { call, start: Some(opening.clone()), ..Reply::just(Answer::Own(opening)) }
            }
            State::Shared(shared) => match shared.find(self.limits.http2_connections_max, now) {
                Room::Here(conn) => Reply::just(Answer::Take(conn)),
                Room::Soon(opening) => {
                    self.queue.wait(ticket, false);
                    Reply::just(Answer::Wait(Some(opening)))
                }
                Room::None => {
                    self.queue.wait(ticket, false);
                    Reply::just(Answer::Wait(None))
                }
                Room::More => {
                    self.queue.wait(ticket, false);
                    let opening = begin(shared.conns());
                    shared.opens(opening.clone());
                    Reply { start: Some(opening.clone()), ..Reply::just(Answer::Wait(Some(opening))) }
                }
                Room::Gone => self.begin_anew(begin),
            },
            State::Closed => Reply::just(Answer::Closed),
        }
    }

    fn open_first(&mut self, gone: Vec<C>, begin: impl FnOnce(&[C]) -> O) -> Reply<C, O, W> {
        let opening = begin(&gone);
        self.state = State::First(opening.clone());
        Reply { start: Some(opening.clone()), gone, ..Reply::just(Answer::First(opening)) }
    }

    /// Resets the state after all HTTP/2 connections have gone. A connection that is being opened becomes the
    /// first.
    fn begin_anew(&mut self, begin: impl FnOnce(&[C]) -> O) -> Reply<C, O, W> {
        let State::Shared(shared) = std::mem::replace(&mut self.state, State::Unknown) else {
            return self.open_first(Vec::new(), begin);
        };
        match shared.into_parts() {
            (gone, Some(opening)) => {
                self.state = State::First(opening.clone());
                Reply { gone, ..Reply::just(Answer::First(opening)) }
            }
            (gone, None) => self.open_first(gone, begin),
        }
    }

    /// Sets the waker of a waiting caller; returns false if it was called already, and should ask again.
    pub(super) fn watch(&mut self, ticket: &Ticket, waker: &W) -> bool {
        self.queue.watch(ticket, waker)
    }

    /// Removes a caller that has a connection, or waits no longer. Another caller may be called beside the
    /// effects.
    pub(super) fn left(&mut self, ticket: Ticket) -> (Effects<C, W>, Option<W>) {
        let was_called = self.queue.leave(ticket);
        match &mut self.state {
            State::Single(single) => {
                // One that was kept for this caller may be one too many.
                let close = single.take_excess(self.limits.idle_max.saturating_add(self.queue.callers()));
                let call = match (was_called, single.free().is_empty()) {
                    (true, true) => self.queue.call_for_room(),
                    (true, false) => self.queue.call_next(),
                    (false, _) => None,
                };
                (Effects { call, close }, None)
            }
            // There may be room for more than the one that was called.
            State::Unknown | State::First(_) | State::Shared(_) => {
                let call = if was_called { self.queue.call_for_room() } else { None };
                (Effects::calling(call), self.queue.call_next())
            }
            State::Closed => (Effects::NONE, None),
        }
    }
}

/// The life of connections: opened, freed, lost.
impl<C: Member, O: Clone, W: Clone> Machine<C, O, W> {
    /// Counts an opened connection; returns true if it should report its news.
    pub(super) fn count(&mut self, conn: &C) -> bool {
        let tells = match &self.state {
            State::First(_) => conn.is_http1() || self.limits.http2_connections_max > 1,
            // Sharing may be over until it is one of the pool.
            State::Single(_) | State::Shared(_) => true,
            State::Unknown | State::Closed => false,
        };
        if tells {
            self.members.push(conn.downgrade());
        }
        tells
    }

    /// Adds an open connection, which was [counted](Self::count). Returns those to let go of beside the
    /// effects.
    pub(super) fn opened(&mut self, conn: C, now: Instant) -> (Effects<C, W>, Vec<C>) {
        match &mut self.state {
            // Only the handshake tells the version (RFC 7301), so the kind of pool is decided here.
            State::First(_) if conn.is_http1() => {
                self.state = State::Single(Single::new());
                (self.opened_single(conn.downgrade()), Vec::new())
            }
            State::First(_) => {
                self.state = State::Shared(Shared::of(conn));
                (Effects::NONE, Vec::new())
            }
            State::Single(single) => {
                single.ends_opening();
                (self.opened_single(conn.downgrade()), Vec::new())
            }
            // A server that changed its mind within a pool of HTTP/2: the shared connections go on.
            State::Shared(shared) if conn.is_http1() => {
                shared.not_opened(now);
                (Effects::closing(conn.downgrade()), Vec::new())
            }
            State::Shared(shared) => (Effects::NONE, shared.opened(conn)),
            State::Unknown | State::Closed => (Effects::closing(conn.downgrade()), Vec::new()),
        }
    }

    /// Adds a free connection, unless it has ended.
    fn opened_single(&mut self, conn: C::Weak) -> Effects<C, W> {
        // The peer may have closed it before this: its end was told, and it must not be offered again.
        let is_member = self.members.iter().any(|member| C::is_same(member, &conn));
        if is_member { self.freed(conn) } else { Effects::NONE }
    }

    /// Records that a connection could not be opened.
    pub(super) fn not_opened(&mut self, now: Instant) -> Effects<C, W> {
        match &mut self.state {
            // The calls that waited have the failure as their own; the next one tries anew.
            State::First(_) => self.state = State::Unknown,
            State::Single(single) => {
                single.ends_opening();
                return Effects::calling(self.queue.call_for_room());
            }
            State::Shared(shared) => shared.not_opened(now),
            State::Unknown | State::Closed => {}
        }
        Effects::NONE
    }

    /// Handles news of a connection. Allocates nothing.
    #[inline]
    pub(super) fn heard(&mut self, conn: &C::Weak, news: News) -> Effects<C, W> {
        match news {
            News::Free => self.freed(conn.clone()),
            News::Room => Effects::calling(self.queue.call_next()),
            News::Lost => self.lost(conn),
        }
    }

    #[inline]
    fn freed(&mut self, conn: C::Weak) -> Effects<C, W> {
        match &mut self.state {
            State::Single(single) => {
                single.add(conn);
                let close = single.take_excess(self.limits.idle_max.saturating_add(self.queue.callers()));
                Effects { call: self.queue.call_next(), close }
            }
            State::Unknown | State::First(_) | State::Shared(_) => Effects::calling(self.queue.call_next()),
            State::Closed => Effects::closing(conn),
        }
    }

    #[cold]
    fn lost(&mut self, conn: &C::Weak) -> Effects<C, W> {
        self.members.retain(|member| !C::is_same(member, conn));
        match &mut self.state {
            State::Single(single) => single.remove(conn),
            State::Unknown | State::First(_) | State::Shared(_) | State::Closed => {}
        }
        Effects::calling(self.queue.call_for_room())
    }

    /// Removes a connection that takes no more requests.
    pub(super) fn forget(&mut self, gone: &C) {
        match &mut self.state {
            State::Shared(shared) => {
                if shared.forget(gone) {
                    self.state = State::Unknown;
                }
            }
            State::Single(_) | State::Unknown | State::First(_) | State::Closed => {}
        }
    }

    /// Closes the pool, and returns its contents; callers are woken, because nothing will become free.
    pub(super) fn close(
        &mut self,
    ) -> (impl Iterator<Item = C> + use<C, O, W>, impl Iterator<Item = W> + use<C, O, W>) {
        let (conns, free) = match std::mem::replace(&mut self.state, State::Closed) {
            State::Single(single) => (Vec::new(), single.into_free()),
            State::Shared(shared) => (shared.into_parts().0, Default::default()),
            State::Unknown | State::First(_) | State::Closed => Default::default(),
        };
        let free = free.into_iter().filter_map(|conn| C::upgrade(&conn));
        (conns.into_iter().chain(free), self.queue.call_all())
    }
}

/// Queries.
impl<C: Member, O: Clone, W: Clone> Machine<C, O, W> {
    /// Returns true if the pool can be dropped: no connection is open, or being opened.
    pub(super) fn is_over(&self) -> bool {
        match &self.state {
            State::Unknown | State::Closed => true,
            State::First(_) => false,
            State::Single(_) => self.counted() == 0,
            State::Shared(shared) => shared.is_over(),
        }
    }

    /// Returns the number of connections that are open or being opened, without those that report no news.
    pub(super) fn counted(&self) -> usize {
        self.members.len() + if let State::Single(single) = &self.state { single.opening() } else { 0 }
    }

    /// Returns the connections that requests use. Allocates.
    pub(super) fn conns(&self) -> Vec<C> {
        match &self.state {
            State::Shared(shared) if !shared.conns().is_empty() => shared.conns().to_vec(),
            State::Shared(_) | State::Single(_) | State::Unknown | State::First(_) | State::Closed => {
                self.members()
            }
        }
    }

    /// Returns the connections that are counted. Allocates.
    pub(super) fn members(&self) -> Vec<C> {
        self.members.iter().filter_map(C::upgrade).collect()
    }

    /// Returns a shared or free connection, by its number.
    pub(super) fn at_rest(&self, index: usize) -> Option<C::Weak> {
        match &self.state {
            State::Single(single) => single.free().get(index).cloned(),
            State::Shared(shared) => shared.conns().get(index).map(C::downgrade),
            State::Unknown | State::First(_) | State::Closed => None,
        }
    }

    /// Returns the shared or free connections. Allocates.
    pub(super) fn all_at_rest(&self) -> Vec<C> {
        (0..).map_while(|index| self.at_rest(index)).filter_map(|conn| C::upgrade(&conn)).collect()
    }

    /// Returns the number of callers that wait and were not called.
    pub(super) fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}

#[cfg(test)]
mod tests;
