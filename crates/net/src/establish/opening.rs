//! A connection of a server that is being opened: its first bytes tell the protocol, and TLS shakes hands.
//!
//! Rule: the machine of a connection in clear text, and all that goes with it, is there once it is of use:
//! when the first head is whole, or the preface of HTTP/2 (RFC 9113 §3.4). Until then the few bytes that came
//! are all that is held. They are handed on at once when something is wrong with them, when the time for them
//! is over, and when the server stops.

#[cfg(feature = "tls")]
use std::pin::Pin;
use std::{
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use alula_h1 as h1;
use alula_machine::{Reservation, Time};
use tokio::time::Instant;

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    connection::{
        checks::idle::IdleObserver,
        memory::read_buffers::{LENT_BYTES, give_back, lend},
    },
    drive::{
        shared::{Arrival, Conn},
        turn::poll_read,
    },
    error::{Error, Phase, limit::Overrun},
    establish::{
        accept::Accept,
        version::{Speaks, Version},
    },
    transport::{Socket, read_buf::ReadBuf},
};

/// The first byte of a TLS connection: the content type of a handshake record (RFC 8446 §5.1).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 0x16;

/// The first bytes of HTTP/2 (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The beginning of HTTP/2 connections that no request of HTTP/1.1 has.
const PREFACE_BEGIN: &[u8] = b"PRI ";

/// The bytes of an unfinished head that are held without a machine. Most heads are shorter; a longer one is
/// worth a machine.
const HELD_BYTES_MAX: usize = 512;

/// The memory of a connection that is being opened, with its task and its socket. Measured (`idle_memory`).
const OPENING_BYTES: u64 = 1300;

/// The least room for the first read.
const FIRST_ROOM: usize = LENT_BYTES / 2;

/// A time that is not reached, some thirty years away.
const NEVER: Duration = Duration::from_secs(1_000_000_000);

/// A TLS handshake in a box of its own, so that a connection in clear text has no room for it.
#[cfg(feature = "tls")]
type Secured<'a> = Pin<Box<dyn Future<Output = Result<Arc<Conn>, Error>> + Send + 'a>>;

/// A connection that is being opened.
pub(crate) struct Opening<'a> {
    accept: &'a Accept,
    observer: Option<Arc<dyn IdleObserver>>,
    /// The socket, until TLS or the connection has it.
    socket: Option<Socket>,
    /// The time at which the connection was accepted.
    begun: Instant,
    /// The bytes that came and do not suffice to begin.
    held: Vec<u8>,
    /// The time of the first of these bytes, and the charge for the connection.
    since: Option<(Instant, Reservation)>,
    /// The connection is older than a moment.
    has_waited: bool,
    #[cfg(feature = "tls")]
    secured: Option<Secured<'a>>,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(
        accept: &'a Accept,
        socket: Socket,
        begun: Instant,
        observer: Option<Arc<dyn IdleObserver>>,
    ) -> Self {
        Self {
            accept,
            observer,
            socket: Some(socket),
            begun,
            held: Vec::new(),
            since: None,
            has_waited: false,
            #[cfg(feature = "tls")]
            secured: None,
        }
    }

    /// Polls for the connection.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arc<Conn>, Error>> {
        #[cfg(feature = "tls")]
        if let Some(secured) = ready!(self.poll_secured(cx))? {
            return secured.as_mut().poll(cx);
        }
        self.poll_clear(cx)
    }

    /// Takes out the observer of the connection's idle time.
    pub(crate) fn take_observer(&mut self) -> Option<Arc<dyn IdleObserver>> {
        self.observer.take()
    }

    /// Returns the deadline: of the handshake, or of a head that has begun.
    pub(crate) fn ends_at(&self) -> Instant {
        let limits = &self.accept.config.limits;
        let ends_at = later(self.begun, limits.handshake_timeout);
        match &self.since {
            Some((since, _)) if version_of(&self.held) == Some(Version::Http1) => {
                ends_at.min(later(*since, limits.head_timeout))
            }
            _ => ends_at,
        }
    }

    /// Ends an opening whose deadline has passed; the machine refuses a head that has begun.
    ///
    /// # Errors
    /// [`Overrun::HANDSHAKE_LATE`] if the version that the client speaks is not known yet.
    #[cold]
    pub(crate) fn end_late(&mut self) -> Result<Arc<Conn>, Error> {
        let version = version_of(&self.held);
        let late = || Error::overrun(Phase::Handshake, Overrun::HANDSHAKE_LATE, &self.accept.config.limits);
        let (version, socket) = version.zip(self.socket.take()).ok_or_else(late)?;
        let lent = self.lent();
        self.hand_on(socket, version, lent)
    }
}

