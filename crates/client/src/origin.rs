//! One origin (RFC 9110 §4.3.1) and the connections that are open to it: of HTTP/2 one or a few that all requests share, or
//! as many of HTTP/1.1 as there are requests under way.
//!
//! Rule: until it is known what the origin speaks, one connection is opened, and everybody waits for it.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use alula_machine::{OutBuf, StreamKey};
use alula_net::{
    Cause, Conn, ConnectionPool, Error, Ledger, Machine, Noted, Occupied, Phase, PoolTicket, Refusal, Speaks,
    Stream, Version,
};

use crate::{
    builder::{Pooling, Settings},
    connecting::Route,
    location::Location,
    opening::{Opening, Outcome},
    pools::{Pool, Pools, RuntimePool, State},
    queue_deadlines::QueueDeadlines,
    sharing::{Room, Sharing},
};

/// The number of connections that a request may meet that take no more, before that is told; and how many runtimes that end.
const GONE_MAX: u32 = 8;

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    /// Scheme and authority as they begin a URL.
    pub(crate) prefix: String,
    route: Arc<Route>,
    pooling: Pooling,
    /// The time that a call waits for others to give back what it needs.
    queue: Option<Duration>,
    pools: Arc<Pools>,
}

impl Origin {
    pub(crate) fn new(
        location: &Location,
        settings: &Settings,
        ledger: Arc<Ledger>,
        tls: Option<Tls>,
    ) -> Self {
        Self {
            scheme: location.scheme,
            authority: location.authority.clone(),
            prefix: location.prefix(),
            route: Arc::new(Route::new(location, settings, ledger, tls)),
            pooling: settings.pool,
            queue: settings.deadlines.queue,
            pools: Pools::new(settings.pool.idle_max),
        }
    }

    /// Returns the versions that connections to it may speak.
    pub(crate) fn speaks(&self) -> Speaks {
        self.route.speaks()
    }

    /// Returns true if requests are sent to a proxy, with the authority in their target (RFC 9112 §3.2.2).
    pub(crate) fn asks_proxy(&self) -> bool {
        self.route.asks_proxy()
    }

