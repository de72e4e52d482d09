//! The opening of connections: looks up and tries the origin's addresses, asks a proxy for a tunnel, or
//! uses the connector that the user gave. The steps after that (TLS, the machine, the standby task) belong
//! to `net`.

mod attempts;
mod connector;
mod elsewhere;
mod known_limits;
mod local;
pub(crate) mod progress;
mod proxied;
mod proxy;
mod resolve;
mod target;
mod through;

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use alula_net::{
    Attempt, Cause, Conn, Connect, Error, Ledger, Phase, Retry, Socket, Speaks, set_tcp_keep_alive,
    set_tcp_user_timeout,
};
use tokio::{net::TcpStream, time::Instant};
use url::Url;

#[cfg(feature = "fuzzing")]
pub(crate) use self::proxy::{Credentials, Target, ask_for_tunnel, ask_socks};
#[cfg(feature = "blocking")]
pub(crate) use self::resolve::without_kind;
pub(crate) use self::{
    attempts::{DELAY, DELAY_MIN},
    local::LocalEnd,
    proxy::Proxies,
    resolve::Resolver,
    target::DialTarget,
};
pub use self::{
    connector::{Connector, Destination, Dialling},
    proxy::Proxy,
    resolve::{Resolve, Resolving, SystemResolver},
};
use self::{
    elsewhere::{Reached, Setback},
    known_limits::KnownLimits,
    progress::Progress,
    through::Through,
};
#[cfg(feature = "tls")]
use crate::tls::trust::server_name;
use crate::{
    builder::{Connecting, Settings},
    observe::{connections, event::ExchangeEvent},
    url::{location::Location, zone::Zone},
};

/// A deadline that nobody set is that far away.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The mistake of a request with a zone that is to go through a proxy.
const ZONE_AND_PROXY: &str = "the zone of an IPv6 address has a meaning on this machine alone, and the request \
    is to go through a proxy: leave the zone out, or have the address reached without the proxy (RFC 6874 §1)";

/// The settings of TLS.
#[cfg(feature = "tls")]
pub(crate) type Tls = Arc<rustls::ClientConfig>;
#[cfg(not(feature = "tls"))]
pub(crate) type Tls = ();

/// The settings of a client, which the routes to all of its origins share.
pub(crate) struct RouteSettings {
    pub(crate) client: Settings,
    /// The settings for a transport that is open, but for what differs from route to route.
    then: Connect,
}

impl RouteSettings {
    pub(crate) fn new(client: Settings, ledger: Arc<Ledger>) -> Self {
        let protocol = &client.protocol;
        let then = Connect {
            content_max: protocol.content_max,
            observer: protocol.observer.clone(),
            ..Connect::new(protocol.speaks, protocol.http1.clone(), protocol.config.clone(), ledger)
        };
        Self { then: connections::watch(then), client }
    }
}

/// The way in which connections to one origin are opened.
pub(crate) struct Route {
    to: Destination,
    /// The name of the origin in failures.
    origin: Arc<str>,
    settings: Arc<RouteSettings>,
    through: Option<Through>,
    /// Present for an `https` origin and for a proxy that is reached over TLS.
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
    speaks: Speaks,
    /// The origin has asked for HTTP/1.1 (HTTP_1_1_REQUIRED): no connection speaks anything else from then
    /// on.
    needs_http1: AtomicBool,
    /// The limits that the origin has stated last.
    limits: KnownLimits,
}

impl Route {
    #[cfg_attr(not(feature = "tls"), expect(unused_variables, reason = "there is nothing but clear text"))]
    pub(crate) fn new(
        location: &Location,
        origin: Arc<str>,
        settings: Arc<RouteSettings>,
        tls: Option<Tls>,
    ) -> Self {
        let Settings { protocol, connect: by, .. } = &settings.client;
        let Location { scheme, host, port, zone, .. } = location;
        let to = Destination { scheme, host: host.clone(), port: *port, zone: zone.clone() };
        let in_clear = if protocol.prior_knowledge { Speaks::HTTP2 } else { Speaks::HTTP1 };
        let speaks = if to.is_secure() { protocol.speaks } else { in_clear };
        let through = match by.target {
            DialTarget::Url => {
                by.proxies.to(&to).map(|proxy| Through::new(proxy, &to, speaks, &settings.then.http1))
            }
            _ => None,
        };
        let limits = KnownLimits::expecting(settings.then.streams_expected);
        Self {
            to,
            origin,
            through,
            #[cfg(feature = "tls")]
            tls,
            speaks,
            needs_http1: AtomicBool::new(false),
            limits,
            settings,
        }
    }