/// TLS.
#[cfg(feature = "tls")]
impl<'a> Opening<'a> {
    /// Polls for the rest of the handshake; does nothing for a connection in clear text.
    fn poll_secured(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<&mut Secured<'a>>, Error>> {
        if self.secured.is_none() && self.held.is_empty() {
            ready!(self.poll_first(cx))?;
        }
        Poll::Ready(Ok(self.secured.as_mut()))
    }

    /// Reads the first bytes if TLS is possible, and begins its handshake if they ask for it.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let accept = self.accept;
        let socket = self.socket.as_mut().filter(|socket| !socket.facts().is_secure());
        let (Some(config), Some(socket)) = (&accept.tls, socket) else { return Poll::Ready(Ok(())) };
        self.has_waited = true;
        let mut bytes = [0; PREFACE_BEGIN.len()];
        let read = ready!(poll_read(socket, &mut bytes, cx)).map_err(|e| Error::io(Phase::Handshake, e))?;
        // A byte of 0x16 begins neither a method of HTTP/1.1 nor the preface of HTTP/2.
        if bytes[..read].starts_with(&[TLS_HANDSHAKE]) {
            self.secured = self.socket.take().map(|socket| {
                let begun = self.begun;
                Box::pin(accept.secured(socket, begun, config.clone(), (bytes, read))) as Secured<'a>
            });
        } else if !accept.clear_text {
            let limits = &accept.config.limits;
            return Poll::Ready(Err(Error::overrun(Phase::Handshake, Overrun::CLEAR_TEXT, limits)));
        } else {
            self.held.extend_from_slice(&bytes[..read]);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(feature = "tls")]
impl Accept {
    /// Returns a connection over TLS, whose first bytes were read already.
    async fn secured<const N: usize>(
        &self,
        mut socket: Socket,
        begun: Instant,
        config: Arc<rustls::ServerConfig>,
        (bytes, read): ([u8; N], usize),
    ) -> Result<Arc<Conn>, Error> {
        let session = rustls::ServerConnection::new(config).map_err(|e| Error::tls(Phase::Handshake, e))?;
        let mut tls = Box::new(Tls::new(session.into()));
        tls.shake_hands(&mut socket, &bytes[..read]).await?;
        let version = self.speaks.agreed(tls.alpn()).ok_or_else(Error::no_version)?;
        let conn = self.plain(socket, begun, version, "https")?;
        conn.use_tls(tls);
        Ok(conn)
    }
}

/// Clear text.
impl Opening<'_> {
    /// Polls for a connection in clear text: HTTP/2 with prior knowledge begins with a method that HTTP/1.1
    /// has not (RFC 9113 §3.4).
    fn poll_clear(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arc<Conn>, Error>> {
        let (version, read) = match self.speaks()? {
            Speaks { http1: true, http2: true } => {
                let read = ready!(self.poll_begin(cx))?;
                (version_of(read.unread()).unwrap_or(Version::Http1), read)
            }
            Speaks { http2: true, .. } => (Version::Http2, self.lent()),
            Speaks { .. } => (Version::Http1, self.lent()),
        };
        let Some(socket) = self.socket.take() else { return Poll::Pending };
        Poll::Ready(self.hand_on(socket, version, read))
    }

    /// Returns the versions that may be spoken over the transport: the one that was agreed on outside, if
    /// there is one.
    fn speaks(&self) -> Result<Speaks, Error> {
        let speaks = self.accept.speaks;
        match self.socket.as_ref().and_then(|socket| socket.facts().version) {
            None => Ok(speaks),
            // A version that was agreed on by ALPN elsewhere binds both sides (RFC 9113 §3.2).
            Some(version) if !speaks.has(version) => Err(Error::no_version()),
            Some(Version::Http1) => Ok(Speaks::HTTP1),
            Some(Version::Http2) => Ok(Speaks::HTTP2),
        }
    }

    /// Reads until there are enough bytes to begin, or the peer has closed. Ready with all bytes that came,
    /// in a buffer that is lent: what follows the first of them was mostly sent with them, and needs no read
    /// of its own.
    fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<Result<ReadBuf, Error>> {
        let mut lent = self.lent();
        while self.is_to_be_held(lent.unread()) {
            let Some(socket) = &mut self.socket else { break };
            match poll_read(socket, lent.space(FIRST_ROOM), cx) {
                Poll::Ready(Ok(0)) => break,
                Poll::Ready(Ok(bytes)) => lent.filled(bytes),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::io(Phase::Handshake, error))),
                Poll::Pending => {
                    self.hold(lent.unread());
                    give_back(lent.into_memory());
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(lent))
    }

    /// Returns the held bytes in a lent buffer.
    fn lent(&self) -> ReadBuf {
        let mut lent = ReadBuf::on(lend());
        lent.append(&self.held);
        lent
    }

    /// Holds bytes that do not suffice until more have come.
    fn hold(&mut self, bytes: &[u8]) {
        self.has_waited = true;
        if bytes.len() > self.held.len() {
            self.held.clear();
            // Thousands of silent connections may hold these bytes at once, so they have memory of their
            // exact size.
            self.held.reserve_exact(bytes.len());
            self.held.extend_from_slice(bytes);
            let memory = &self.accept.ledger.memory;
            self.since.get_or_insert_with(|| (Instant::now(), memory.hold(OPENING_BYTES)));
        }
    }

    fn is_to_be_held(&self, bytes: &[u8]) -> bool {
        match version_of(bytes) {
            None => true,
            // A server that stops hands unfinished requests on at once, so that their connections can refuse
            // or finish them.
            Some(_) if bytes.len() > HELD_BYTES_MAX || self.is_stopping() => false,
            Some(Version::Http2) => bytes.len() < PREFACE.len() && PREFACE.starts_with(bytes),
            Some(Version::Http1) => is_unfinished(bytes, &self.accept.http1),
        }
    }

    fn is_stopping(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.is_stopping())
    }

