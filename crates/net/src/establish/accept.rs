//! Accepting connections: the settings that they share, and the time limit for opening one.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use alula_h1 as h1;
use alula_h2::{Config, Connection};
use alula_machine::Limits;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    connection::{
        checks::idle::IdleObserver,
        memory::{account::CONNECTION_BYTES, ledger::Ledger},
    },
    drive::shared::Conn,
    error::{Error, Phase, limit::Overrun},
    establish::{
        opening::Opening,
        version::{Speaks, Version},
    },
    machine::Machine,
    message::date,
    transport::Socket,
};

/// The settings of a server's connections.
#[derive(Clone)]
pub struct Accept {
    /// TLS with this configuration, beside clear text on the same port.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// True if clear text is taken beside TLS.
    #[cfg(feature = "tls")]
    pub clear_text: bool,
    /// The versions of HTTP to speak. Over TLS the client chooses by ALPN, which the configuration offers; in
    /// clear text it shows the version by its first bytes.
    pub speaks: Speaks,
    /// The settings of HTTP/1.1 machines, but for the scheme; see [`http1_of`](Self::http1_of).
    pub http1: Arc<h1::Config>,
    /// The settings of HTTP/2 machines; the `handshake_timeout` of its limits is for the first byte, TLS and
    /// the preface together.
    pub config: Arc<Config>,
    /// The account that all connections of this server share.
    pub ledger: Arc<Ledger>,
    /// The bytes of a request's content that [`Body::bytes`](crate::Body::bytes) and its siblings gather
    /// unless another limit is given.
    pub content_max: usize,
}

impl Accept {
    /// Returns the settings of HTTP/1.1 machines with these limits, which date the refusals that they write
    /// themselves.
    pub fn http1_of(http1: h1::Config, limits: &Limits) -> Arc<h1::Config> {
        Arc::new(h1::Config { limits: limits.clone(), date: Some(date::now), ..http1 })
    }

    /// Makes a connection of an accepted socket; its owner then calls [`Conn::turn_of_server`].
    ///
    /// # Errors
    /// TLS failed, the peer offered no version by ALPN that is spoken, it was too slow, the connection broke,
    /// clear text is not taken, or connections hold all the memory they may.
    pub async fn open(&self, socket: impl Into<Socket>) -> Result<Arc<Conn>, Error> {
        self.open_observed(socket.into(), Instant::now(), None).await
    }

    /// Does the same as [`open`](Self::open) for a socket that was accepted at `begun`, and tells `observer`
    /// when the connection becomes idle and when it is used again.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_observed(
        &self,
        socket: Socket,
        begun: Instant,
        observer: Option<Arc<dyn IdleObserver>>,
    ) -> impl Future<Output = Result<Arc<Conn>, Error>> + Send {
        // It is made here and stays where it is: a future has room for whatever is moved within it, too.
        let mut opening = Opening::new(self, socket, begun, observer);
        async move {
            let opened = if self.ledger.memory.has_room(CONNECTION_BYTES) {
                // The timer is set when there is something to wait for.
                let mut late = pin!(None);
                poll_fn(|cx| poll_in_time(&mut opening, late.as_mut(), cx)).await
            } else {
                Err(Error::overrun(Phase::Handshake, Overrun::PROCESS_MEMORY, &self.config.limits))
            };
            match &opened {
                Ok(conn) => conn.begin_idle_time(self.config.limits.idle_timeout, opening.take_observer()),
                Err(error) => self.ledger.note_error(error),
            }
            opened
        }
    }

    /// Returns a connection whose time, and that of its machine, began when it was accepted.
    pub(crate) fn plain(
        &self,
        socket: Socket,
        begun: Instant,
        version: Version,
        scheme: &'static str,
    ) -> Result<Arc<Conn>, Error> {
        let machine: Machine = match version {
            Version::Http1 => {
                let mut machine = h1::Connection::server(self.http1.clone());
                machine.assume_scheme(scheme);
                machine.into()
            }
            Version::Http2 => Machine::Http2(Connection::boxed_server(self.config.clone())),
        };
        Conn::new(socket, machine, &self.ledger, None, begun, self.content_max)
            .map_err(|e| Error::io(Phase::Handshake, e))
    }
}

/// Polls for the connection, or for the error when the time is over.
fn poll_in_time(
    opening: &mut Opening<'_>,
    late: Pin<&mut Option<Sleep>>,
    cx: &mut Context<'_>,
) -> Poll<Result<Arc<Conn>, Error>> {
    if let Poll::Ready(opened) = opening.poll(cx) {
        return Poll::Ready(opened);
    }
    ready!(poll_until(late, opening.ends_at(), cx));
    Poll::Ready(opening.end_late())
}

/// Completes at this time; sets the timer if necessary.
fn poll_until(mut timer: Pin<&mut Option<Sleep>>, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
    match timer.as_mut().as_pin_mut() {
        None => timer.set(Some(sleep_until(at))),
        Some(timer) if timer.deadline() != at => timer.reset(at),
        Some(_) => {}
    }
    timer.as_pin_mut().map_or(Poll::Pending, |timer| timer.poll(cx))
}
