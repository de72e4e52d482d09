//! The listener: accepts connections, hands each to a task of its own, and stops gracefully.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_fields::Limits;
use alula_net::{Accept, Ledger, Listener, Socket, Speaks, h1, h2::Config};
use tokio::{net::ToSocketAddrs, sync::watch, task::JoinSet};

#[cfg(feature = "tls")]
use crate::Identity;
use crate::{Handler, lobby::Lobby, serve::Serve};

/// How long the listener rests when the system has no more descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// Settings of a [`Server`]; every one has a default that is safe to use.
#[derive(Clone)]
pub struct ServerBuilder {
    config: Config,
    http1: h1::Config,
    speaks: Speaks,
    #[cfg(feature = "tls")]
    identity: Option<Identity>,
    #[cfg(feature = "tls")]
    tls_only: bool,
}

impl Default for ServerBuilder {
    fn default() -> Self {
        Self {
            config: Config { schedule: true, ..Config::default() },
            http1: h1::Config::default(),
            speaks: Speaks::default(),
            #[cfg(feature = "tls")]
            identity: None,
            #[cfg(feature = "tls")]
            tls_only: false,
        }
    }
}

impl ServerBuilder {
    /// Serves TLS with this identity beside clear text on the same port: a connection whose first octet is 0x16 is
    /// TLS (RFC 8446 §5.1).
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Whether a server with an [`identity`](Self::identity) also takes clear text; it does unless this is `false`.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn clear_text(mut self, is_taken: bool) -> Self {
        self.tls_only = !is_taken;
        self
    }

    /// Speaks HTTP/1.1 only.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.speaks = Speaks::HTTP1;
        self
    }

    /// Speaks HTTP/2 only.
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.speaks = Speaks::HTTP2;
        self
    }

    /// What clients of HTTP/1.1 are forgiven; nothing unless set. Each leniency that is named there has been used to smuggle
    /// requests past a proxy: never allow one on a server behind a proxy.
    #[must_use]
    pub fn http1_leniency(mut self, leniency: h1::Leniency) -> Self {
        self.http1.leniency = leniency;
        self
    }

    /// How field names are spelled in responses of HTTP/1.1: in their usual spelling (`Content-Type`) unless set, but for those
    /// that were given [spelled](alula_fields::FieldSection::append_spelled). They mean the same in any case (RFC 9110 §5.1).
    #[must_use]
    pub fn http1_spelling(mut self, spelling: h1::Spelling) -> Self {
        self.http1.spelling = spelling;
        self
    }

    /// Whether the fields of requests of HTTP/1.1 keep the spelling in which they came, beside the lower-case names by which they
    /// are found; costs the octets of the names. Off unless switched on.
    #[must_use]
    pub fn http1_keep_spelling(mut self, on: bool) -> Self {
        self.http1.keep_spelling = on;
        self
    }

    /// What a peer may make this server hold or do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Whether clients may ask for tunnels with extended CONNECT (RFC 8441), such as WebSockets; they may not unless it is
    /// switched on. The handler finds what is asked for with [`Request::protocol`](crate::Request::protocol), and answers
    /// with a status of 2xx that it [streams](crate::Reply::stream), after a [split](crate::Exchange::split): from then on
    /// body and writer are the two directions of the tunnel.
    #[must_use]
    pub fn extended_connect(mut self, on: bool) -> Self {
        self.config.connect_protocol = on;
        self
    }

    /// Listens; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let listener = Listener::bind(address).await?;
        let (stop, stopped) = watch::channel(false);
        let ledger = Arc::new(Ledger::new(&self.config.limits));
        let lobby = Lobby::new(self.config.limits.handshakes, ledger.clone());
        let accept = Accept {
            #[cfg(feature = "tls")]
            tls: self.identity.as_ref().map(|identity| identity.config(self.speaks)),
            #[cfg(feature = "tls")]
            clear_text: !self.tls_only,
            speaks: self.speaks,
            http1: self.http1,
            config: self.config,
            ledger,
        };
        Ok(Server { listener, accept: Arc::new(accept), lobby, stop: Arc::new(stop), stopped })
    }
}

