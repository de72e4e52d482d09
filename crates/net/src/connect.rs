//! Opening a connection: TCP, TLS where asked for, then HTTP/1.1 or HTTP/2 with its standby task.

use std::{sync::Arc, time::Duration};

use alula_h1 as h1;
use alula_h2::{Config, Connection};

use crate::{
    conn::{Conn, FrameObserver},
    error::{Cause, Error, Phase, Retry},
    ledger::Ledger,
    machine::Machine,
    standby::Standby,
    transport::Socket,
    version::{Speaks, Version},
};

/// Where to connect to, and how.
#[derive(Clone)]
pub struct Connect {
    /// A host name or an IP address, IPv6 without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// TLS with this configuration, which offers what `speaks` says by ALPN; nothing for clear text.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ClientConfig>>,
    /// How long TCP and TLS may take together.
    pub deadline: Duration,
    /// What this side speaks. Over TLS the peer chooses; in clear text it is HTTP/1.1, unless only HTTP/2 is spoken: that is
    /// prior knowledge (RFC 9113 §3.3).
    pub speaks: Speaks,
    /// What the HTTP/1.1 machine is given, but for limits.
    pub http1: h1::Config,
    /// What the HTTP/2 machine is given; its limits are both machines'.
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
    /// The host is unknown, nobody listens, TLS failed, the peer chose no version that is spoken, or the deadline passed.
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

    fn plain(&self, socket: Socket, version: Version) -> Result<Conn, Error> {
        let machine: Machine = match version {
            Version::Http1 => {
                let limits = self.config.limits.clone();
                h1::Connection::client(h1::Config { limits, ..self.http1.clone() }).into()
            }
            Version::Http2 => Connection::client(self.config.clone()).into(),
        };
        Conn::new(socket, machine, &self.ledger).map_err(|e| Error::io(Phase::Connect, &e))
    }

    /// What is spoken in clear text.
    fn unasked(&self) -> Version {
        if self.speaks.http1 { Version::Http1 } else { Version::Http2 }
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket) -> Result<Conn, Error> {
        self.plain(socket, self.unasked())
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket) -> Result<Conn, Error> {
        let Some(config) = &self.tls else {
            return self.plain(socket, self.unasked());
        };
        let name = rustls::pki_types::ServerName::try_from(self.host.clone())
            .map_err(|_| Error::usage("the host is neither a DNS name nor an IP address (RFC 6066 §3)"))?;
        let session = rustls::ClientConnection::new(config.clone(), name)
            .map_err(|e| Error::tls(Phase::Handshake, e))?;
        let tls = crate::handshake::shake_hands(&mut socket, session.into()).await?;
        let version = self.speaks.agreed(tls.alpn()).ok_or(Error::no_version())?;
        Ok(self.plain(socket, version)?.with_tls(tls))
    }
}
