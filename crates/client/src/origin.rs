//! One origin (RFC 9110 §4.3.1) and the connections that are open to it: one of HTTP/2 that all requests share, or as many
//! of HTTP/1.1 as there are requests under way.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use alula_net::{Conn, Error, Ledger, Ticket, Vacancy, Version};

use crate::{
    builder::Settings,
    connecting::Route,
    location::Location,
    opening::{Opening, Outcome},
};

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    /// Scheme and authority as they begin a URL.
    pub(crate) prefix: String,
    route: Arc<Route>,
    connections_max: usize,
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
    Shared(Arc<Conn>),
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
            prefix: format!("{}://{}", location.scheme, location.authority),
            route: Arc::new(Route::new(location, settings, ledger, tls)),
            connections_max: settings.pool.connections_max,
            state: Mutex::new(State::None),
            vacancy: Arc::default(),
        }
    }

    /// Whether this is that origin (RFC 9110 §4.3.1).
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.authority == other.authority
    }

    /// A connection that takes a request, or will take it as soon as the peer allows one more. Allocates nothing when there
    /// is one. One that is not used is to be [given back](Conn::give_back).
    pub(crate) async fn conn(&self) -> Result<Arc<Conn>, Error> {
        loop {
            let opening = match &mut *self.state() {
                State::Shared(conn) => return Ok(conn.clone()),
                State::Single => None,
                State::Opening(opening) => Some(opening.clone()),
                none => {
                    let opening = Opening::begin(self.route.clone(), None);
                    *none = State::Opening(opening.clone());
                    Some(opening)
                }
            };
            let Some(opening) = opening else { return self.single().await };
            let opened = opening.outcome().await;
            self.opened(&opening, &opened);
            opened?;
        }
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
            Ok(conn) => State::Shared(conn.clone()),
            Err(_) => State::None,
        };
    }

    /// A connection of its own for one request: a free one, or a new one if there may be more, or the next that is free.
    async fn single(&self) -> Result<Arc<Conn>, Error> {
        if let Some(conn) = self.vacancy.take() {
            return Ok(conn);
        }
        let ticket = self.vacancy.ticket();
        let mut opening: Option<Arc<Opening>> = None;
        loop {
            if opening.is_none() && self.vacancy.begin_to_open(self.connections_max) {
                opening = Some(Opening::begin(self.route.clone(), Some(self.vacancy.clone())));
            }
            if let Some(conn) = self.vacancy.take() {
                return Ok(conn);
            }
            change(&ticket, opening.as_deref()).await?;
            opening = opening.filter(|opening| !opening.is_over());
        }
    }

    /// Forgets a connection that takes no more streams.
    pub(crate) fn forget(&self, gone: &Arc<Conn>) {
        let mut state = self.state();
        if matches!(&*state, State::Shared(conn) if Arc::ptr_eq(conn, gone)) {
            *state = State::None;
        }
        drop(state);
        gone.close();
    }

    /// Has its connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        if let State::Shared(conn) = &*self.state() {
            conn.look_in();
        }
        self.vacancy.look_in();
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
            State::Shared(conn) => conn.close(),
        }
        self.vacancy.close();
    }
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