    /// Returns the settings of its client.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings.client
    }

    fn by(&self) -> &Connecting {
        &self.settings.client.connect
    }

    /// Returns the zone of its address if that is the host of the URL.
    pub(crate) fn zone_for(&self, url: &Url) -> Option<&Zone> {
        let is_host =
            |_: &&Zone| url.host_str().is_some_and(|host| host.trim_matches(['[', ']']) == self.to.host);
        self.to.zone.as_ref().filter(is_host)
    }

    /// Returns the versions that its connections may speak.
    pub(crate) fn speaks(&self) -> Speaks {
        if self.needs_http1.load(Relaxed) { Speaks::HTTP1 } else { self.speaks }
    }

    /// Speaks HTTP/1.1 alone from now on. Returns false if that is not spoken.
    pub(crate) fn require_http1(&self) -> bool {
        if self.speaks.http1 {
            self.needs_http1.store(true, Relaxed);
        }
        self.speaks.http1
    }

    /// Returns true if connections lead to a proxy.
    pub(crate) fn is_proxied(&self) -> bool {
        self.through.is_some()
    }

    /// Returns true if requests are sent to a proxy, which sends them on.
    pub(crate) fn asks_proxy(&self) -> bool {
        self.through.as_ref().is_some_and(Through::takes_requests)
    }

    /// Opens a connection, whose steps are noted in `progress`, and spawns its standby task on the current
    /// runtime.
    ///
    /// # Errors
    /// There is no way to the origin, TLS failed, the peer chose no version that is spoken, or it took too
    /// long; the phase says what was being done.
    pub(crate) async fn open(&self, progress: &Progress) -> Result<Arc<Conn>, Error> {
        let given = Some(self.by().deadline);
        let task = OpenTask { ends_at: later(Instant::now(), given), progress };
        self.open_by(task).await.map_err(|error| match error.cause() {
            Cause::Timeout => error.in_spite_of(given),
            _ => error,
        })
    }

    async fn open_by(&self, task: OpenTask<'_>) -> Result<Arc<Conn>, Error> {
        let then = self.then()?;
        let conn = match &self.through {
            // The proxy would have to know the interfaces of this machine.
            Some(_) if self.to.zone.is_some() => return Err(Error::usage(ZONE_AND_PROXY)),
            Some(through) => self.led(through, &then, task).await?,
            None => self.direct(&then, task).await?,
        };
        conn.leads_to(self.origin.clone());
        Ok(conn)
    }

    /// Begins to speak over a transport: TLS where that is asked for, then HTTP.
    async fn begin(&self, then: &Connect, socket: Socket, task: OpenTask<'_>) -> Result<Arc<Conn>, Error> {
        let phase = self.through.as_ref().map_or(Phase::Handshake, Through::phase_of_handshake);
        let opened = task.in_time(phase, self.by().handshake_timeout, then.over(socket)).await;
        opened.map_err(|error| error.during(phase))
    }

    /// Keeps in mind what the peer of these connections has told of itself, for those that are opened after
    /// them.
    pub(crate) fn learn_of(&self, conns: &[Arc<Conn>]) {
        // One is enough: they have the same peer.
        let _ = conns.iter().find(|conn| self.limits.learn(conn));
        if conns.iter().any(|conn| conn.asks_for_http1()) {
            self.require_http1();
        }
    }

    /// Opens a connection to the origin itself.
    async fn direct(&self, then: &Connect, task: OpenTask<'_>) -> Result<Arc<Conn>, Error> {
        let given = task.in_time(Phase::Connect, None, self.given()).await?;
        if let Some(socket) = given {
            return self.begin(then, socket, task).await;
        }
        let (host, port) = (&self.to.host, self.to.port);
        let addresses = self.looked_up((host, self.to.zone.as_ref()), port, task).await?;
        let dial = |addresses| task.in_time(Phase::Connect, None, self.dialled(addresses, task));
        let begin = |_, stream: TcpStream| self.begin(then, stream.into(), task);
        self.used(addresses, task, dial, begin).await
    }

    /// Makes use of a connection to one of these addresses, and tells observers of those that break off.
    async fn used<S, T, C, U>(
        &self,
        addresses: Vec<SocketAddr>,
        task: OpenTask<'_>,
        connect: impl Fn(Vec<SocketAddr>) -> C,
        make_use: impl Fn(SocketAddr, S) -> U,
    ) -> Result<T, Error>
    where
        C: Future<Output = Result<Reached<S>, Error>>,
        U: Future<Output = Result<T, Error>>,
    {
        let are_several = addresses.len() > 1;
        let make_use = |address, stream| {
            let using = make_use(address, stream);
            async move {
                let setback = match using.await {
                    Ok(used) => return Ok(used),
                    Err(error) => Setback::of(error),
                };
                if let (Setback::Elsewhere(error), true) = (&setback, are_several) {
                    let told = io::Error::new(elsewhere::kind_of(error), error.to_string());
                    task.tell(&ExchangeEvent::NotConnected(address, &told));
                }
                Err(setback)
            }
        };
        elsewhere::use_first(addresses, task.ends_at, connect, make_use).await
    }

    /// Returns the transport that the user gives, or the simulation; none if the host is to be dialled.
    async fn given(&self) -> Result<Option<Socket>, Error> {
        let connected = match &self.by().target {
            DialTarget::Url => match Socket::simulated(&self.to.host, self.to.port).await {
                Some(simulated) => simulated,
                None => return Ok(None),
            },
            #[cfg(unix)]
            DialTarget::Unix(path) => {
                let connected = tokio::net::UnixStream::connect(path).await.map(Socket::from);
                return connected
                    .map(Some)
                    .map_err(|error| Error::io(Phase::Connect, error).about(path.to_string_lossy()));
            }
            DialTarget::Given(connector) => connector.connect(&self.to).await.map(Socket::from),
        };
        connected.map(Some).map_err(|error| Error::io(Phase::Connect, error))
    }

    /// Looks a host up, finds the interface of its zone, and tells observers of its addresses.
    async fn looked_up(
        &self,
        (host, zone): (&str, Option<&Zone>),
        port: u16,
        task: OpenTask<'_>,
    ) -> Result<Vec<SocketAddr>, Error> {
        let mut addresses = self.addresses(host, port, task).await?;
        if let Some(zone) = zone {
            let chosen = zone.choose_interface(host, &mut addresses);
            chosen.map_err(|error| Error::io(Phase::Resolve, error).about(host))?;
        }
        task.tell(&ExchangeEvent::Resolved(host, &addresses));
        Ok(addresses)
    }

    /// Connects to the first of these addresses that answers.
    async fn dialled(
        &self,
        addresses: Vec<SocketAddr>,
        task: OpenTask<'_>,
    ) -> Result<Reached<TcpStream>, Error> {
        let failed = Mutex::new(Vec::new());
        let dial = |address: SocketAddr| {
            let failed = &failed;
            async move {
                task.tell(&ExchangeEvent::Connecting(address));
                let connected = self.by().local.connect(address).await;
                let connected = connected.inspect_err(|error| {
                    task.tell(&ExchangeEvent::NotConnected(address, error));
                    let attempt = Attempt { address, failure: error.kind() };
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
                });
                Ok((address, connected?))
            }
        };
        let connected = attempts::connect_first(addresses, self.by().attempt_delay, task.ends_at, dial).await;
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (address, stream) = connected.inspect_err(|error| {
            let has_failed = |address| failed.iter().any(|failed| failed.address == address);
            // The others were given up when the time was over.
            for late in error.tried().iter().filter(|tried| !has_failed(tried.address)) {
                task.tell(&ExchangeEvent::NotConnected(late.address, &io::ErrorKind::TimedOut.into()));
            }
        })?;
        self.probe(&stream).map_err(|error| Error::io(Phase::Connect, error))?;
        Ok(Reached { address, stream, failed })
    }

    /// Has the system look after the other end, as far as that is wanted.
    fn probe(&self, stream: &TcpStream) -> io::Result<()> {
        if let Some(after) = self.by().tcp_keep_alive {
            set_tcp_keep_alive(stream, after)?;
        }
        let config = &self.settings().protocol.config;
        match config.keep_alive {
            // The system would otherwise resend for a quarter of an hour before it reports a dead peer.
            Some(after) => set_tcp_user_timeout(stream, after.saturating_add(config.ping_timeout)),
            None => Ok(()),
        }
    }

    async fn addresses(&self, host: &str, port: u16, task: OpenTask<'_>) -> Result<Vec<SocketAddr>, Error> {
        let look_up = async {
            let found = self.by().resolver.addresses(host, port).await;
            found.map_err(|error| Error::io(Phase::Resolve, error).about(host))
        };
        task.in_time(Phase::Resolve, self.by().resolve_timeout, look_up).await
    }

    /// Returns the settings of the connection, with the limits that the origin announced on earlier ones.
    fn informed(&self) -> Connect {
        let mut then = self.settings.then.clone();
        then.speaks = self.speaks();
        self.limits.inform(&mut then);
        if let Some(http1) = self.through.as_ref().and_then(Through::settings_of_requests) {
            then.http1 = http1.clone();
        }
        then
    }

    #[cfg(not(feature = "tls"))]
    fn then(&self) -> Result<Connect, Error> {
        Ok(self.informed())
    }

    /// Returns the settings of the connection with the TLS configuration and server name.
    #[cfg(feature = "tls")]
    fn then(&self) -> Result<Connect, Error> {
        let mut then = self.informed();
        then.tls = match (&self.tls, &self.through) {
            (Some(config), _) if self.to.is_secure() => {
                let name = self.by().server_name.clone().map_or_else(|| server_name(&self.to.host), Ok);
                Some((self.offering(config), name?))
            }
            (Some(config), Some(through)) => through.tls_of_requests(config)?,
            _ => None,
        };
        Ok(then)
    }
}

