//! Taking a connection: TLS where its first octet says so, then the version that was agreed on, or that the first octets are.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use alula_h1 as h1;
use alula_h2::{Config, Connection};
use alula_machine::Limits;
#[cfg(feature = "tls")]
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep_until};

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    conn::Conn,
    connection::{held::CONNECTION_OCTETS, idleness::IdleObserver},
    date,
    error::{Error, Phase},
    ledger::Ledger,
    lending::{LENT_OCTETS, give_back, lend},
    machine::Machine,
    overrun::Overrun,
    read_buf::ReadBuf,
    transport::Socket,
    transport_facts::TransportFacts,
    turn::poll_read,
    version::{Speaks, Version},
};

/// The first octet of a TLS connection: the content type of a handshake record (RFC 8446 §5.1).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 0x16;

/// How HTTP/2 begins, and no request of HTTP/1.1 does.
const PREFACE_BEGIN: [u8; 4] = *b"PRI ";

/// Octets of room that the first read has at least.
const FIRST_ROOM: usize = LENT_OCTETS / 2;

/// A time that does not come, some thirty years.
const NEVER: Duration = Duration::from_secs(1_000_000_000);

/// The settings of a server's connections.
#[derive(Clone)]
pub struct Accept {
    /// TLS with this configuration, beside clear text on the same port.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// True if clear text is taken beside TLS.
    #[cfg(feature = "tls")]
    pub clear_text: bool,
    /// What is spoken. Over TLS the client chooses by ALPN, which the configuration offers; in clear text it begins in HTTP/2,
    /// or does not.
    pub speaks: Speaks,
    /// The settings of HTTP/1.1 machines, but for the scheme; see [`http1_of`](Self::http1_of).
    pub http1: Arc<h1::Config>,
    /// The settings of HTTP/2 machines; the `handshake_timeout` of its limits is for the first octet, TLS and the preface together.
    pub config: Arc<Config>,
    /// The account that all connections of this server share.
    pub ledger: Arc<Ledger>,
    /// The octets of a request's content that [`Body::bytes`](crate::Body::bytes) and its siblings gather unless told otherwise.
    pub content_max: usize,
}

impl Accept {
    /// The settings of HTTP/1.1 machines with these limits, which date the refusals that they write themselves.
    pub fn http1_of(http1: h1::Config, limits: &Limits) -> Arc<h1::Config> {
        Arc::new(h1::Config { limits: limits.clone(), date: Some(date::now), ..http1 })
    }

    /// Makes a connection of an accepted socket; its owner then calls [`Conn::turn_of_server`].
    ///
    /// # Errors
    /// TLS failed, the peer offered no version by ALPN that is spoken, it was too slow, the connection broke, clear text is not taken, or
    /// connections hold all the memory they may.
    pub async fn open(&self, socket: impl Into<Socket>) -> Result<Arc<Conn>, Error> {
        self.open_observed(socket.into(), Instant::now(), None).await
    }

