//! One origin (RFC 9110 §4.3.1) and the connections that are open to it: of HTTP/2 one or a few that all requests share, or
//! as many of HTTP/1.1 as there are requests under way.
//!
//! Rule: until it is known what the origin speaks, one connection is opened, and everybody waits for it.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use alula_fields::{OutBuf, StreamKey};
use alula_net::{Cause, Conn, Error, Ledger, Machine, Phase, Refusal, Stream, Ticket, Vacancy, Version};

use crate::{
    builder::{Pooling, Settings},
    connecting::Route,
    location::Location,
    opening::{Opening, Outcome},
    patience::Patience,
    sharing::{Room, Sharing},
};

/// How many connections a request may meet that take no more, before that is told.
const GONE_MAX: u32 = 8;

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    /// Scheme and authority as they begin a URL.
    pub(crate) prefix: String,
    route: Arc<Route>,
    pool: Pooling,
    state: Mutex<State>,
    vacancy: Arc<Vacancy>,
}

/// A connection is opened by a task of its own: a call that is dropped or not polled holds up nobody who waits for the
/// same connection.
enum State {
    /// Nobody knows what the origin speaks.
    None,
    /// The first connection will tell.
    Opening(Arc<Opening>),
    /// It speaks HTTP/2.
    Shared(Sharing),
    /// It speaks HTTP/1.1: `vacancy` has its connections.
    Single,
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
            pool: settings.pool,
            state: Mutex::new(State::None),
            vacancy: Arc::new(Vacancy::new(settings.pool.idle_max)),
        }
    }

    /// Whether this is that origin (RFC 9110 §4.3.1).
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.authority == other.authority
    }

    /// Opens a stream as `send` says, if there is a connection that takes it at once; else there is the one that does not, if
    /// there is any, to [`open`](Self::open) it with. Allocates nothing.
    #[inline]
    pub(crate) fn try_open<F>(&self, send: F) -> Result<Stream, Option<Arc<Conn>>>
    where
        F: FnOnce(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let conn = self.at_hand().ok_or(None)?;
        conn.try_open(send).map_err(Some)
    }

    /// A connection that needs no waiting for, unless the peer allows no more requests on it.
    fn at_hand(&self) -> Option<Arc<Conn>> {
        match &*self.state() {
            State::Shared(sharing) => return sharing.only(self.pool.http2_connections_max).cloned(),
            State::Single => {}
            State::Opening(_) | State::None => return None,
        }
        self.vacancy.take()
    }

    /// Opens a stream as `send` says, on a connection that takes it: on `conn`, if that is one. Allocates nothing when there is
    /// one.
    ///
    /// # Errors
    /// There is no connection in time, or one after the other takes no more requests; nothing was sent. Or what `send` says.
    pub(crate) async fn open<F>(
        &self,
        mut conn: Option<Arc<Conn>>,
        mut patience: Patience,
        mut send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut place = Place { vacancy: &self.vacancy, ticket: None };
        let mut gone = 0;
        loop {
            let conn = match conn.take() {
                Some(conn) => conn,
                None => self.conn(&mut patience, &mut place).await?,
            };
            match patience.in_queue(conn.open(&mut send)).await {
                Ok(stream) => return Ok(stream),
                Err(error) if is_full(&error) => {}
                Err(error) if !conn.is_open() || error.phase() == Phase::Send => {
                    self.forget(&conn);
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
    async fn conn<'a>(&'a self, patience: &mut Patience, place: &mut Place<'a>) -> Result<Arc<Conn>, Error> {
        loop {
            match self.way() {
                Way::Free(conn) => return Ok(conn),
                Way::Single => return self.single(patience).await,
                Way::First(opening) => {
                    let outcome =
                        patience.while_opening(&opening, async { Ok(opening.outcome().await) }).await?;
                    self.opened(&opening, &outcome);
                    outcome?;
                }
                Way::Full(opening) => match &place.ticket {
                    // What happens once the place is taken is heard of; so there is another look first.
                    None => place.ticket = Some(self.vacancy.ticket()),
                    // That one more could not be opened is no failure of those who wait for the others.
                    Some(ticket) => {
                        let change = async { Ok(change(ticket, opening.as_deref()).await.ok()) };
                        patience.in_queue(change).await?;
                    }
                },
            }
        }
    }

    fn way(&self) -> Way {
        let mut state = self.state();
        match &mut *state {
            State::Shared(sharing) => {
                let open = |before: &[Arc<Conn>]| {
                    self.route.learn_of(before);
                    self.begin_to_open(None)
                };
                match sharing.find(self.pool.http2_connections_max, &self.vacancy, open) {
                    Room::Here(conn) => return Way::Free(conn),
                    Room::Soon(opening) => return Way::Full(Some(opening)),
                    Room::None => return Way::Full(None),
                    Room::Gone(Some(opening)) => *state = State::Opening(opening),
                    Room::Gone(None) => {
                        self.route.learn_of(sharing.conns());
                        *state = State::None;
                    }
                }
            }
            State::Single => return Way::Single,
            State::Opening(_) | State::None => {}
        }
        if let State::Opening(opening) = &*state {
            return Way::First(opening.clone());
        }
        let opening = self.begin_to_open(None);
        *state = State::Opening(opening.clone());
        Way::First(opening)
    }

    /// Begins to open a connection, which is added to `vacancy` then.
    fn begin_to_open(&self, vacancy: Option<Arc<Vacancy>>) -> Arc<Opening> {
        Opening::begin(self.route.clone(), vacancy, self.pool.keep())
    }

    /// The first who hears of the outcome notes it for those who come later.
    fn opened(&self, opening: &Arc<Opening>, opened: &Outcome) {
        let mut state = self.state();
        if !matches!(&*state, State::Opening(current) if Arc::ptr_eq(current, opening)) {
            return;
        }
        *state = match opened {
            Ok(conn) if conn.version() == Version::Http1 => {
                self.vacancy.begin_to_open(usize::MAX);
                self.vacancy.add(conn);
                State::Single
            }
            Ok(conn) => {
                if self.pool.http2_connections_max > 1 {
                    self.vacancy.join(conn);
                }
                State::Shared(Sharing::of(conn.clone()))
            }
            Err(_) => State::None,
        };
    }

    /// A connection of its own for one request: a free one, or a new one if there may be more, or the next that is free.
    async fn single(&self, patience: &mut Patience) -> Result<Arc<Conn>, Error> {
        if let Some(conn) = self.vacancy.take() {
            return Ok(conn);
        }
        let ticket = self.vacancy.ticket();
        let mut opening: Option<Arc<Opening>> = None;
        loop {
            if let Some(conn) = self.vacancy.take() {
                return Ok(conn);
            }
            // The one that was opened another call may have taken; that it could not be opened is what this call is told, even if
            // it heard of the room for another one first.
            if let Some(outcome) = opening.as_ref().and_then(|opening| opening.known()) {
                outcome?;
                opening = None;
            }
            if opening.is_none() && self.vacancy.begin_to_open(self.pool.connections_max) {
                opening = Some(self.begin_to_open(Some(self.vacancy.clone())));
            }
            let change = change(&ticket, opening.as_deref());
            match &opening {
                Some(opening) => patience.while_opening(opening, change).await?,
                None => patience.in_queue(change).await?,
            }
        }
    }

    /// Forgets a connection that takes no more streams.
    fn forget(&self, gone: &Arc<Conn>) {
        self.route.learn_of(std::slice::from_ref(gone));
        let mut state = self.state();
        if let State::Shared(sharing) = &mut *state
            && sharing.forget(gone)
        {
            *state = State::None;
        }
        drop(state);
        gone.close();
    }

    /// Has its connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        if let State::Shared(sharing) = &*self.state() {
            sharing.look_in();
        }
        self.vacancy.look_in();
    }

    /// Whether nothing would be lost with it: no connection is open, or being opened.
    pub(crate) fn is_without_connections(&self) -> bool {
        match &*self.state() {
            State::None => true,
            State::Opening(opening) => opening.is_over(),
            State::Shared(sharing) => sharing.is_over(),
            State::Single => self.vacancy.is_empty(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        match &*self.state() {
            State::None | State::Single => {}
            State::Opening(opening) => opening.close(),
            State::Shared(sharing) => sharing.close(),
        }
        self.vacancy.close();
    }
}

/// Where a request may go.
enum Way {
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
struct Place<'a> {
    vacancy: &'a Vacancy,
    ticket: Option<Ticket<'a>>,
}

impl Drop for Place<'_> {
    /// There may be room for more than the one who was called; and one who leaves without having looked passes that on.
    fn drop(&mut self) {
        if self.ticket.take().is_some() {
            self.vacancy.pass_on();
        }
    }
}

/// Whether the connection has no room, and another is to be looked for.
fn is_full(error: &Error) -> bool {
    error.phase() == Phase::Queue && matches!(error.cause(), Cause::Refused(_))
}

/// Waits until a connection may be free, or there may be room for one, or the one being opened is open.
async fn change(ticket: &Ticket<'_>, opening: Option<&Opening>) -> Result<(), Error> {
    let mut outcome = pin!(async {
        match opening {
            Some(opening) => opening.outcome().await.map(drop),
            None => std::future::pending().await,
        }
    });
    poll_fn(|cx| match ticket.poll_change(cx) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => outcome.as_mut().poll(cx),
    })
    .await
}

/// What TLS connections are made with.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();