    /// Returns true if this is that origin (RFC 9110 §4.3.1).
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.authority == other.authority
    }

    /// Opens a stream as `send` says, if there is a connection that takes it at once; else there is the one that does not, if
    /// there is any, to [`open`](Self::open) it with. Allocates nothing.
    #[inline]
    pub(crate) fn try_open<F>(&self, noted: Noted<'_>, send: F) -> Result<Stream, Option<Arc<Conn>>>
    where
        F: FnOnce(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let conn = self.pools.at_hand(self.pooling.http2_connections_max).ok_or(None)?;
        conn.try_open(noted, send).map_err(Some)
    }

    /// Opens a stream as `send` says, on a connection that takes it: on `conn`, if that is one. Allocates nothing when there is
    /// one.
    ///
    /// A call whose runtime ends while it waits, and which is polled on another one then, begins anew there.
    ///
    /// # Errors
    /// There is no connection in time, or one after the other takes no more requests; nothing was sent. Or what `send` says.
    pub(crate) async fn open<F>(
        &self,
        mut conn: Option<Arc<Conn>>,
        mut deadlines: QueueDeadlines,
        noted: Noted<'_>,
        mut send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut left = 0;
        loop {
            let place = self.pools.enter()?;
            match self.open_in(&place, conn.take(), &mut deadlines, noted, &mut send).await {
                Err(error) if matches!(error.cause(), Cause::Timeout) => {
                    return Err(self.explained(error, &place));
                }
                Err(_) if !place.is_here() && left < GONE_MAX => left += 1,
                outcome => return outcome,
            }
        }
    }

    async fn open_in<F>(
        &self,
        place: &RuntimePool,
        mut conn: Option<Arc<Conn>>,
        deadlines: &mut QueueDeadlines,
        noted: Noted<'_>,
        mut send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut queued = Queued { connections: &place.connections, ticket: None };
        let mut gone = 0;
        loop {
            let conn = match conn.take() {
                Some(conn) => conn,
                None => self.conn(place, deadlines, &mut queued).await?,
            };
            match deadlines.in_queue(conn.open(noted, &mut send)).await {
                Ok(stream) => return Ok(stream),
                Err(error) if is_full(&error) => {}
                Err(error) if !conn.is_open() || error.phase() == Phase::Send => {
                    self.forget(place, &conn);
                    gone += 1;
                    if gone == GONE_MAX {
                        return Err(error);
                    }
                }
                Err(error) => {
                    conn.give_back();
                    return Err(error);
                }
            }
        }
    }

    /// A connection that takes a request, or will take it as soon as the peer allows one more.
    async fn conn<'a>(
        &self,
        place: &'a RuntimePool,
        deadlines: &mut QueueDeadlines,
        queued: &mut Queued<'a>,
    ) -> Result<Arc<Conn>, Error> {
        loop {
            match self.availability(place)? {
                Availability::Free(conn) => return Ok(conn),
                Availability::Single => return self.single(place, deadlines).await,
                Availability::First(opening) => {
                    let outcome =
                        deadlines.while_opening(&opening, async { Ok(opening.outcome().await) }).await?;
                    self.opened(place, &opening, &outcome)?;
                    outcome?;
                }
                Availability::Full(opening) => match &queued.ticket {
                    // What happens once the place is taken is heard of; so there is another look first.
                    None => queued.ticket = Some(place.connections.ticket()),
                    // That one more could not be opened is no failure of those who wait for the others.
                    Some(ticket) => {
                        let change = async { Ok(change(ticket, opening.as_deref()).await.ok()) };
                        deadlines.in_queue(change).await?;
                    }
                },
            }
        }
    }

    fn availability(&self, place: &RuntimePool) -> Result<Availability, Error> {
        self.pools.with(place, |pool| self.availability_in(pool))
    }

    fn availability_in(&self, pool: &mut Pool) -> Availability {
        match &mut pool.state {
            State::Shared(sharing) => {
                let open = |before: &[Arc<Conn>]| {
                    self.route.learn_of(before);
                    self.begin_to_open(None)
                };
                match sharing.find(self.pooling.http2_connections_max, &pool.connections, open) {
                    Room::Here(conn) => return Availability::Free(conn),
                    Room::Soon(opening) => return Availability::Full(Some(opening)),
                    Room::None => return Availability::Full(None),
                    Room::Gone(Some(opening)) => pool.state = State::Opening(opening),
                    Room::Gone(None) => {
                        self.route.learn_of(sharing.conns());
                        pool.state = State::None;
                    }
                }
            }
            State::Single => return Availability::Single,
            State::Opening(_) | State::None => {}
        }
        if let State::Opening(opening) = &pool.state {
            return Availability::First(opening.clone());
        }
        let opening = self.begin_to_open(None);
        pool.state = State::Opening(opening.clone());
        Availability::First(opening)
    }

    /// Begins to open a connection on the current runtime, which is added to `connections` then.
    fn begin_to_open(&self, connections: Option<Arc<ConnectionPool>>) -> Arc<Opening> {
        Opening::begin(self.route.clone(), connections, self.pooling.keep(self.queue))
    }

    /// The first who hears of the outcome notes it for those who come later.
    fn opened(&self, place: &RuntimePool, opening: &Arc<Opening>, opened: &Outcome) -> Result<(), Error> {
        self.pools.with(place, |pool| match &pool.state {
            State::Opening(current) if Arc::ptr_eq(current, opening) => {
                pool.state = self.known_of(&pool.connections, opened);
            }
            _ => {}
        })
    }

    /// Returns the facts that the first connection has told.
    fn known_of(&self, connections: &Arc<ConnectionPool>, opened: &Outcome) -> State {
        match opened {
            Ok(conn) if conn.version() == Version::Http1 => {
                connections.begin_to_open(usize::MAX);
                connections.add(conn);
                State::Single
            }
            Ok(conn) => {
                if self.pooling.http2_connections_max > 1 {
                    connections.join(conn);
                }
                State::Shared(Sharing::of(conn.clone()))
            }
            Err(_) => State::None,
        }
    }

    /// A connection of its own for one request: a free one, or a new one if there may be more, or the next that is free.
    async fn single(&self, place: &RuntimePool, deadlines: &mut QueueDeadlines) -> Result<Arc<Conn>, Error> {
        let connections = &place.connections;
        if let Some(conn) = connections.take() {
            return Ok(conn);
        }
        let ticket = connections.ticket();
        let mut opening: Option<Arc<Opening>> = None;
        loop {
            place.check()?;
            if let Some(conn) = connections.take() {
                return Ok(conn);
            }
            // The one that was opened another call may have taken; that it could not be opened is what this call is told, even if
            // it heard of the room for another one first.
            if let Some(outcome) = opening.as_ref().and_then(|opening| opening.known()) {
                let conn = outcome?;
                // One that has closed by now is counted as gone; a peer that closes each at once would have others opened forever.
                if !conn.is_open() {
                    return Ok(conn);
                }
                opening = None;
            }
            if opening.is_none() && connections.begin_to_open(self.pooling.connections_max) {
                opening = Some(self.begin_to_open(Some(connections.clone())));
            }
            let change = change(&ticket, opening.as_deref());
            match &opening {
                Some(opening) => deadlines.while_opening(opening, change).await?,
                None => deadlines.in_queue(change).await?,
            }
        }
    }

    /// Forgets a connection that takes no more streams.
    fn forget(&self, place: &RuntimePool, gone: &Arc<Conn>) {
        self.route.learn_of(std::slice::from_ref(gone));
        // Where the runtime has ended, all of its connections are forgotten.
        let _ = self.pools.with(place, |pool| {
            if let State::Shared(sharing) = &mut pool.state
                && sharing.forget(gone)
            {
                pool.state = State::None;
            }
        });
        gone.close();
    }

    /// Says what holds the connections that were waited for too long.
    #[cold]
    fn explained(&self, error: Error, place: &RuntimePool) -> Error {
        if error.phase() != Phase::Queue {
            return error;
        }
        let shared = self.pools.with(place, |pool| pool.shared()).unwrap_or_default();
        let occupied = match &shared[..] {
            [] => place.connections.occupied(),
            shared => shared.iter().map(|conn| conn.occupied()).sum::<Occupied>(),
        };
        error.with_occupied(occupied)
    }

    /// Has its connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.pools.look_in();
    }

    /// Returns true if nothing would be lost with it: no connection is open, or being opened.
    pub(crate) fn is_without_connections(&self) -> bool {
        self.pools.are_without_connections()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.pools.close();
    }
}

