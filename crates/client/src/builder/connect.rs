//! Settings for opening connections: addresses, proxies and time limits.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use alula_net::Error;

use super::ClientBuilder;
use crate::connecting::{
    Connector, DELAY, DELAY_MIN, DialTarget, LocalEnd, Proxies, Proxy, Resolve, Resolver,
};
#[cfg(feature = "tls")]
use crate::tls::trust::Trust;

/// The time of silence after which the system probes for the peer of a connection, as in Go.
const TCP_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The settings for opening connections.
#[derive(Clone)]
pub(crate) struct Connecting {
    /// The time limit for opening a connection as a whole.
    pub(crate) deadline: Duration,
    pub(crate) resolve_timeout: Option<Duration>,
    pub(crate) handshake_timeout: Option<Duration>,
    /// The delay between two connection attempts.
    pub(crate) attempt_delay: Duration,
    /// The time of silence after which the system probes for the peer.
    pub(crate) tcp_keep_alive: Option<Duration>,
    pub(crate) resolver: Resolver,
    pub(crate) target: DialTarget,
    pub(crate) local: LocalEnd,
    pub(crate) proxies: Proxies,
    #[cfg(feature = "tls")]
    pub(crate) trust: Trust,
    /// The server name in TLS, in place of the URL's host.
    #[cfg(feature = "tls")]
    pub(crate) server_name: Option<rustls::pki_types::ServerName<'static>>,
}

impl Default for Connecting {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(10),
            resolve_timeout: None,
            handshake_timeout: None,
            attempt_delay: DELAY,
            tcp_keep_alive: Some(TCP_KEEP_ALIVE),
            resolver: Resolver::default(),
            target: DialTarget::default(),
            local: LocalEnd::default(),
            proxies: Proxies::OfEnvironment(None),
            #[cfg(feature = "tls")]
            trust: Trust::default(),
            #[cfg(feature = "tls")]
            server_name: None,
        }
    }
}

impl Connecting {
    /// Resolves settings that are read once, when the client is built.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        match self.target {
            DialTarget::Url => self.proxies.settle(),
            _ => Ok(()),
        }
    }

    /// Returns true if connections to origins of this scheme may need TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn needs_tls(&self, scheme: &str) -> bool {
        scheme == "https" || self.proxies.are_secure()
    }
}

impl ClientBuilder {
    /// Sets the time that opening a connection may take, from looking up the host to the end of TLS; 10
    /// seconds unless set.
    ///
    /// An address that takes the connection, and then closes it, says something else or fails by itself in
    /// the handshake of TLS, is followed by the host's next one within that time. One that is silent there
    /// has an equal part of the time, and five seconds at most, before the next is tried beside it. A
    /// certificate that is not trusted, and a server that does not take this client, end it: another address
    /// would hide that. The same holds for the addresses of a proxy, until it has led to the server.
    #[must_use]
    pub fn connect_timeout(mut self, after: Duration) -> Self {
        self.settings.connect.deadline = after;
        self
    }

    /// Sets the time that looking up a host may take; the [whole limit](Self::connect_timeout) unless set.
    #[must_use]
    pub fn resolve_timeout(mut self, after: Duration) -> Self {
        self.settings.connect.resolve_timeout = Some(after);
        self
    }

    /// Sets the time that the TLS handshake may take with each address; the [whole
    /// limit](Self::connect_timeout) unless set.
    #[must_use]
    pub fn handshake_timeout(mut self, after: Duration) -> Self {
        self.settings.connect.handshake_timeout = Some(after);
        self
    }

    /// Sets the delay before a host's next address is tried beside the one before (RFC 8305 §5); 250
    /// milliseconds unless set, and at least 10. An address that fails is followed at once.
    #[must_use]
    pub fn attempt_delay(mut self, delay: Duration) -> Self {
        self.settings.connect.attempt_delay = delay.max(DELAY_MIN);
        self
    }

    /// Sets how long a connection is silent before the system sends TCP keep-alive probes, and the time
    /// between them; `None` sends none. Default 15 s. Whole seconds count, from 1 to 32,767. It holds for
    /// connections over TCP that the client dials itself, to proxies as well.
    #[doc(alias = "tcp_keepalive")]
    #[must_use]
    pub fn tcp_keep_alive(mut self, after: Option<Duration>) -> Self {
        self.settings.connect.tcp_keep_alive = after;
        self
    }

