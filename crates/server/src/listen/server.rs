//! The listener: accepts connections, hands each to a task of its own, and stops gracefully.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use alula_machine::Limits;
use alula_net::{Accept, Ledger, Listener, Speaks, h1, h2::Config};
use tokio::{net::ToSocketAddrs, sync::watch, time::Instant};

#[cfg(feature = "tls")]
use crate::listen::identity::Identity;
use crate::{
    connection::{
        endpoint::{Endpoint, IntoService},
        slots::Tables,
        table::{AbortedAtEnd, Connections},
    },
    exchange::{forwarded::ClientAddressField, scheme::TrustedProxies},
    listen::{
        accepting::{Accepted, Accepting, Judge},
        connection_server::{ConnectionServer, Settings, served},
    },
    observe::{failure::RequestFailure, reporting::OnError},
};

/// The time of silence after which the system probes for the peer of a connection, as in Go.
const TCP_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The time for which waiting connections are accepted when the server stops.
const BACKLOG_AT_STOP: Duration = Duration::from_secs(1);

/// The default limit on gathered content of a request, as in axum.
const CONTENT_MAX: usize = 2 << 20;

/// Settings of a [`Server`], each with a safe default.
#[derive(Clone)]
pub struct ServerBuilder {
    pub(crate) config: Config,
    http1: h1::Config,
    speaks: Speaks,
    proxies: TrustedProxies,
    tcp_keep_alive: Option<Duration>,
    content_max: usize,
    on_accept: Option<Judge>,
    on_error: Option<OnError>,
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
            proxies: TrustedProxies::default(),
            tcp_keep_alive: Some(TCP_KEEP_ALIVE),
            content_max: CONTENT_MAX,
            on_accept: None,
            on_error: None,
            #[cfg(feature = "tls")]
            identity: None,
            #[cfg(feature = "tls")]
            tls_only: false,
        }
    }
}

impl ServerBuilder {
    /// Serves TLS with this identity beside clear text on the same port: a connection whose first byte is
    /// 0x16 is TLS (RFC 8446 §5.1).
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Sets whether a server with an [`identity`](Self::identity) also accepts clear text; true unless set.
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

    /// Forgives clients of HTTP/1.1 these mistakes; none unless set. Each leniency that is named there has
    /// been used to smuggle requests past a proxy: never allow one on a server behind a proxy.
    #[must_use]
    pub fn http1_leniency(mut self, leniency: h1::Leniency) -> Self {
        self.http1.leniency = leniency;
        self
    }

    /// Accepts the end of an HTTP/1.1 tunnel (CONNECT) even if TLS ends without close_notify (RFC 9112 §9.8).
    /// Off unless switched on: such an end is an error then, after every byte that came, since anyone on the
    /// path can cause it.
    #[must_use]
    pub fn accept_truncated_tls(mut self, on: bool) -> Self {
        self.http1.accept_truncated_tls = on;
        self
    }

    /// Sets whether a client of HTTP/1.1 that has closed its side still gets its answer (RFC 9112 §9.6). Off
    /// unless switched on: a client that closes its side has left then, as browsers and nearly all other
    /// clients have. Its handler is dropped, before the head of the answer and after it, unless its route is
    /// [detached](crate::Route::detached), and the connection ends; a request that it had sent after that is
    /// not looked at. An answer that is complete in the turn in which its request came still leaves, so that
    /// `printf … | nc -N` has one from a handler that waits for nothing.
    ///
    /// Switched on, a handler is not told that its client has left until what it writes is refused: one that
    /// writes nothing goes on, and holds its connection, for as long as it likes.
    ///
    /// A tunnel (CONNECT) ends in each direction by itself in either case. A connection of HTTP/2 ends when
    /// its client closes its side.
    #[doc(alias("half_close", "allowHalfOpen"))]
    #[must_use]
    pub fn http1_half_close(mut self, on: bool) -> Self {
        self.http1.half_close = on;
        self
    }

