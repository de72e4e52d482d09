//! Opening a connection: TCP, TLS where asked for, then HTTP/2 with its standby task.

use std::{sync::Arc, time::Duration};

use alula_h2::{Config, Connection};

use crate::{
    conn::{Conn, FrameObserver},
    error::{Cause, Error, Phase, Retry},
    ledger::Ledger,
    standby::Standby,
    transport::Socket,
};

/// Where to connect to, and how.
#[derive(Clone)]
pub struct Connect {
    /// A host name or an IP address, IPv6 without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// TLS with this configuration; nothing for clear text with prior knowledge (RFC 9113 §3.3).
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ClientConfig>>,
    /// How long TCP and TLS may take together.
    pub deadline: Duration,
    /// What the HTTP/2 machine is given.
    pub config: Config,
    /// What all connections of this client keep together.
    pub ledger: Arc<Ledger>,
    /// Who is told of every frame; needs `config.trace`.
    pub observer: Option<FrameObserver>,
}

impl Connect {
    /// Opens the connection and spawns its standby task on the current runtime.
    ///
    /// # Errors
    /// The host is unknown, nobody listens, TLS failed, the peer did not choose `h2` by ALPN, or the deadline passed.
    pub async fn open(&self) -> Result<Arc<Conn>, Error> {
        match tokio::time::timeout(self.deadline, self.try_open()).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(Phase::Connect, Cause::Deadline, Retry::Safe)),
        }
    }

    async fn try_open(&self) -> Result<Arc<Conn>, Error> {
        let socket = Socket::connect((self.host.as_str(), self.port)).await;
        let socket = socket.map_err(|e| Error::io(Phase::Connect, &e))?;
        let conn = self.secure(socket).await?;
        let conn = conn.observed_by(self.observer.clone()).into_shared();
        tokio::spawn(Standby::new(conn.clone()));
        Ok(conn)
    }

    fn plain(&self, socket: Socket) -> Result<Conn, Error> {
        let machine = Connection::client(self.config.clone());
        Conn::new(socket, machine, &self.ledger).map_err(|e| Error::io(Phase::Connect, &e))
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket) -> Result<Conn, Error> {
        self.plain(socket)
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket) -> Result<Conn, Error> {
        let Some(config) = &self.tls else {
            return self.plain(socket);
        };
        let name = rustls::pki_types::ServerName::try_from(self.host.clone())
            .map_err(|_| Error::usage("the host is neither a DNS name nor an IP address (RFC 6066 §3)"))?;
        let session = rustls::ClientConnection::new(config.clone(), name)
            .map_err(|e| Error::tls(Phase::Handshake, e))?;
        let tls = crate::handshake::shake_hands(&mut socket, session.into()).await?;
        if tls.alpn() != Some(b"h2") {
            return Err(Error::not_h2());
        }
        Ok(self.plain(socket)?.with_tls(tls))
    }
}