    /// Sets the resolver of hosts; [`SystemResolver`](crate::SystemResolver) unless set.
    #[doc(alias = "dns_resolver")]
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.settings.connect.resolver.ask(Arc::new(resolver));
        self
    }

    /// Connects to these addresses, with their ports, whenever this host and port are requested; no resolver
    /// is asked. TLS and `host` still name the host. A later call for the same host and port replaces an
    /// earlier one.
    ///
    /// ```
    /// use std::net::{Ipv4Addr, SocketAddr};
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    /// let client = alula::Client::builder().resolve("example.com", 80, [here]).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn resolve(mut self, host: &str, port: u16, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.settings.connect.resolver.know(host, port, addresses.into_iter().collect());
        self
    }

    /// Opens TCP connections, to proxies as well, from the first of these addresses that is free and of the
    /// right family; an unspecified address or port 0 leaves the choice to the system. If none can be used,
    /// the attempt fails.
    ///
    /// ```
    /// use std::net::{Ipv4Addr, SocketAddr};
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let ports = (40_000..40_100).map(|port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)));
    /// let client = alula::Client::builder().local_addresses(ports).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "local_address")]
    #[must_use]
    pub fn local_addresses(mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.settings.connect.local.addresses = addresses.into_iter().collect();
        self
    }

    /// Opens connections over TCP, to proxies as well, by this network interface (`SO_BINDTODEVICE`). If
    /// there is none of this name, the attempt fails.
    #[doc(alias = "bind_device")]
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn interface(mut self, name: impl Into<String>) -> Self {
        self.settings.connect.local.interface = Some(name.into());
        self
    }

    /// Opens all connections to this Unix socket, whatever the URL: no host is looked up and no proxy is
    /// used. Takes the place of a [connector](Self::connector).
    ///
    /// ```no_run
    /// # async fn version() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().unix_socket("/run/docker.sock").build()?;
    /// let response = client.get("http://localhost/version").send().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    #[must_use]
    pub fn unix_socket(mut self, path: impl AsRef<std::path::Path>) -> Self {
        self.settings.connect.target = DialTarget::Unix(path.as_ref().into());
        self
    }

    /// Opens all connections with this connector: no host is looked up and no proxy is used. Takes the place
    /// of a [Unix socket](Self::unix_socket).
    #[must_use]
    pub fn connector(mut self, connector: impl Connector + 'static) -> Self {
        self.settings.connect.target = DialTarget::Given(Arc::new(connector));
        self
    }
}

/// Proxies.
impl ClientBuilder {
    /// Sends requests through this proxy, in place of the proxies of the environment. The first one that is
    /// for the URL's scheme and does not except its host counts.
    ///
    /// Unless this or [`Self::no_proxy`] is called, the environment says which proxies there are when the
    /// client is built: `http_proxy` and `https_proxy` for URLs of these schemes, `all_proxy` for those that
    /// have none of their own, and `no_proxy` for what is [excepted](Proxy::except); or the same in upper
    /// case, but for `HTTP_PROXY` in a CGI program (where there is `REQUEST_METHOD`), since its client could
    /// set that.
    ///
    /// A Unix socket or a connector has no proxies.
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.settings.connect.proxies.add(proxy);
        self
    }

    /// Bypasses the proxies of the environment for these hosts, in place of its `no_proxy`: hosts, domains
    /// and networks, between commas or spaces, as in [`Proxy::except`]; `*` is all of them.
    ///
    /// Changes nothing about a proxy that was given by [`Self::proxy`], which has exceptions of its own.
    ///
    /// ```
    /// # fn main_() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().no_proxy_for("localhost, 10.0.0.0/8").build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn no_proxy_for(mut self, hosts: &str) -> Self {
        self.settings.connect.proxies.except(hosts);
        self
    }

    /// Uses no proxy, whatever the environment says; removes those that were given.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.settings.connect.proxies = Proxies::These(Vec::new());
        self
    }
}
