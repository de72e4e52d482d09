//! Connections that wait: of bare rustls, both ends, of hyper's client, and hyper's server with many streams.
//!
//! - `hold rustls serve h1|h2 CERTIFICATE KEY` answers what one read brings, by bytes that are always the
//!   same.
//! - `hold rustls|hyper client h1|h2 unused|once PORT COUNT [ROOTS]` is a client: prints 0, waits for a line,
//!   makes the connections, 64 at a time, and prints their count.
//! - `hold hyper serve h1|h2 STREAMS [CERTIFICATE KEY]` answers with 1 KiB.

use std::convert::Infallible;
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1 as server_http1, http2 as server_http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::measure::one_thread;
use crate::servers::listening::{Speaks, acceptor};

/// The connections that are being made at once, at most.
const IN_FLIGHT: usize = 64;

/// The bytes of an answer's content.
const CONTENT: usize = 1024;

/// A client's connections.
#[derive(Clone)]
struct Client {
    is_hyper: bool,
    is_http2: bool,
    is_used: bool,
    port: u16,
    tls: Option<TlsConnector>,
}

pub(crate) fn dispatch(args: &[&str]) -> Option<()> {
    match *args {
        ["rustls", "serve", version, certificate, key] => {
            let speaks = if version == "h2" { Speaks::Http2 } else { Speaks::Http1 };
            one_thread().block_on(serve_bare(version == "h2", acceptor(speaks, certificate, key)));
        }
        ["hyper", "serve", version, streams, ref tls @ ..] => {
            let speaks = if version == "h2" { Speaks::Http2 } else { Speaks::Http1 };
            let tls =
                tls.first().zip(tls.get(1)).map(|(certificate, key)| acceptor(speaks, certificate, key));
            one_thread().block_on(serve_hyper(version == "h2", streams.parse().ok()?, tls));
        }
        [who, "client", version, used, port, count, ref roots @ ..] => {
            let (is_http2, port) = (version == "h2", port.parse().ok()?);
            let tls = roots.first().map(|roots| connector(is_http2, roots));
            let client = Client { is_hyper: who == "hyper", is_http2, is_used: used == "once", port, tls };
            one_thread().block_on(client.hold(count.parse().ok()?));
        }
        _ => return None,
    }
    Some(())
}

/// Returns what tells each line of the standard input; this process ends with it.
fn words() -> Receiver<()> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for _ in std::io::stdin().lines() {
            let _ = tell.send(());
        }
        std::process::exit(0);
    });
    told
}

/// Listens with a queue as long as the system allows: thousands of connections come at once.
async fn listener() -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let listener = socket.listen(65_535).expect("a listener");
    println!("{}", listener.local_addr().expect("it is bound").port());
    listener
}

async fn serve_bare(is_http2: bool, tls: TlsAcceptor) {
    let _words = words();
    let (listener, answer) = (listener().await, Arc::<[u8]>::from(answer(is_http2)));
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        let (tls, answer) = (tls.clone(), Arc::clone(&answer));
        tokio::spawn(async move {
            socket.set_nodelay(true).expect("a TCP socket");
            let Ok(mut io) = tls.accept(socket).await else { return };
            // Little is read at a time, so that the task holds little: all but the first of what comes is
            // passed over.
            let mut bytes = [0; 256];
            let mut is_answered = false;
            while io.read(&mut bytes).await.is_ok_and(|read| read > 0) {
                if !is_answered && io.write_all(&answer).await.is_err() {
                    return;
                }
                is_answered = true;
            }
        });
    }
}

/// SETTINGS, a head of 200 on the first stream and 1 KiB; or the same over HTTP/1.1.
fn answer(is_http2: bool) -> Vec<u8> {
    let content = [b'a'; CONTENT];
    if is_http2 {
        let settings: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
        let head: &[u8] = &[0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88];
        return [settings, head, &[0, 4, 0, 0, 1, 0, 0, 0, 1], &content].concat();
    }
    [b"HTTP/1.1 200 OK\r\ncontent-length: 1024\r\n\r\n", &content[..]].concat()
}

async fn serve_hyper(is_http2: bool, streams: u32, tls: Option<TlsAcceptor>) {
    let _words = words();
    let listener = listener().await;
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        socket.set_nodelay(true).expect("a TCP socket");
        match tls.clone() {
            None => drop(tokio::spawn(serve_one(is_http2, streams, socket))),
            Some(tls) => drop(tokio::spawn(async move {
                let Ok(socket) = tls.accept(socket).await else { return };
                serve_one(is_http2, streams, socket).await;
            })),
        }
    }
}

