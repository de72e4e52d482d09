//! The program ends as soon as its last bytes are written, and these are not lost: GOAWAY, the end of TLS,
//! FIN.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::support::{PATIENCE, run};
use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::aws_lc_rs, pki_types::PrivateKeyDer};

/// GOAWAY of a client that is content (RFC 9113 §6.8).
const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// SETTINGS, and 204 with END_STREAM on the first stream.
const HTTP2_ANSWER: [u8; 19] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89];
const HTTP1_ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

fn tls(protocol: &[u8]) -> Arc<ServerConfig> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth();
    let mut config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    Arc::new(config)
}

/// Answers one request, and tells what came from there to the end; an error if TLS had none.
fn serve(wire: &mut dyn Wire, http2: bool) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let is_whole = |head: &[u8]| match http2 {
        // HEADERS with END_STREAM and END_HEADERS; nothing before has such a header.
        true => head.windows(6).any(|header| header == [1, 5, 0, 0, 0, 1]),
        false => head.ends_with(b"\r\n\r\n"),
    };
    while !is_whole(&head) {
        let mut bytes = [0; 1024];
        let read = wire.read(&mut bytes)?;
        head.extend_from_slice(&bytes[..read]);
    }
    wire.write_all(if http2 { &HTTP2_ANSWER } else { HTTP1_ANSWER })?;
    wire.flush()?;
    let mut rest = Vec::new();
    wire.read_to_end(&mut rest)?;
    Ok(rest)
}

/// The URL of a server for one connection, and what that had to say at its end.
fn server(with_tls: bool, http2: bool) -> (String, Receiver<io::Result<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{}://{}/", if with_tls { "https" } else { "http" }, listener.local_addr().unwrap());
    let (tell, told) = channel();
    thread::spawn(move || {
        let socket: TcpStream = listener.accept().unwrap().0;
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut wire: Box<dyn Wire> = if with_tls {
            let session = ServerConnection::new(tls(if http2 { b"h2" } else { b"http/1.1" })).unwrap();
            Box::new(StreamOwned::new(session, socket))
        } else {
            Box::new(socket)
        };
        tell.send(serve(&mut *wire, http2)).unwrap();
    });
    (url, told)
}

#[test]
fn what_is_written_last_arrives() {
    for (with_tls, http2) in [(false, false), (false, true), (true, false), (true, true)] {
        let (url, told) = server(with_tls, http2);
        let version = if http2 { "--http2" } else { "--http1.1" };
        let version = if http2 && !with_tls { "--http2-prior-knowledge" } else { version };
        run(&["get", "-k", version, &url]).expect(0);
        let case = format!("TLS: {with_tls}, HTTP/2: {http2}");
        let rest = told.recv_timeout(PATIENCE).expect(&case);
        let rest = rest.unwrap_or_else(|error| panic!("{case}: {error}"));
        let last: &[u8] = if http2 { &GOAWAY } else { b"" };
        assert!(rest.ends_with(last) && (http2 || rest.is_empty()), "{case}: {rest:x?}");
    }
}