#[cfg(feature = "tls")]
impl Route {
    /// Returns the settings of TLS with an offer of the versions that are spoken (RFC 7301): those of the
    /// client but where the origin has asked for HTTP/1.1.
    fn offering(&self, config: &Tls) -> Tls {
        if !self.needs_http1.load(Relaxed) {
            return config.clone();
        }
        let mut config = rustls::ClientConfig::clone(config);
        config.alpn_protocols = Speaks::HTTP1.alpn();
        Arc::new(config)
    }
}

/// The opening of one connection.
#[derive(Clone, Copy)]
struct OpenTask<'o> {
    /// The time at which it has to have ended.
    ends_at: Instant,
    progress: &'o Progress,
}

impl OpenTask<'_> {
    /// Does this work by the end of its phase, which has so much time, or of them all.
    async fn in_time<T>(
        self,
        phase: Phase,
        within: Option<Duration>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let all = self.ends_at;
        let ends_at = all.min(later(Instant::now(), within));
        match tokio::time::timeout_at(ends_at, self.progress.during(phase, work)).await {
            Ok(result) => result,
            // The limit on the whole is added by the caller, who knows it.
            Err(_) => {
                let within = within.filter(|_| ends_at < all);
                Err(Error::new(phase, Cause::Timeout, Retry::Safe).in_spite_of(within))
            }
        }
    }

    /// Tells the observer of the call that the connection is opened for.
    fn tell(self, event: &ExchangeEvent<'_>) {
        self.progress.tell(event);
    }
}

fn later(now: Instant, after: Option<Duration>) -> Instant {
    after.and_then(|after| now.checked_add(after)).unwrap_or(now + NEVER)
}