async fn serve_one(
    is_http2: bool,
    streams: u32,
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) {
    let io = TokioIo::new(socket);
    // It ends with the load.
    let _ = if is_http2 {
        let mut serve = server_http2::Builder::new(TokioExecutor::new());
        serve.max_concurrent_streams(streams).serve_connection(io, service_fn(memory)).await
    } else {
        server_http1::Builder::new().pipeline_flush(true).serve_connection(io, service_fn(memory)).await
    };
}

async fn memory(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(&[b'a'; CONTENT])));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// Every connection has a handshake of its own.
fn connector(is_http2: bool, roots: &str) -> TlsConnector {
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(&fs::read(roots).expect("a file of PEM")) {
        store.add(root.expect("a certificate")).expect("an authority");
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("the provider has them");
    let mut config = config.with_root_certificates(store).with_no_client_auth();
    config.alpn_protocols = vec![if is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

impl Client {
    async fn hold(self, count: usize) {
        let words = words();
        println!("0");
        words.recv().expect("a line");
        let make = |task: usize| {
            let (client, share) = (self.clone(), (count + task) / IN_FLIGHT);
            tokio::spawn(async move {
                for _ in 0..share {
                    client.connect().await;
                }
            })
        };
        let tasks: Vec<_> = (0..IN_FLIGHT).map(make).collect();
        for task in tasks {
            task.await.expect("all are made");
        }
        println!("{count}");
        std::future::pending().await
    }

    async fn connect(&self) {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).await.expect("the server listens");
        socket.set_nodelay(true).expect("a TCP socket");
        match &self.tls {
            None => self.take(socket).await,
            Some(tls) => {
                let name = ServerName::try_from("127.0.0.1").expect("an address");
                self.take(tls.connect(name, socket).await.expect("a handshake")).await;
            }
        }
    }

    async fn take(&self, io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        match (self.is_hyper, self.is_http2) {
            (false, _) => self.take_bare(io).await,
            (true, false) => self.take_http1(TokioIo::new(io)).await,
            (true, true) => self.take_http2(TokioIo::new(io)).await,
        }
    }

    async fn take_bare(&self, mut io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        if self.is_used {
            let (request, frames): (&[u8], &[u8]) = (HTTP1, HTTP2);
            io.write_all(if self.is_http2 { frames } else { request }).await.expect("it is open");
            let (mut bytes, mut here) = ([0; 256], 0);
            while here < CONTENT {
                here += match io.read(&mut bytes).await.expect("it is open") {
                    0 => panic!("the server ended the connection"),
                    read => read,
                };
            }
        }
        tokio::spawn(async move {
            let mut bytes = [0; 256];
            while io.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
        });
    }

    async fn take_http1(&self, io: impl Read + Write + Unpin + Send + 'static) {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.expect("a connection");
        tokio::spawn(connection);
        if self.is_used {
            sender.ready().await.expect("it is open");
            let answer = sender.send_request(self.request("/memory")).await.expect("an answer");
            answer.into_body().collect().await.expect("whole content");
        }
        tokio::spawn(kept(sender));
    }

    async fn take_http2(&self, io: impl Read + Write + Unpin + Send + 'static) {
        let shaken = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await;
        let (mut sender, connection) = shaken.expect("a connection");
        tokio::spawn(connection);
        if self.is_used {
            let scheme = if self.tls.is_some() { "https" } else { "http" };
            let request = self.request(&format!("{scheme}://127.0.0.1:{}/memory", self.port));
            let answer = sender.send_request(request).await.expect("an answer");
            answer.into_body().collect().await.expect("whole content");
        }
        tokio::spawn(kept(sender));
    }

    fn request(&self, target: &str) -> Request<Empty<Bytes>> {
        let request = Request::get(target);
        let request = if self.is_http2 { request } else { request.header("host", "127.0.0.1") };
        request.body(Empty::new()).expect("a valid request")
    }
}

/// Keeps a sender, without which its connection ends.
async fn kept<S>(sender: S) {
    std::future::pending::<()>().await;
    drop(sender);
}

const HTTP1: &[u8] = b"GET /memory HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

/// The preface, SETTINGS, and a request.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x16\x01\x05\0\0\0\x01\
    \x82\x87\x41\x09localhost\x44\x07/memory";