    /// Sets the spelling of field names in HTTP/1.1 responses: the usual one (`Content-Type`) unless set,
    /// except for names given with [`Reply::header_spelled`](crate::Reply::header_spelled). They mean the
    /// same in any case (RFC 9110 §5.1).
    #[must_use]
    pub fn http1_spelling(mut self, spelling: h1::Spelling) -> Self {
        self.http1.spelling = spelling;
        self
    }

    /// Sets whether fields of HTTP/1.1 requests keep their received spelling, beside the lower-case names for
    /// lookups; costs the bytes of the names. Off unless switched on.
    #[must_use]
    pub fn http1_keep_spelling(mut self, on: bool) -> Self {
        self.http1.keep_spelling = on;
        self
    }

    /// Sets the limits of the memory and work that a peer may cause.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Sets the bytes of a request's content that [`Body::bytes`](crate::Body::bytes),
    /// [`text`](crate::Body::text) and `json` gather; longer content is an error, before any of it is read if
    /// its length is stated. Default 2 MiB.
    ///
    /// More than 4 GiB count as 4 GiB. It is the default of each [`Body`](crate::Body), which
    /// [`set_content_max`](crate::Body::set_content_max) changes; `bytes_max`, `text_max` and `json_max` take
    /// a limit of their own. Content that is read piece by piece is not bounded, unless its route decodes it:
    /// what is not read stays with the client.
    #[must_use]
    pub fn content_max(mut self, bytes: usize) -> Self {
        self.content_max = bytes;
        self
    }

    /// Sets whether clients may open tunnels with extended CONNECT (RFC 8441), such as WebSockets; false
    /// unless set. The handler finds what is asked for with [`Request::protocol`](crate::Request::protocol),
    /// and answers with a status of 2xx that it [streams](crate::Reply::stream), after a
    /// [split](crate::Exchange::split): from then on body and writer are the two directions of the tunnel.
    #[must_use]
    pub fn extended_connect(mut self, on: bool) -> Self {
        self.config.connect_protocol = on;
        self
    }

    /// Trusts `x-forwarded-proto` and `x-forwarded-host` in requests from peers for which `trusts` returns
    /// true: [`Request::scheme`](crate::Request::scheme) is then the scheme of the client's connection, and
    /// [`Request::client_authority`](crate::Request::client_authority) the authority that the client asked
    /// for. No peer is believed unless this is set.
    ///
    /// `trusts` is called once for each connection, with the address of its peer; IPv4 addresses come as
    /// such, never mapped into IPv6. Name only proxies that overwrite these fields, as nginx does with
    /// `proxy_set_header X-Forwarded-Proto $scheme`: one that passes on what it gets lets any client choose.
    /// A value that is not exactly one `https` or `http`, or one authority, is ignored.
    ///
    /// ```
    /// use alula::Server;
    ///
    /// let builder = Server::builder().trusted_proxies(|address| address.is_loopback());
    /// ```
    #[must_use]
    pub fn trusted_proxies(mut self, trusts: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        self.proxies.judge_by(trusts);
        self
    }

    /// Reads the address of the client from this field in requests from [trusted
    /// proxies](Self::trusted_proxies): [`Exchange::client_address`](crate::Exchange::client_address), access
    /// logs and limits by peer have it then. No field is believed unless this is set.
    ///
    /// Addresses are read from the right as long as each is one of a trusted proxy; the first that is not is
    /// the client's. Each proxy must append to this very field: name `x-forwarded-for` where a proxy only
    /// passes on what it gets, and any client chooses its address. `trusted_proxies` is then called for the
    /// addresses in it as well. Allocates nothing per request.
    ///
    /// ```
    /// use alula::{ClientAddressField, Server};
    ///
    /// let builder = Server::builder()
    ///     .trusted_proxies(|address| address.is_loopback())
    ///     .client_address_from(ClientAddressField::XForwardedFor);
    /// ```
    #[must_use]
    pub fn client_address_from(mut self, field: ClientAddressField) -> Self {
        self.proxies.name_clients_in(field);
        self
    }

