//! The way to an origin through a proxy: requests are sent to it, or it leads to the origin.

#[cfg(feature = "tls")]
use std::io;
use std::{io::Cursor, net::IpAddr};

use alula_fields::Status;
use alula_net::{Cause, Error, Phase, Socket, Transport};
#[cfg(feature = "tls")]
use alula_net::{PromptTcp, Retry};
use tokio::{
    io::{AsyncReadExt as _, join, split},
    net::TcpStream,
    time::Instant,
};
#[cfg(feature = "tls")]
use tokio_rustls::{TlsConnector, client::TlsStream, rustls};

use super::{
    Route,
    proxy::{Kind, Server, Target, ask_for_tunnel, ask_socks},
    through::Through,
};
#[cfg(feature = "tls")]
use super::{proxy::broken, through::for_proxy};
#[cfg(feature = "tls")]
use crate::trust::server_name;
use crate::watching;

impl Route {
    /// A transport that leads to the origin, or to the proxy that takes its requests.
    pub(super) async fn led(&self, through: &Through, ends_at: Instant) -> Result<Socket, Error> {
        let proxy = through.server();
        match proxy.kind {
            Kind::Http { .. } if through.takes_requests() => {
                self.reached(proxy, ends_at).await.map(Socket::from)
            }
            Kind::Http { is_secure: false } => {
                self.tunnelled(self.reached(proxy, ends_at).await?, proxy, Socket::from).await
            }
            #[cfg(feature = "tls")]
            Kind::Http { is_secure: true } => {
                let stream = self.secured(self.reached(proxy, ends_at).await?, proxy).await?;
                self.tunnelled(stream, proxy, boxed).await
            }
            #[cfg(not(feature = "tls"))]
            Kind::Http { is_secure: true } => Err(Error::usage("TLS to a proxy needs the feature tls")),
            Kind::Socks { looks_up: true } => {
                let (host, port) = (&*self.to.host, self.to.port);
                let target = match host.parse::<IpAddr>() {
                    Ok(address) => Target::Address((address, port).into()),
                    Err(_) => Target::Name(host, port),
                };
                self.led_by_socks(proxy, target, ends_at).await
            }
            Kind::Socks { looks_up: false } => self.led_to_address(proxy, ends_at).await,
        }
    }

    fn tell_of_tunnel(&self, proxy: &Server, status: Option<Status>) {
        if let Some(watcher) = self.watcher() {
            watching::tunnelled(watcher, &format!("{}:{}", proxy.host, proxy.port), status);
        }
    }

    /// Connects to the proxy itself.
    async fn reached(&self, proxy: &Server, ends_at: Instant) -> Result<TcpStream, Error> {
        let dialled = self.dialled(&proxy.host, proxy.port, ends_at).await;
        let named = |error: Error| error.during(Phase::Proxy).about(format!("{}:{}", proxy.host, proxy.port));
        let stream = dialled.map_err(named)?;
        stream.set_nodelay(true).map_err(|error| Error::io(Phase::Proxy, error))?;
        Ok(stream)
    }

    async fn tunnelled<S: Transport + 'static>(
        &self,
        mut stream: S,
        proxy: &Server,
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
            self.tell_of_tunnel(proxy, status);
        }
        let (_, begun) = asked?;
        if begun.is_empty() {
            return Ok(into_socket(stream));
        }
        // Whoever is at the other end speaks first.
        let (read_half, write_half) = split(stream);
        Ok(boxed(join(Cursor::new(begun).chain(read_half), write_half)))
    }

    /// TLS to the proxy, within which TLS to the origin may be spoken.
    #[cfg(feature = "tls")]
    async fn secured(&self, stream: TcpStream, proxy: &Server) -> Result<TlsStream<PromptTcp>, Error> {
        let config = self.tls.as_ref().ok_or_else(|| Error::usage("TLS to a proxy is not set up"))?;
        let connector = TlsConnector::from(for_proxy(config));
        connector.connect(server_name(&proxy.host)?, stream.into()).await.map_err(of_handshake)
    }

    /// Looks the origin up and asks for one of its addresses after the other.
    async fn led_to_address(&self, proxy: &Server, ends_at: Instant) -> Result<Socket, Error> {
        let mut refused = None;
        for address in self.addresses(&self.to.host, self.to.port, ends_at).await? {
            match self.led_by_socks(proxy, Target::Address(address), ends_at).await {
                Err(error) if error.is_retryable() => refused = refused.or(Some(error)),
                led => return led,
            }
        }
        Err(refused.unwrap_or_else(|| Error::io(Phase::Resolve, std::io::ErrorKind::NotFound.into())))
    }

    async fn led_by_socks(
        &self,
        proxy: &Server,
        target: Target<'_>,
        ends_at: Instant,
    ) -> Result<Socket, Error> {
        let mut stream = self.reached(proxy, ends_at).await?;
        ask_socks(&mut stream, target, proxy.credentials.as_ref()).await?;
        self.tell_of_tunnel(proxy, None);
        Ok(stream.into())
    }
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
