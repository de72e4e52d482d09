//! Taking a connection: TLS where its first octet says so, then HTTP/2.

use std::{sync::Arc, time::Duration};

use crate::{
    conn::Conn,
    error::{Cause, Error, Phase, Retry},
    transport::Socket,
};
use alula_h2::{Config, Connection};

/// The first octet of a TLS connection: the content type of a handshake record (RFC 8446 §5.1).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 0x16;

/// How connections are taken.
#[derive(Clone)]
pub struct Accept {
    /// TLS with this configuration, beside clear text on the same port.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// How long the peer may take for the first octet and the handshake.
    pub deadline: Duration,
    /// What the HTTP/2 machine is given.
    pub config: Config,
}

impl Accept {
    /// Makes a connection of an accepted socket; its owner then calls [`Conn::turn_of_server`].
    ///
    /// # Errors
    /// TLS failed, the peer did not offer `h2` by ALPN, it was too slow, or the connection broke.
    pub async fn open(&self, socket: impl Into<Socket>) -> Result<Arc<Conn>, Error> {
        match tokio::time::timeout(self.deadline, self.secure(socket.into())).await {
            Ok(result) => result.map(Conn::into_shared),
            Err(_) => Err(Error::new(Phase::Handshake, Cause::Deadline, Retry::Safe)),
        }
    }

    fn plain(&self, socket: Socket) -> Result<Conn, Error> {
        let machine = Connection::server(self.config.clone());
        Conn::new(socket, machine).map_err(|e| Error::io(Phase::Handshake, &e))
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket) -> Result<Conn, Error> {
        self.plain(socket)
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket) -> Result<Conn, Error> {
        let Some(config) = &self.tls else { return self.plain(socket) };
        let mut first = [0];
        let peeked = socket.peek(&mut first).await.map_err(|e| Error::io(Phase::Handshake, &e))?;
        if peeked == 0 || first[0] != TLS_HANDSHAKE {
            return self.plain(socket);
        }
        let session =
            rustls::ServerConnection::new(config.clone()).map_err(|e| Error::tls(Phase::Handshake, e))?;
        let tls = crate::handshake::shake_hands(&mut socket, session.into()).await?;
        if tls.alpn() != Some(b"h2") {
            return Err(Error::not_h2());
        }
        Ok(self.plain(socket)?.with_tls(tls))
    }
}