    /// Creates the connection with these bytes.
    fn hand_on(&mut self, socket: Socket, version: Version, read: ReadBuf) -> Result<Arc<Conn>, Error> {
        let scheme = if socket.facts().is_secure() { "https" } else { "http" };
        let arrival = match (self.since.take(), version) {
            // The time of a head that is not whole runs from its first byte on, and that of a preface from
            // the start.
            (Some((since, _)), Version::Http1) if !ends_head(read.unread()) => Arrival::Since(since),
            (Some(_), Version::Http2) if !read.unread().starts_with(PREFACE) => Arrival::Since(self.begun),
            _ if self.has_waited => Arrival::Now,
            _ => Arrival::AtOnce,
        };
        let conn = self.accept.plain(socket, self.begun, version, scheme)?;
        conn.use_input(read, arrival);
        Ok(conn)
    }
}

fn later(begun: Instant, after: Duration) -> Instant {
    begun.checked_add(after).unwrap_or_else(|| begun + NEVER)
}

/// Returns the version of a connection in clear text; `None` as long as it may be either.
fn version_of(bytes: &[u8]) -> Option<Version> {
    match bytes.starts_with(PREFACE_BEGIN) {
        true => Some(Version::Http2),
        false => (!PREFACE_BEGIN.starts_with(bytes)).then_some(Version::Http1),
    }
}

/// Returns true if a machine would only wait for more after these bytes. It is gone afterwards: what it costs
/// to read them again is little, since they are few.
fn is_unfinished(bytes: &[u8], config: &Arc<h1::Config>) -> bool {
    if ends_head(bytes) {
        return false;
    }
    let mut machine = h1::Connection::server(config.clone());
    let mut rest = bytes;
    loop {
        match machine.receive(rest, Time::ZERO) {
            Ok(received) if received.event.is_some() => return false,
            // An empty line before the request line is consumed without an event (RFC 9112 §2.2), and reading
            // goes on.
            Ok(received) if received.consumed == 0 => return true,
            Ok(received) => rest = &rest[received.consumed..],
            Err(_) => return false,
        }
    }
}

/// Returns true if an empty line follows a line, as after every head.
fn ends_head(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\r\n\r\n") || bytes.windows(4).any(|four| four == b"\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_made_for_what_is_whole_or_wrong() {
        let config = Arc::new(h1::Config::default());
        for (bytes, is_held) in [
            (&b"GE"[..], true),
            (b"GET / HTTP/1.1\r\nhost: a", true),
            (b"\r\nGET / HTTP/1.1\r\nhost: a\r\n", true),
            (b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", false),
            (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab", false),
            (b"G[", false),
            (b"GET / HTTP/1.1\r\nhost a\r\n", false),
            (b"GET / HTTP/4.1\r\n", false),
        ] {
            assert_eq!(is_unfinished(bytes, &config), is_held, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_version_is_known_when_the_first_bytes_differ() {
        for (bytes, version) in [
            (&b""[..], None),
            (b"PRI", None),
            (b"PRI ", Some(Version::Http2)),
            (PREFACE, Some(Version::Http2)),
            (b"PUT", Some(Version::Http1)),
            (b"G", Some(Version::Http1)),
        ] {
            assert_eq!(version_of(bytes), version, "{bytes:?}");
        }
    }
}
