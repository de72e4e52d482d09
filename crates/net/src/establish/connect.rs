//! Makes a connection of a transport that leads to the peer: TLS where asked for, then HTTP/1.1 or HTTP/2
//! with its standby task. The client opens the transport.

use std::sync::Arc;

use alula_h1 as h1;
use alula_h2::{Config, Connection};
#[cfg(feature = "tls")]
use rustls::{ClientConfig, pki_types::ServerName};

#[cfg(feature = "tls")]
use crate::tls::Tls;
use tokio::time::Instant;

use crate::{
    connection::memory::ledger::Ledger,
    drive::{
        client_task::Standby,
        shared::{Conn, FrameObserver},
    },
    error::{Error, Phase},
    establish::version::{Speaks, Version},
    machine::Machine,
    transport::Socket,
};

/// The settings of a client's connection.
#[derive(Clone)]
pub struct Connect {
    /// The configuration of TLS, which offers the versions of `speaks` by ALPN, and the name of the server;
    /// `None` for clear text.
    #[cfg(feature = "tls")]
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// The versions of HTTP that this side speaks. Over TLS the peer chooses; in clear text it is HTTP/1.1,
    /// unless only HTTP/2 is spoken: that is prior knowledge (RFC 9113 §3.3).
    pub speaks: Speaks,
    /// The settings of HTTP/1.1 machines.
    pub http1: Arc<h1::Config>,
    /// The settings of HTTP/2 machines, but for the next.
    pub config: Arc<Config>,
    /// The number of streams that the server is expected to allow until it has stated a number.
    pub streams_expected: u32,
    /// The bytes of a field section that the server is expected to accept until it has stated a number; the
    /// largest number is no bound.
    pub field_section_expected: u32,
    /// The account that all connections of this client share.
    pub ledger: Arc<Ledger>,
    /// The bytes of a response's content that [`Body::bytes`](crate::Body::bytes) and its siblings gather
    /// unless told otherwise.
    pub content_max: usize,
    /// The observer that is told of every frame; requires `config.trace`.
    pub observer: Option<FrameObserver>,
    /// The function to call at the end of the connection.
    pub at_end: Option<AtEnd>,
}

/// A function that is called with a connection whose own task has ended, even if it was dropped with its
/// runtime.
pub type AtEnd = Arc<dyn Fn(&Conn) + Send + Sync>;

impl Connect {
    /// Creates settings of connections in clear text without observers; the limits of `config` hold for both
    /// machines. A crate that is built without TLS cannot name the field for it, which is there as soon as
    /// another crate asks for TLS.
    pub fn new(speaks: Speaks, http1: h1::Config, config: Config, ledger: Arc<Ledger>) -> Self {
        Self {
            #[cfg(feature = "tls")]
            tls: None,
            speaks,
            http1: Arc::new(h1::Config { limits: config.limits.clone(), ..http1 }),
            streams_expected: config.streams_expected,
            field_section_expected: u32::MAX,
            config: Arc::new(config),
            ledger,
            content_max: usize::MAX,
            observer: None,
            at_end: None,
        }
    }

    /// Sets the function to call at the end of each connection.
    #[must_use]
    pub fn at_end(self, tell: impl Fn(&Conn) + Send + Sync + 'static) -> Self {
        Self { at_end: Some(Arc::new(tell)), ..self }
    }

    /// Makes a connection of a transport, and spawns its standby task on the current runtime. There is no
    /// deadline.
    ///
    /// # Errors
    /// TLS failed, the peer chose no version that is spoken, or the transport broke.
    pub async fn over(&self, socket: impl Into<Socket>) -> Result<Arc<Conn>, Error> {
        let conn = self.secure(socket.into()).await?;
        tokio::spawn(Standby::new(conn.clone(), self.at_end.clone()));
        Ok(conn)
    }

    fn plain(&self, socket: Socket, version: Version) -> Result<Arc<Conn>, Error> {
        let machine: Machine = match version {
            Version::Http1 => h1::Connection::client(self.http1.clone()).into(),
            Version::Http2 => {
                let mut machine = Connection::client(self.config.clone());
                machine.expect_streams(self.streams_expected);
                machine.expect_field_section(self.field_section_expected);
                machine.into()
            }
        };
        let observer = self.observer.clone();
        let conn = Conn::new(socket, machine, &self.ledger, observer, Instant::now(), self.content_max)
            .map_err(|e| Error::io(Phase::Connect, e))?;
        if version == Version::Http2 && self.speaks.http1 {
            conn.may_fall_back();
        }
        Ok(conn)
    }

    /// Returns the version to speak in clear text.
    fn unasked(&self) -> Version {
        if self.speaks.http1 { Version::Http1 } else { Version::Http2 }
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, socket: Socket) -> Result<Arc<Conn>, Error> {
        self.plain(socket, self.unasked())
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, mut socket: Socket) -> Result<Arc<Conn>, Error> {
        let Some((config, name)) = &self.tls else {
            return self.plain(socket, self.unasked());
        };
        let session = rustls::ClientConnection::new(config.clone(), name.clone())
            .map_err(|e| Error::tls(Phase::Handshake, e))?;
        let mut tls = Box::new(Tls::new(session.into()));
        tls.shake_hands(&mut socket, &[]).await?;
        let version = self.speaks.agreed(tls.alpn()).ok_or_else(Error::no_version)?;
        let conn = self.plain(socket, version)?;
        conn.use_tls(tls);
        Ok(conn)
    }
}
