//! The way to an origin through a proxy: requests are sent to it, or it leads to the origin.

#[cfg(feature = "tls")]
use std::io;
use std::{
    io::Cursor,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use alula_fields::Status;
use alula_net::{Cause, Conn, Connect, Error, Phase, Socket, Transport};
#[cfg(feature = "tls")]
use alula_net::{PromptTcp, Retry};
use tokio::{
    io::{AsyncReadExt as _, join, split},
    net::TcpStream,
};
#[cfg(feature = "tls")]
use tokio_rustls::{TlsConnector, client::TlsStream, rustls};

use super::{
    OpenTask, Route,
    elsewhere::{Reached, Setback, use_first},
    proxy::{Kind, Server, Target, ask_for_tunnel, ask_socks},
    through::Through,
};
#[cfg(feature = "tls")]
use super::{proxy::broken, through::for_proxy};
use crate::observe::event::ExchangeEvent;
#[cfg(feature = "tls")]
use crate::tls::trust::server_name;

impl Route {
    /// Opens a connection to the origin by way of the proxy, or to the proxy that takes its requests.
    pub(super) async fn led(
        &self,
        through: &Through,
        then: &Connect,
        task: OpenTask<'_>,
    ) -> Result<Arc<Conn>, Error> {
        let proxy = through.server();
        match proxy.kind {
            Kind::Http { .. } if through.takes_requests() => {
                self.by_proxy(proxy, task, |stream| self.begin(then, stream.into(), task)).await
            }
            Kind::Http { is_secure } => {
                let tunnel = |stream| self.by_tunnel(stream, proxy, is_secure, task);
                let socket = self.by_proxy(proxy, task, tunnel).await?;
                self.begin(then, socket, task).await
            }
            Kind::Socks { looks_up: true } => {
                let (host, port) = (&*self.to.host, self.to.port);
                // An address needs no lookup by the proxy, and some proxies refuse one written as a name.
                let target = match host.parse::<IpAddr>() {
                    Ok(address) => Target::Address((address, port).into()),
                    Err(_) => Target::Name(host, port),
                };
                let socket = self.led_by_socks(proxy, target, task).await?;
                self.begin(then, socket, task).await
            }
            Kind::Socks { looks_up: false } => self.led_to_address(proxy, then, task).await,
        }
    }

    /// Connects to the proxy itself, and makes use of the first of its addresses with which that goes well.
    async fn by_proxy<T, U>(
        &self,
        proxy: &Server,
        task: OpenTask<'_>,
        make_use: impl Fn(TcpStream) -> U,
    ) -> Result<T, Error>
    where
        U: Future<Output = Result<T, Error>>,
    {
        let named = |error: Error| error.during(Phase::Proxy).about(format!("{}:{}", proxy.host, proxy.port));
        let addresses =
            self.looked_up((&proxy.host, proxy.zone.as_ref()), proxy.port, task).await.map_err(named)?;
        let dial = |addresses| {
            task.in_time(Phase::Proxy, None, async move {
                let reached = self.dialled(addresses, task).await.map_err(named)?;
                reached.stream.set_nodelay(true).map_err(|error| Error::io(Phase::Proxy, error))?;
                Ok(reached)
            })
        };
        let make_use = |_, stream| task.in_time(Phase::Proxy, None, make_use(stream));
        self.used(addresses, task, dial, make_use).await
    }

    /// A tunnel through an HTTP proxy.
    async fn by_tunnel(
        &self,
        stream: TcpStream,
        proxy: &Server,
        is_secure: bool,
        task: OpenTask<'_>,
    ) -> Result<Socket, Error> {
        if !is_secure {
            return self.tunnelled(stream, proxy, task, Socket::from).await;
        }
        #[cfg(feature = "tls")]
        return self.tunnelled(self.secured(stream, proxy).await?, proxy, task, boxed).await;
        #[cfg(not(feature = "tls"))]
        Err(Error::usage("TLS to a proxy needs the feature tls"))
    }

    async fn tunnelled<S: Transport + 'static>(
        &self,
        mut stream: S,
        proxy: &Server,
        task: OpenTask<'_>,
        into_socket: impl FnOnce(S) -> Socket,
    ) -> Result<Socket, Error> {
        let (authority, limits) = (self.to.to_string(), &self.settings.client.protocol.config.limits);
        let asked =
            ask_for_tunnel(&mut stream, &authority, &proxy.authorization(), &proxy.fields, limits).await;
        let status = match &asked {
            Ok((status, _)) => Some(*status),
            Err(error) => match error.cause() {
                Cause::ProxyStatus(status) => Some(*status),
                _ => None,
            },
        };
        // A proxy that breaks off has neither led anywhere nor refused to.
        if status.is_some() {
            tell_of_tunnel(task, proxy, status);
        }
        let (_, begun) = asked?;
        if begun.is_empty() {
            return Ok(into_socket(stream));
        }
        // The other end has spoken first: its bytes are read before the rest.
        let (read_half, write_half) = split(stream);
        Ok(boxed(join(Cursor::new(begun).chain(read_half), write_half)))
    }

    /// Opens TLS to the proxy, within which TLS to the origin may be spoken.
    #[cfg(feature = "tls")]
    async fn secured(&self, stream: TcpStream, proxy: &Server) -> Result<TlsStream<PromptTcp>, Error> {
        let config = self.tls.as_ref().ok_or_else(|| Error::usage("TLS to a proxy is not set up"))?;
        let connector = TlsConnector::from(for_proxy(config));
        connector.connect(server_name(&proxy.host)?, stream.into()).await.map_err(of_handshake)
    }

    /// Looks the origin up and asks for one of its addresses after the other.
    async fn led_to_address(
        &self,
        proxy: &Server,
        then: &Connect,
        task: OpenTask<'_>,
    ) -> Result<Arc<Conn>, Error> {
        let addresses = self.addresses(&self.to.host, self.to.port, task).await?;
        // The proxy connects, and is asked for one of them at a time.
        let next = async |addresses: Vec<SocketAddr>| match addresses.first() {
            Some(address) => Ok(Reached { address: *address, stream: (), failed: Vec::new() }),
            None => Err(Error::io(Phase::Resolve, std::io::ErrorKind::NotFound.into())),
        };
        let ask = async |address, ()| {
            let led = self.led_by_socks(proxy, Target::Address(address), task).await;
            // The proxy does not reach this one.
            let refused = |error: Error| match error.is_retryable() {
                true => Setback::Elsewhere(error),
                false => Setback::Final(error),
            };
            let socket = led.map_err(refused)?;
            self.begin(then, socket, task).await.map_err(Setback::of)
        };
        use_first(addresses, task.ends_at, next, ask).await
    }

    async fn led_by_socks(
        &self,
        proxy: &Server,
        target: Target<'_>,
        task: OpenTask<'_>,
    ) -> Result<Socket, Error> {
        self.by_proxy(proxy, task, async |mut stream: TcpStream| {
            ask_socks(&mut stream, target, proxy.credentials.as_ref()).await?;
            tell_of_tunnel(task, proxy, None);
            Ok(stream.into())
        })
        .await
    }
}

fn tell_of_tunnel(task: OpenTask<'_>, proxy: &Server, status: Option<Status>) {
    task.tell(&ExchangeEvent::Tunnelled(&format!("{}:{}", proxy.host, proxy.port), status));
}

fn boxed(transport: impl Transport + 'static) -> Socket {
    let transport: Box<dyn Transport> = Box::new(transport);
    transport.into()
}

#[cfg(feature = "tls")]
fn of_handshake(error: io::Error) -> Error {
    let failed = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    match failed.cloned() {
        Some(error) => Error::new(Phase::Proxy, error.into(), Retry::Pointless),
        None => broken(error),
    }
}
