//! A server of bytes by hand, on threads of its own, in clear text or over TLS, that says exactly how a
//! connection ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The longest wait of a test for something that is to happen.
pub(crate) const FOREVER: Duration = Duration::from_secs(20);

/// One accepted connection.
pub(crate) enum Wire {
    Clear(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
    /// TLS within TLS: to an origin, by way of a proxy that TLS is spoken to.
    Nested(Box<StreamOwned<ServerConnection, Wire>>),
}

impl Wire {
    /// Reads a request of HTTP/1.1. Returns false if the client has gone.
    pub(crate) fn read_request(&mut self) -> bool {
        self.read_head().is_some_and(|length| self.read_exact(&mut vec![0; length]).is_ok())
    }

    /// Reads the head of a request, and gives the length of its content; nothing if the client has gone.
    pub(crate) fn read_head(&mut self) -> Option<usize> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next());
        Some(length.map_or(0, |length| length.parse().unwrap()))
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.write_all(bytes).unwrap();
        self.flush().unwrap();
    }

    /// Ends TLS with close_notify, then the connection.
    pub(crate) fn end(mut self) {
        match &mut self {
            Self::Clear(_) => {}
            Self::Tls(stream) => {
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
            Self::Nested(stream) => {
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
        self.cut();
    }

    /// Ends the connection with a FIN and nothing else.
    pub(crate) fn cut(self) {
        self.socket().shutdown(Shutdown::Write).unwrap();
        // A socket that is closed with bytes unread is reset.
        thread::spawn(move || io::copy(&mut self.socket(), &mut io::sink()));
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Clear(socket) => socket,
            Self::Tls(stream) => stream.get_ref(),
            Self::Nested(stream) => stream.get_ref().socket(),
        }
    }
}

impl Read for Wire {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Clear(socket) => socket.read(space),
            Self::Tls(stream) => stream.read(space),
            Self::Nested(stream) => stream.read(space),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Clear(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            Self::Nested(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Clear(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
            Self::Nested(stream) => stream.flush(),
        }
    }
}

/// Grants a tunnel, and takes TLS to the origin through it.
pub(crate) fn tunnel(mut wire: Wire) -> Wire {
    assert!(wire.read_request());
    wire.say(b"HTTP/1.1 200 OK\r\n\r\n");
    let session = ServerConnection::new(tls(b"http/1.1")).unwrap();
    Wire::Nested(Box::new(StreamOwned::new(session, wire)))
}

/// Listens, in TLS for these versions, separated by commas, and has `serve` serve each connection, the number
/// of which it is told, one after the other.
pub(crate) fn listen(
    with_tls: bool,
    alpn: &'static [u8],
    serve: impl Fn(usize, Wire) + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = with_tls.then(|| tls(alpn));
    thread::spawn(move || {
        for (number, socket) in listener.incoming().enumerate() {
            let socket = socket.unwrap();
            socket.set_nodelay(true).unwrap();
            socket.set_read_timeout(Some(FOREVER)).unwrap();
            serve(
                number,
                match &config {
                    None => Wire::Clear(socket),
                    Some(config) => {
                        let session = ServerConnection::new(config.clone()).unwrap();
                        Wire::Tls(Box::new(StreamOwned::new(session, socket)))
                    }
                },
            );
        }
    });
    format!("{}://127.0.0.1:{port}/", if with_tls { "https" } else { "http" })
}

fn tls(alpn: &[u8]) -> Arc<ServerConfig> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.split(|byte| *byte == b',').map(<[u8]>::to_vec).collect();
    Arc::new(config)
}