/// A listening server. Nothing is accepted until [`Self::serve`] runs.
pub struct Server {
    listener: Listener,
    accept: Arc<Accept>,
    lobby: Arc<Lobby>,
    stop: Arc<watch::Sender<bool>>,
    stopped: watch::Receiver<bool>,
}

/// Stops a server; see [`Server::stop_handle`].
#[derive(Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// Accepts no more; every connection says so to its peer (GOAWAY) and ends when its requests are answered.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// A server to be given settings.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Listens with the default settings, clear text only.
    ///
    /// # Errors
    /// As [`ServerBuilder::bind`].
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::builder().bind(address).await
    }

    /// The address listened on.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Memory held and rules broken, over all connections of this server.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.accept.ledger.clone()
    }

    /// What stops this server.
    pub fn stop_handle(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Serves until stopped, then until the last connection has ended or `grace` has passed.
    ///
    /// Dropping the future ends the server and its connections at once.
    ///
    /// # Errors
    /// The listener broke.
    pub async fn serve_with_grace<H: Handler>(mut self, handler: H, grace: Duration) -> io::Result<()> {
        let handler = Arc::new(handler);
        let mut connections = JoinSet::new();
        loop {
            let socket = tokio::select! {
                biased;
                _ = self.stopped.wait_for(|stopped| *stopped) => break,
                accepted = self.listener.accept() => accepted,
            };
            match socket {
                Ok((socket, _)) => drop(connections.spawn(self.connection(socket, handler.clone()))),
                Err(error) if is_fatal(&error) => return Err(error),
                Err(_) => tokio::time::sleep(ACCEPT_BACKOFF).await,
            }
            while connections.try_join_next().is_some() {}
        }
        drop(self.listener);
        let all_ended = async { while connections.join_next().await.is_some() {} };
        // Connections that outlive the grace are aborted with the set that holds them.
        let _ = tokio::time::timeout(grace, all_ended).await;
        Ok(())
    }

    /// Serves until stopped, with 10 seconds of grace for the connections that are open then.
    ///
    /// # Errors
    /// As [`Self::serve_with_grace`].
    pub async fn serve<H: Handler>(self, handler: H) -> io::Result<()> {
        self.serve_with_grace(handler, Duration::from_secs(10)).await
    }

    fn connection<H: Handler>(
        &self,
        socket: Socket,
        handler: Arc<H>,
    ) -> impl Future<Output = ()> + Send + use<H> {
        let (accept, draining) = (self.accept.clone(), Draining::new(self.stopped.clone()));
        let mut guest = self.lobby.enter();
        async move {
            // A peer that does not get through the handshake has been told why, where that is possible.
            let opened = guest.unless_sent_away(accept.open(socket)).await;
            if let Some(Ok(conn)) = opened {
                Serve::new(conn, handler, draining, guest).await;
            }
        }
    }
}

/// Whether the listener itself is broken, not one connection on its way.
fn is_fatal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected)
}

/// Tells a connection's task that the server stops.
pub(crate) struct Draining {
    watch: watch::Receiver<bool>,
    stopped: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// The task will be woken: until the value changes there is nothing to ask for.
    is_registered: bool,
}

impl Draining {
    fn new(watch: watch::Receiver<bool>) -> Self {
        let mut stopped = watch.clone();
        let stopped = async move {
            // A server that was dropped has stopped as well.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        Self { watch, stopped: Some(Box::pin(stopped)), is_registered: false }
    }

    /// Ready once, when the server stops. To be polled by one task only.
    pub(crate) fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_registered && matches!(self.watch.has_changed(), Ok(false)) {
            return Poll::Pending;
        }
        let Some(stopped) = &mut self.stopped else { return Poll::Pending };
        self.is_registered = true;
        std::task::ready!(stopped.as_mut().poll(cx));
        self.stopped = None;
        Poll::Ready(())
    }
}