/// A destination of requests.
enum Availability {
    /// Here.
    Free(Arc<Conn>),
    /// Wherever the first connection leads to.
    First(Arc<Opening>),
    /// To a connection of its own.
    Single,
    /// To whichever has room first, or to the one that is being opened.
    Full(Option<Arc<Opening>>),
}

/// A place among those who wait until one of the connections that are shared has room.
struct Queued<'a> {
    connections: &'a ConnectionPool,
    ticket: Option<PoolTicket<'a>>,
}

impl Drop for Queued<'_> {
    /// There may be room for more than the one who was called; and one who leaves without having looked passes that on.
    fn drop(&mut self) {
        if self.ticket.take().is_some() {
            self.connections.pass_on();
        }
    }
}

/// Returns true if the connection has no room, and another is to be looked for.
fn is_full(error: &Error) -> bool {
    error.phase() == Phase::Queue && matches!(error.cause(), Cause::Refused(_))
}

/// Waits until a connection may be free, or there may be room for one, or the one being opened is open.
async fn change(ticket: &PoolTicket<'_>, opening: Option<&Opening>) -> Result<(), Error> {
    let mut outcome = pin!(async {
        match opening {
            Some(opening) => opening.outcome().await.map(drop),
            None => std::future::pending().await,
        }
    });
    poll_fn(|cx| match ticket.poll_change(opening.is_some(), cx) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => outcome.as_mut().poll(cx),
    })
    .await
}

/// The settings of TLS.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();
