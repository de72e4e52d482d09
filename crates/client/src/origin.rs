//! One origin (RFC 9110 §4.3.1) and the connection that is open to it.

use std::sync::{Arc, Mutex, PoisonError};

use alula_net::{Conn, Connect, Error};

use crate::{builder::Settings, location::Location};

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    /// Scheme and authority as they begin a URL.
    pub(crate) prefix: String,
    connect: Connect,
    conn: Mutex<Option<Arc<Conn>>>,
    /// Held while a connection is being opened, so that others wait for it.
    opening: tokio::sync::Mutex<()>,
}

impl Origin {
    pub(crate) fn new(location: &Location, settings: &Settings, tls: Tls) -> Self {
        let _ = &tls;
        Self {
            scheme: location.scheme,
            authority: location.authority.clone(),
            prefix: format!("{}://{}", location.scheme, location.authority),
            connect: Connect {
                host: location.host.clone(),
                port: location.port,
                #[cfg(feature = "tls")]
                tls: (location.scheme == "https").then(|| tls.clone()),
                deadline: settings.connect_deadline,
                config: settings.config.clone(),
                observer: settings.observer.clone(),
            },
            conn: Mutex::new(None),
            opening: tokio::sync::Mutex::new(()),
        }
    }

    /// The open connection, or a new one. Allocates nothing when there is one.
    pub(crate) async fn conn(&self) -> Result<Arc<Conn>, Error> {
        if let Some(conn) = self.current() {
            return Ok(conn);
        }
        let _opening = self.opening.lock().await;
        if let Some(conn) = self.current() {
            return Ok(conn);
        }
        let conn = self.connect.open().await?;
        *self.slot() = Some(conn.clone());
        Ok(conn)
    }

    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Conn>> {
        self.slot().clone()
    }

    /// Forgets a connection that takes no more streams.
    pub(crate) fn forget(&self, gone: &Arc<Conn>) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|conn| Arc::ptr_eq(conn, gone)) {
            *slot = None;
        }
        drop(slot);
        gone.close();
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Conn>>> {
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        if let Some(conn) = self.slot().take() {
            conn.close();
        }
    }
}

/// What TLS connections are made with.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();