    /// Does the same as [`open`](Self::open) for a socket that was accepted at `begun`, and tells `observer` when the connection
    /// becomes idle and when it is used again.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_observed(
        &self,
        socket: Socket,
        begun: Instant,
        observer: Option<Arc<dyn IdleObserver>>,
    ) -> Result<Arc<Conn>, Error> {
        let opened = if self.ledger.memory.has_room(CONNECTION_OCTETS) {
            let secured = pin!(self.secure(socket, begun));
            self.in_time(begun, secured).await
        } else {
            Err(Error::overrun(Phase::Handshake, Overrun::PROCESS_MEMORY, &self.config.limits))
        };
        match &opened {
            Ok(conn) => conn.begin_idle_time(self.config.limits.idle_timeout, observer),
            Err(error) => self.ledger.note_error(error),
        }
        opened
    }

    /// The connection, unless its handshake takes too long. The timer is set when there is something to wait for.
    async fn in_time(
        &self,
        begun: Instant,
        mut secured: Pin<&mut impl Future<Output = Result<Arc<Conn>, Error>>>,
    ) -> Result<Arc<Conn>, Error> {
        let mut late = pin!(None);
        poll_fn(|cx| {
            if let Poll::Ready(secured) = secured.as_mut().poll(cx) {
                return Poll::Ready(secured);
            }
            if late.is_none() {
                let timeout = self.config.limits.handshake_timeout;
                let ends_at = begun.checked_add(timeout).unwrap_or_else(|| begun + NEVER);
                late.set(Some(sleep_until(ends_at)));
            }
            let Some(late) = late.as_mut().as_pin_mut() else { return Poll::Pending };
            late.poll(cx)
                .map(|()| Err(Error::overrun(Phase::Handshake, Overrun::HANDSHAKE_LATE, &self.config.limits)))
        })
        .await
    }

    /// A connection whose time began when it was accepted, and so did that of the machine's handshake.
    fn plain(
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

    /// A connection in clear text: HTTP/2 with prior knowledge begins with a method that HTTP/1.1 has not (RFC 9113 §3.4).
    ///
    /// The socket is there until the connection is.
    fn poll_clear(
        &self,
        socket: &mut Option<Socket>,
        begun: Instant,
        first: &mut First,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Arc<Conn>, Error>> {
        let facts = socket.as_ref().map(|socket| *socket.facts()).unwrap_or_default();
        let scheme = if facts.is_secure() { "https" } else { "http" };
        let speaks = self.speaks_with(&facts)?;
        let (version, read) = match (speaks, socket.as_mut()) {
            (Speaks { http1: true, http2: true }, Some(socket)) => {
                let read = ready!(first.poll_rest(socket, cx))?;
                (if first.octets == PREFACE_BEGIN { Version::Http2 } else { Version::Http1 }, read)
            }
            (Speaks { http2: true, .. }, _) => (Version::Http2, first.lent()),
            (Speaks { .. }, _) => (Version::Http1, first.lent()),
        };
        let Some(socket) = socket.take() else { return Poll::Pending };
        let conn = self.plain(socket, begun, version, scheme)?;
        conn.use_input(read, first.has_waited);
        Poll::Ready(Ok(conn))
    }

    /// What is spoken over a transport: the version that was agreed on elsewhere, if there is one.
    fn speaks_with(&self, facts: &TransportFacts) -> Result<Speaks, Error> {
        match facts.version {
            None => Ok(self.speaks),
            Some(version) if !self.speaks.has(version) => Err(Error::no_version()),
            Some(Version::Http1) => Ok(Speaks::HTTP1),
            Some(Version::Http2) => Ok(Speaks::HTTP2),
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket, begun: Instant) -> Result<Arc<Conn>, Error> {
        let (mut socket, mut first) = (Some(socket), First::default());
        poll_fn(|cx| self.poll_clear(&mut socket, begun, &mut first, cx)).await
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket, begun: Instant) -> Result<Arc<Conn>, Error> {
        let mut first = First::default();
        let Some(config) = self.tls.as_ref().filter(|_| !socket.facts().is_secure()) else {
            let mut socket = Some(socket);
            return poll_fn(|cx| self.poll_clear(&mut socket, begun, &mut first, cx)).await;
        };
        first.read(&mut socket).await?;
        if !first.here().starts_with(&[TLS_HANDSHAKE]) {
            if !self.clear_text {
                return Err(Error::overrun(Phase::Handshake, Overrun::CLEAR_TEXT, &self.config.limits));
            }
            let mut socket = Some(socket);
            return poll_fn(|cx| self.poll_clear(&mut socket, begun, &mut first, cx)).await;
        }
        let session =
            rustls::ServerConnection::new(config.clone()).map_err(|e| Error::tls(Phase::Handshake, e))?;
        let mut tls = Box::new(Tls::new(session.into()));
        // In a box of its own, so that a connection in clear text has no room for it.
        Box::pin(tls.shake_hands(&mut socket, first.here())).await?;
        let version = self.speaks.agreed(tls.alpn()).ok_or_else(Error::no_version)?;
        let conn = self.plain(socket, begun, version, "https")?;
        conn.use_tls(tls);
        Ok(conn)
    }
}

/// The octets with which a connection begins, as far as they say what is spoken.
#[derive(Default)]
struct First {
    octets: [u8; PREFACE_BEGIN.len()],
    count: usize,
    /// The connection is older than a moment.
    has_waited: bool,
}

impl First {
    fn here(&self) -> &[u8] {
        &self.octets[..self.count]
    }

    /// Returns true if it may become the preface of HTTP/2, and is not all here.
    fn is_undecided(&self) -> bool {
        self.count < self.octets.len() && PREFACE_BEGIN.starts_with(self.here())
    }

    /// These octets in a buffer that is lent.
    fn lent(&self) -> ReadBuf {
        let mut lent = ReadBuf::on(lend());
        lent.append(self.here());
        lent
    }

    /// Reads until it is decided or the peer has closed. Ready with all octets that came, in a buffer that is lent: what follows
    /// the first of them was mostly sent with them, and needs no read of its own.
    fn poll_rest(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<ReadBuf, Error>> {
        let mut lent = self.lent();
        while self.is_undecided() {
            match poll_read(socket, lent.space(FIRST_ROOM), cx) {
                Poll::Ready(Ok(0)) => break,
                Poll::Ready(Ok(octets)) => lent.filled(octets),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::io(Phase::Handshake, error))),
                Poll::Pending => {
                    self.has_waited = true;
                    give_back(lent.into_memory());
                    return Poll::Pending;
                }
            }
            self.count = lent.unread().len().min(self.octets.len());
            self.octets[..self.count].copy_from_slice(&lent.unread()[..self.count]);
        }
        Poll::Ready(Ok(lent))
    }

    /// Reads what there is room for; nothing when the peer has closed.
    #[cfg(feature = "tls")]
    async fn read(&mut self, socket: &mut Socket) -> Result<(), Error> {
        self.has_waited = true;
        let read = socket.read(&mut self.octets[self.count..]).await;
        self.count += read.map_err(|e| Error::io(Phase::Handshake, e))?;
        Ok(())
    }
}
