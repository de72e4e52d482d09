//! One origin (RFC 9110 §4.3.1) and the connection that is open to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alula_net::{Conn, Connect, Error, Ledger};
use tokio::sync::watch;

use crate::{builder::Settings, location::Location};

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
    Opening(watch::Receiver<Option<Result<Arc<Conn>, Error>>>),
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
        let mut opening = match &mut *self.state() {
            State::Open(conn) => return Ok(conn.clone()),
            State::Opening(opening) => opening.clone(),
            none => {
                let opening = self.open();
                *none = State::Opening(opening.clone());
                opening
            }
        };
        let opened = match opening.wait_for(Option::is_some).await {
            Ok(opened) => opened.clone().expect("waited for"),
            // The task died with its runtime.
            Err(_) => Err(Error::cancelled()),
        };
        self.opened(&opening, &opened);
        opened
    }

    fn open(&self) -> watch::Receiver<Option<Result<Arc<Conn>, Error>>> {
        let (tell, opening) = watch::channel(None);
        let connect = self.connect.clone();
        tokio::spawn(async move {
            if let Err(unheard) = tell.send(Some(connect.open().await))
                && let Some(Ok(conn)) = unheard.0
            {
                conn.close();
            }
        });
        opening
    }

    /// The first who hears of the outcome notes it for those who come later.
    fn opened(
        &self,
        opening: &watch::Receiver<Option<Result<Arc<Conn>, Error>>>,
        opened: &Result<Arc<Conn>, Error>,
    ) {
        let mut state = self.state();
        if matches!(&*state, State::Opening(current) if current.same_channel(opening)) {
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
        if let State::Open(conn) = &*self.state() {
            conn.close();
        }
    }
}

/// What TLS connections are made with.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();
