//! One origin (RFC 9110 §4.3.1) and the connection that is open to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Conn, Connect, Error, Ledger};

use crate::{
    builder::Settings,
    location::Location,
    opening::{Opening, Outcome},
};

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    /// Scheme and authority as they begin a URL.
    pub(crate) prefix: String,
    connect: Connect,
    state: Mutex<State>,
}

/// A connection is opened by a task of its own: a call that is dropped or not polled holds up nobody who waits for the
/// same connection.
enum State {
    None,
    Opening(Arc<Opening>),
    Open(Arc<Conn>),
}

impl Origin {
    pub(crate) fn new(
        location: &Location,
        settings: &Settings,
        ledger: Arc<Ledger>,
        tls: Option<Tls>,
    ) -> Self {
        #[cfg(not(feature = "tls"))]
        let _ = tls;
        Self {
            scheme: location.scheme,
            authority: location.authority.clone(),
            prefix: format!("{}://{}", location.scheme, location.authority),
            connect: Connect {
                host: location.host.clone(),
                port: location.port,
                #[cfg(feature = "tls")]
                tls,
                deadline: settings.connect_deadline,
                config: settings.config.clone(),
                ledger,
                observer: settings.observer.clone(),
            },
            state: Mutex::new(State::None),
        }
    }

    /// The open connection, or a new one. Allocates nothing when there is one.
    pub(crate) async fn conn(&self) -> Result<Arc<Conn>, Error> {
        let opening = match &mut *self.state() {
            State::Open(conn) => return Ok(conn.clone()),
            State::Opening(opening) => opening.clone(),
            none => {
                let opening = Opening::begin(self.connect.clone());
                *none = State::Opening(opening.clone());
                opening
            }
        };
        let opened = opening.outcome().await;
        self.opened(&opening, &opened);
        opened
    }

    /// The first who hears of the outcome notes it for those who come later.
    fn opened(&self, opening: &Arc<Opening>, opened: &Outcome) {
        let mut state = self.state();
        if matches!(&*state, State::Opening(current) if Arc::ptr_eq(current, opening)) {
            *state = match opened {
                Ok(conn) => State::Open(conn.clone()),
                Err(_) => State::None,
            };
        }
    }

    /// Forgets a connection that takes no more streams.
    pub(crate) fn forget(&self, gone: &Arc<Conn>) {
        let mut state = self.state();
        if matches!(&*state, State::Open(conn) if Arc::ptr_eq(conn, gone)) {
            *state = State::None;
        }
        drop(state);
        gone.close();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        match &*self.state() {
            State::None => {}
            State::Opening(opening) => opening.close(),
            State::Open(conn) => conn.close(),
        }
    }
}

/// What TLS connections are made with.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();
