//! Taking a connection: TLS where its first octet says so, then the version that was agreed on, or that the first octets are.

use std::sync::Arc;

use alula_h1 as h1;
use alula_h2::{Config, Connection};
use tokio::{io::AsyncReadExt as _, time::Instant};

use crate::{
    conn::Conn,
    error::{Error, Phase},
    ledger::Ledger,
    machine::Machine,
    memory::CONNECTION_OCTETS,
    overrun::Overrun,
    transport::Socket,
    version::{Speaks, Version},
};

/// The first octet of a TLS connection: the content type of a handshake record (RFC 8446 §5.1).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 0x16;

/// How HTTP/2 begins, and no request of HTTP/1.1 does.
const PREFACE_BEGIN: [u8; 4] = *b"PRI ";

/// How connections are taken.
#[derive(Clone)]
pub struct Accept {
    /// TLS with this configuration, beside clear text on the same port.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Whether clear text is taken beside TLS.
    #[cfg(feature = "tls")]
    pub clear_text: bool,
    /// What is spoken. Over TLS the client chooses by ALPN, which the configuration offers; in clear text it begins in HTTP/2,
    /// or does not.
    pub speaks: Speaks,
    /// What the HTTP/1.1 machine is given, but for limits.
    pub http1: h1::Config,
    /// What the HTTP/2 machine is given; its limits are both machines', and its `handshake_timeout` is for the first octet, TLS and the preface together.
    pub config: Config,
    /// What all connections of this server keep together.
    pub ledger: Arc<Ledger>,
}

impl Accept {
    /// Makes a connection of an accepted socket; its owner then calls [`Conn::turn_of_server`].
    ///
    /// # Errors
    /// TLS failed, the peer offered no version by ALPN that is spoken, it was too slow, the connection broke, clear text is not taken, or
    /// connections hold all the memory they may.
    pub async fn open(&self, socket: impl Into<Socket>) -> Result<Arc<Conn>, Error> {
        let opened = self.open_in_time(socket.into()).await;
        if let Err(error) = &opened {
            self.ledger.note_error(error);
        }
        opened
    }

    async fn open_in_time(&self, socket: Socket) -> Result<Arc<Conn>, Error> {
        if !self.ledger.memory.has_room(CONNECTION_OCTETS) {
            return Err(Error::overrun(Phase::Handshake, Overrun::PROCESS_MEMORY));
        }
        let begun = Instant::now();
        match tokio::time::timeout(self.config.limits.handshake_timeout, self.secure(socket, begun)).await {
            Ok(result) => result.map(Conn::into_shared),
            Err(_) => Err(Error::overrun(Phase::Handshake, Overrun::HANDSHAKE_LATE)),
        }
    }

    /// The machine's part of the time is what is left of it.
    fn plain(
        &self,
        socket: Socket,
        begun: Instant,
        version: Version,
        scheme: &'static str,
    ) -> Result<Conn, Error> {
        let mut config = self.config.clone();
        config.limits.handshake_timeout = config.limits.handshake_timeout.saturating_sub(begun.elapsed());
        let machine: Machine = match version {
            Version::Http1 => {
                let config = h1::Config { limits: config.limits, scheme, ..self.http1.clone() };
                h1::Connection::server(config).into()
            }
            Version::Http2 => Connection::server(config).into(),
        };
        Conn::new(socket, machine, &self.ledger).map_err(|e| Error::io(Phase::Handshake, &e))
    }

    /// A connection in clear text: HTTP/2 with prior knowledge begins with a method that HTTP/1.1 has not (RFC 9113 §3.4).
    async fn clear(&self, mut socket: Socket, begun: Instant, mut first: First) -> Result<Conn, Error> {
        let version = match self.speaks {
            Speaks { http1: true, http2: true } => {
                while first.is_undecided() && first.read(&mut socket).await? {}
                if first.octets == PREFACE_BEGIN { Version::Http2 } else { Version::Http1 }
            }
            Speaks { http2: true, .. } => Version::Http2,
            Speaks { .. } => Version::Http1,
        };
        Ok(self.plain(socket, begun, version, "http")?.with_input(first.here()))
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket, begun: Instant) -> Result<Conn, Error> {
        self.clear(socket, begun, First::default()).await
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket, begun: Instant) -> Result<Conn, Error> {
        let mut first = First::default();
        let Some(config) = &self.tls else { return self.clear(socket, begun, first).await };
        first.read(&mut socket).await?;
        if !first.here().starts_with(&[TLS_HANDSHAKE]) {
            return match self.clear_text {
                true => self.clear(socket, begun, first).await,
                false => Err(Error::overrun(Phase::Handshake, Overrun::CLEAR_TEXT)),
            };
        }
        let session =
            rustls::ServerConnection::new(config.clone()).map_err(|e| Error::tls(Phase::Handshake, e))?;
        let tls = crate::handshake::shake_hands(&mut socket, session.into(), first.here()).await?;
        let version = self.speaks.agreed(tls.alpn()).ok_or(Error::no_version())?;
        Ok(self.plain(socket, begun, version, "https")?.with_tls(tls))
    }
}

/// The octets with which a connection begins, as far as they say what is spoken.
#[derive(Default)]
struct First {
    octets: [u8; PREFACE_BEGIN.len()],
    count: usize,
}

impl First {
    fn here(&self) -> &[u8] {
        &self.octets[..self.count]
    }

    /// Whether it may become the preface of HTTP/2, and is not all here.
    fn is_undecided(&self) -> bool {
        self.count < self.octets.len() && PREFACE_BEGIN.starts_with(self.here())
    }

    /// Reads what there is room for. False when the peer has closed.
    async fn read(&mut self, socket: &mut Socket) -> Result<bool, Error> {
        let read = socket.read(&mut self.octets[self.count..]).await;
        let octets = read.map_err(|e| Error::io(Phase::Handshake, &e))?;
        self.count += octets;
        Ok(octets > 0)
    }
}