    /// Asks `takes` about each connection by its peer's address before anything is read; a refused one is
    /// closed at once and counted as `PEER_REFUSED`. All are taken unless this is set.
    ///
    /// It runs in the listener's task, so it must not block.
    #[must_use]
    pub fn on_accept(mut self, takes: impl Fn(SocketAddr) -> bool + Send + Sync + 'static) -> Self {
        self.on_accept = Some(Arc::new(takes));
        self
    }

    /// Calls `hear` for each request whose handler fails: ends with an error, panics, or answers with an
    /// invalid head. Its peer gets 500 if the answer was not begun, else its stream is reset; nothing of the
    /// failure is told to it.
    ///
    /// A peer may be the cause as well, such as one that is too slow; [`RequestFailure::fault`] tells.
    /// Handlers whose peer goes away are dropped and are no failures. Failures are told to `tracing` too, by
    /// the feature of that name; a debug build in which neither listens writes those that are its own fault
    /// to the standard error stream.
    ///
    /// It hears as well of requests that were refused because the peer broke a rule or went over a limit
    /// ([`FailureCause::Refused`](crate::FailureCause::Refused)), and of those that cannot be accepted
    /// ([`FailureCause::Accept`](crate::FailureCause::Accept)), both at a bounded rate.
    ///
    /// It runs in the task of the connection, so it must not block. Without it, a release build without
    /// `tracing` notes nothing of a request; with it, method and path are copied into memory that is used
    /// again.
    ///
    /// ```no_run
    /// # async fn main_() -> std::io::Result<()> {
    /// use alula::{Error, Exchange, Server, Status};
    ///
    /// let server = Server::builder()
    ///     // Such as: GET /report from 127.0.0.1:52130 over HTTP/1.1: the disk is full
    ///     .on_error(|failure| eprintln!("{failure}"))
    ///     .bind("127.0.0.1:8080")
    ///     .await?;
    /// server.serve(async |exchange: Exchange| {
    ///     let report = std::fs::read("report.txt").map_err(Error::other)?;
    ///     exchange.respond(Status::OK).send(&report).await
    /// })
    /// .await
    /// # }
    /// ```
    #[must_use]
    pub fn on_error(mut self, hear: impl Fn(&RequestFailure<'_>) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(hear));
        self
    }

    /// Sets how long a connection is silent before the system sends TCP keep-alive probes, and the time
    /// between them; `None` sends none. Default 15 s. Whole seconds count, from 1 to 32,767. A peer that is
    /// gone without a word is found so, even if no data is sent to it.
    #[must_use]
    pub fn tcp_keep_alive(mut self, after: Option<Duration>) -> Self {
        self.tcp_keep_alive = after;
        self
    }

    /// Sends a PING on a connection of HTTP/2 after this long without a frame from the client while streams
    /// are open, and ends the connection if it is not answered within `answer_within`. Off unless set.
    #[must_use]
    pub fn keep_alive(mut self, after: Duration, answer_within: Duration) -> Self {
        self.config.keep_alive = Some(after);
        self.config.ping_timeout = answer_within;
        self
    }

    /// Starts to listen; port 0 chooses a free one.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let listener = Listener::bind(address).await?;
        if let Some(after) = self.tcp_keep_alive {
            listener.set_tcp_keep_alive(after)?;
        }
        let (stop, stopped) = watch::channel(false);
        let (judge, on_error) = (self.on_accept.clone(), self.on_error.clone());
        let (settings, connections) = self.shared();
        let ledger = settings.accept.ledger.clone();
        let accepting = Accepting::new(listener, connections.clone(), judge, ledger, on_error);
        let aborted = connections.aborted_at_end();
        Ok(Server { accepting, settings, connections, stop: Arc::new(stop), stopped, _aborted: aborted })
    }

