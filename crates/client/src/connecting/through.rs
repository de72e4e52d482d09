//! A proxy before an origin, and the requests that it forwards.

use std::sync::Arc;

#[cfg(feature = "tls")]
use alula_net::Error;
use alula_net::{Phase, Speaks, h1};
#[cfg(feature = "tls")]
use tokio_rustls::rustls::{ClientConfig, pki_types::ServerName};

use super::{
    Destination,
    proxy::{Kind, Server},
};
#[cfg(feature = "tls")]
use crate::tls::trust::server_name;

/// A proxy on the way to an origin.
pub(super) struct Through {
    server: Arc<Server>,
    /// The settings of machines whose requests the proxy forwards (RFC 9112 §3.2.2); `None` if it opens
    /// tunnels.
    requests: Option<Arc<h1::Config>>,
}

impl Through {
    /// Chooses the way through a proxy: an HTTP proxy forwards requests of HTTP/1.1 in clear text, and opens
    /// tunnels for all others.
    pub(super) fn new(server: Arc<Server>, to: &Destination, speaks: Speaks, http1: &h1::Config) -> Self {
        let is_http = matches!(server.kind, Kind::Http { .. });
        // HTTP/2 by prior knowledge needs a tunnel: a proxy forwards requests of HTTP/1.1 only.
        let takes_requests = is_http && !to.is_secure() && speaks == Speaks::HTTP1;
        let requests = takes_requests.then(|| {
            let proxy_authorization = server.authorization();
            Arc::new(h1::Config { absolute_targets: true, proxy_authorization, ..http1.clone() })
        });
        Self { server, requests }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn takes_requests(&self) -> bool {
        self.requests.is_some()
    }

    /// Returns the settings of machines whose requests it forwards.
    pub(super) fn settings_of_requests(&self) -> Option<&Arc<h1::Config>> {
        self.requests.as_ref()
    }

    /// Returns the TLS settings for a proxy that forwards requests, if it uses TLS.
    #[cfg(feature = "tls")]
    pub(super) fn tls_of_requests(
        &self,
        config: &Arc<ClientConfig>,
    ) -> Result<Option<(Arc<ClientConfig>, ServerName<'static>)>, Error> {
        if !self.takes_requests() || self.server.kind != (Kind::Http { is_secure: true }) {
            return Ok(None);
        }
        Ok(Some((for_proxy(config), server_name(&self.server.host)?)))
    }

    /// Returns the phase of the handshake over the transport.
    pub(super) fn phase_of_handshake(&self) -> Phase {
        if self.takes_requests() { Phase::Proxy } else { Phase::Handshake }
    }
}

/// Returns TLS settings that offer HTTP/1.1 alone, for requests to a proxy.
#[cfg(feature = "tls")]
pub(super) fn for_proxy(config: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.alpn_protocols = Speaks::HTTP1.alpn();
    Arc::new(config)
}
