//! Connections of hyper's servers, in clear text or over TLS by tokio-rustls.

use std::fs;
use std::sync::Arc;

use axum::Router;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::measure::end_with_input;
use crate::servers::works::Serves;

/// The one version that hyper's servers speak here; the automatic one speaks both.
#[derive(Clone, Copy)]
pub(crate) enum Speaks {
    Http1,
    Http2,
}

/// The way in which connections come.
pub(crate) struct Listening {
    speaks: Speaks,
    tls: Option<TlsAcceptor>,
}

impl Listening {
    pub(crate) fn new(speaks: Speaks, tls: Option<(&str, &str)>) -> Self {
        Self { speaks, tls: tls.map(|(certificate, key)| acceptor(speaks, certificate, key)) }
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Bound, and told of on the standard output.
    pub(crate) async fn listener(&self) -> TcpListener {
        end_with_input();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("it is bound").port());
        listener
    }

    /// By hyper's own servers. Over HTTP/1.1 requests that came together are answered together, as Alula
    /// does.
    pub(crate) async fn hyper(self, service: impl Serves) {
        let speaks = self.speaks;
        self.each(|socket| match socket {
            Socket::Clear(socket) => {
                drop(tokio::spawn(connection(TokioIo::new(socket), speaks, service.clone())))
            }
            Socket::Secure(socket, tls) => {
                let service = service.clone();
                tokio::spawn(async move {
                    let Ok(socket) = tls.accept(socket).await else { return };
                    connection(TokioIo::new(socket), speaks, service).await;
                });
            }
        })
        .await;
    }

    /// By the server of hyper-util that finds out which version is spoken.
    pub(crate) async fn automatic(self, service: TowerToHyperService<Router>) {
        self.each(|socket| {
            let Socket::Secure(socket, tls) = socket else { unreachable!("axum serves clear text itself") };
            let service = service.clone();
            tokio::spawn(async move {
                let Ok(socket) = tls.accept(socket).await else { return };
                let serve = auto::Builder::new(TokioExecutor::new());
                // It ends with the load.
                let _ = serve.serve_connection(TokioIo::new(socket), service).await;
            });
        })
        .await;
    }

    async fn each(self, mut take: impl FnMut(Socket)) {
        let listener = self.listener().await;
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            socket.set_nodelay(true).expect("a TCP socket");
            take(match &self.tls {
                None => Socket::Clear(socket),
                Some(tls) => Socket::Secure(socket, tls.clone()),
            });
        }
    }
}

enum Socket {
    Clear(TcpStream),
    Secure(TcpStream, TlsAcceptor),
}

async fn connection(io: impl Read + Write + Unpin + Send + 'static, speaks: Speaks, service: impl Serves) {
    // It ends with the load.
    let _ = match speaks {
        Speaks::Http1 => http1::Builder::new().pipeline_flush(true).serve_connection(io, service).await,
        Speaks::Http2 => http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await,
    };
}

pub(crate) fn acceptor(speaks: Speaks, certificate: &str, key: &str) -> TlsAcceptor {
    let [certificate, key] = [certificate, key].map(|file| fs::read(file).expect("a file of PEM"));
    let chain =
        CertificateDer::pem_slice_iter(&certificate).collect::<Result<_, _>>().expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(&key).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let config =
        config.with_safe_default_protocol_versions().expect("the provider has them").with_no_client_auth();
    let mut config = config.with_single_cert(chain, key).expect("they belong together");
    let name: &[u8] = match speaks {
        Speaks::Http1 => b"http/1.1",
        Speaks::Http2 => b"h2",
    };
    config.alpn_protocols = vec![name.to_vec()];
    TlsAcceptor::from(Arc::new(config))
}