    /// Builds a server without a listener, for connections that the program provides: over a tunnel, a pipe
    /// in memory, or a socket that it has accepted. The settings of listeners
    /// ([`on_accept`](Self::on_accept), [`tcp_keep_alive`](Self::tcp_keep_alive)) have no effect. Allocates.
    #[must_use]
    pub fn build(self, service: impl IntoService) -> ConnectionServer {
        let (settings, connections) = self.shared();
        ConnectionServer { settings, connections, endpoint: service.into_service().0 }
    }

    /// Returns the settings and counts that all connections of the server share.
    fn shared(self) -> (Arc<Settings>, Arc<Connections>) {
        let ledger = Arc::new(Ledger::new(&self.config.limits));
        let connections = Connections::new(&self.config.limits, ledger.clone());
        let accept = Accept {
            #[cfg(feature = "tls")]
            tls: self.identity.as_ref().map(|identity| identity.config(self.speaks)),
            #[cfg(feature = "tls")]
            clear_text: !self.tls_only,
            speaks: self.speaks,
            http1: Accept::http1_of(self.http1, &self.config.limits),
            config: Arc::new(self.config),
            ledger,
            content_max: self.content_max,
        };
        let tables = Tables::new();
        let settings = Settings { accept, proxies: self.proxies, on_error: self.on_error, tables };
        (Arc::new(settings), connections)
    }
}

/// A listening server. Nothing is accepted until [`Self::serve`] runs.
pub struct Server {
    accepting: Accepting,
    settings: Arc<Settings>,
    connections: Arc<Connections>,
    /// The sender that tells connections of a stop.
    stop: Arc<watch::Sender<bool>>,
    stopped: watch::Receiver<bool>,
    /// The guard that aborts connections after the grace period, or after the server.
    _aborted: AbortedAtEnd,
}

/// Stops a server; see [`Server::stop_handle`].
#[derive(Clone)]
pub struct Stop {
    stop: Arc<watch::Sender<bool>>,
    connections: Arc<Connections>,
}

impl Stop {
    /// Stops the server. Connections that wait in the backlog are still taken, for at most one second, then
    /// no more; every connection says so to its peer (GOAWAY) and ends when its requests are answered. The
    /// first request of a connection that was taken less than a second ago is still served if it begins
    /// within that second.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Returns the number of requests that are still being answered after the server was told to stop; 0
    /// before. Looks at every connection, under the lock of their table.
    pub fn requests_left(&self) -> usize {
        self.connections.requests_left()
    }
}

impl Server {
    /// Returns a builder of a server, with the default settings.
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

