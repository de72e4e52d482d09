//! Taking a connection: TLS where its first octet says so, then HTTP/2.

use std::sync::Arc;

use alula_h2::{Config, Connection};
use tokio::time::Instant;

use crate::{
    conn::Conn,
    error::{Error, Phase},
    ledger::Ledger,
    memory::CONNECTION_OCTETS,
    overrun::Overrun,
    transport::Socket,
};

/// The first octet of a TLS connection: the content type of a handshake record (RFC 8446 §5.1).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 0x16;

/// How connections are taken.
#[derive(Clone)]
pub struct Accept {
    /// TLS with this configuration, beside clear text on the same port.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Whether clear text is taken beside TLS.
    #[cfg(feature = "tls")]
    pub clear_text: bool,
    /// What the HTTP/2 machine is given; its `handshake_timeout` is for the first octet, TLS and the preface together.
    pub config: Config,
    /// What all connections of this server keep together.
    pub ledger: Arc<Ledger>,
}

impl Accept {
    /// Makes a connection of an accepted socket; its owner then calls [`Conn::turn_of_server`].
    ///
    /// # Errors
    /// TLS failed, the peer did not offer `h2` by ALPN, it was too slow, the connection broke, clear text is not taken, or
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
    fn plain(&self, socket: Socket, begun: Instant) -> Result<Conn, Error> {
        let mut config = self.config.clone();
        config.limits.handshake_timeout = config.limits.handshake_timeout.saturating_sub(begun.elapsed());
        Conn::new(socket, Connection::server(config), &self.ledger)
            .map_err(|e| Error::io(Phase::Handshake, &e))
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket, begun: Instant) -> Result<Conn, Error> {
        self.plain(socket, begun)
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket, begun: Instant) -> Result<Conn, Error> {
        let Some(config) = &self.tls else { return self.plain(socket, begun) };
        let mut first = [0];
        let peeked = socket.peek(&mut first).await.map_err(|e| Error::io(Phase::Handshake, &e))?;
        if peeked == 0 || first[0] != TLS_HANDSHAKE {
            let clear_text = self.clear_text.then(|| self.plain(socket, begun));
            return clear_text.unwrap_or(Err(Error::overrun(Phase::Handshake, Overrun::CLEAR_TEXT)));
        }
        let session =
            rustls::ServerConnection::new(config.clone()).map_err(|e| Error::tls(Phase::Handshake, e))?;
        let tls = crate::handshake::shake_hands(&mut socket, session.into()).await?;
        if tls.alpn() != Some(b"h2") {
            return Err(Error::not_h2());
        }
        Ok(self.plain(socket, begun)?.with_tls(tls))
    }
}