    /// Returns the address that the server listens on.
    #[doc(alias = "local_addr")]
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.accepting.address()
    }

    /// Returns the ledger of this server: memory held and rules broken, over all of its connections.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.settings.accept.ledger.clone()
    }

    /// Returns the handle that stops this server, for example when the process is told to end.
    ///
    /// ```no_run
    /// # async fn example(routes: alula::Routes, ctrl_c: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    /// let server = alula::Server::bind("127.0.0.1:8080").await?;
    /// let stop = server.stop_handle();
    /// tokio::spawn(async move {
    ///     ctrl_c.await; // tokio::signal::ctrl_c()
    ///     stop.stop();
    /// });
    /// server.serve(routes).await // until it was stopped, and its connections have ended
    /// # }
    /// ```
    #[doc(alias("graceful_shutdown", "ctrl_c", "shutdown"))]
    pub fn stop_handle(&self) -> Stop {
        Stop { stop: self.stop.clone(), connections: self.connections.clone() }
    }

    /// Serves `service` until `ready` completes, returns its result, and keeps its address. For a program
    /// that needs time before it can answer, such as to read its data, and is asked by probes meanwhile.
    /// `None` if the server was [stopped](Self::stop_handle) before; [`serve`](Self::serve) ends it then.
    ///
    /// Connections that were taken meanwhile belong to `service`: they finish what has begun and end, over
    /// HTTP/2 with GOAWAY. One that has sent no request is waited for, until a second after it began. Those
    /// that come later belong to what is served next.
    ///
    /// `ready` is polled in the task of the listener, so it must not block. Dropping the future drops it, and
    /// loses no connection that was not taken yet; those that were stay until the server is dropped.
    ///
    /// # Errors
    /// The listener broke.
    ///
    /// ```no_run
    /// # async fn example(routes: alula::Routes, open: fn()) -> std::io::Result<()> {
    /// use alula::{Answer, Exchange, Server, Status};
    ///
    /// let mut server = Server::bind("127.0.0.1:8080").await?;
    /// let starting = async |_: Exchange| -> Result<alula::Sent, Answer> {
    ///     Err(Answer::new(Status::SERVICE_UNAVAILABLE).header("retry-after", "1").content("starting\n"))
    /// };
    /// if let Some(opened) = server.serve_until(starting, tokio::task::spawn_blocking(open)).await? {
    ///     opened?;
    /// }
    /// server.serve(routes).await
    /// # }
    /// ```
    pub async fn serve_until<T>(
        &mut self,
        service: impl IntoService,
        ready: impl Future<Output = T>,
    ) -> io::Result<Option<T>> {
        let Self { accepting, settings, connections, stopped, .. } = self;
        let (endpoint, settings) = (service.into_service().0, settings.anew());
        let taken = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => None,
            ready = ready => Some(ready),
            broken = take_all(accepting, &settings, connections, &endpoint) => return Err(broken),
        };
        connections.stop_present();
        Ok(taken)
    }

    /// Serves until stopped, then until the last connection has ended or `grace` has passed.
    ///
    /// Dropping the future ends the server and its connections at once.
    ///
    /// # Errors
    /// The listener broke.
    #[doc(alias = "with_graceful_shutdown")]
    pub async fn serve_with_grace(self, service: impl IntoService, grace: Duration) -> io::Result<()> {
        // `_stop` lives on: with the last sender gone, `stopped` would read as a stop.
        let Self { mut accepting, settings, connections, stop: _stop, mut stopped, _aborted } = self;
        let endpoint = service.into_service().0;
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => {}
            broken = take_all(&mut accepting, &settings, &connections, &endpoint) => return Err(broken),
        }
        connections.stop();
        // The system has completed the handshakes of these peers, who may have sent requests: they are
        // served.
        let ends_at = Instant::now() + BACKLOG_AT_STOP;
        while let Some(accepted) = accepting.next_in_backlog(ends_at).await {
            spawn_served(&settings, &connections, &endpoint, accepted);
        }
        // The port is free for the next process from here on.
        drop(accepting);
        let _ = tokio::time::timeout(grace, connections.all_left()).await;
        Ok(())
    }

    /// Serves until stopped, with 10 seconds of grace for the connections that are open then.
    ///
    /// # Errors
    /// As [`Self::serve_with_grace`].
    pub async fn serve(self, service: impl IntoService) -> io::Result<()> {
        self.serve_with_grace(service, Duration::from_secs(10)).await
    }
}

/// Serves each new connection in a task, until the listener fails.
async fn take_all(
    accepting: &mut Accepting,
    settings: &Arc<Settings>,
    connections: &Arc<Connections>,
    endpoint: &Arc<dyn Endpoint>,
) -> io::Error {
    loop {
        match accepting.next().await {
            Ok(accepted) => spawn_served(settings, connections, endpoint, accepted),
            Err(error) => return error,
        }
    }
}

fn spawn_served(
    settings: &Arc<Settings>,
    connections: &Arc<Connections>,
    endpoint: &Arc<dyn Endpoint>,
    (socket, peer): Accepted,
) {
    let registration = connections.enter(peer);
    let task = registration.task();
    let connection = served(settings.clone(), endpoint.clone(), (socket, peer), registration);
    task.begins(tokio::spawn(connection).abort_handle());
}
