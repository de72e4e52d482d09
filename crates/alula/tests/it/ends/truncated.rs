//! TLS that ends without close_notify (RFC 9112 §9.8): content and tunnels that last until the close are cut
//! then, and all else is whole.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, mpsc};

use alula::{
    Cause, Client, ClientBuilder, Error, Exchange, Identity, Server, ServerBuilder, Status, blocking, h1,
};
use flate2::{Compression, write::GzEncoder};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::aws_lc_rs};
use tokio::time::timeout;

use super::peer::{FOREVER, listen};

const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
const OLD: &[u8] = b"HTTP/1.0 200 OK\r\n\r\n";
const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";

fn client(with: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
    with(Client::builder().no_proxy().trust_anything()).build().unwrap()
}

/// Answers each connection's request with these bytes, and ends it so.
fn answering(with_tls: bool, bytes: Vec<u8>, is_cut: bool) -> String {
    listen(with_tls, b"http/1.1", move |_, mut wire| {
        if wire.read_request() {
            wire.say(&bytes);
            if is_cut { wire.cut() } else { wire.end() }
        }
    })
}

/// The content of an answer as far as it came, and how it ended.
async fn read(client: &Client, url: &str, switches: bool) -> (Vec<u8>, Result<(), Error>) {
    let mut call = client.get(url);
    if switches {
        call = call.header("connection", "upgrade").header("upgrade", "x");
    }
    let mut response = timeout(FOREVER, call.send()).await.unwrap().unwrap();
    let mut content = Vec::new();
    loop {
        match timeout(FOREVER, response.body().chunk()).await.unwrap() {
            Ok(Some(chunk)) => content.extend_from_slice(chunk),
            Ok(None) => return (content, Ok(())),
            Err(error) => return (content, Err(error)),
        }
    }
}

fn is_truncated(error: &Error) -> bool {
    matches!(error.cause(), Cause::Http1(h1::ConnectionError::Peer(h1::Violation::TRUNCATED)))
}

#[tokio::test]
async fn content_and_tunnels_until_the_close_are_an_error_after_their_bytes() {
    let content = b"all that came".repeat(10_000);
    for (head, switches) in [(UNTIL_CLOSE, false), (OLD, false), (SWITCH, true)] {
        let bytes = [head, &content].concat();
        for (with_tls, is_cut, is_allowed, is_whole) in [
            (true, true, false, false),
            (true, true, true, true),
            (true, false, false, true),
            (false, true, false, true),
        ] {
            let url = answering(with_tls, bytes.clone(), is_cut);
            let client = client(|builder| builder.accept_truncated_tls(is_allowed));
            let (came, end) = read(&client, &url, switches).await;
            let case = format!("tls {with_tls}, cut {is_cut}, allowed {is_allowed}: {end:?}");
            assert!(came == content, "{} bytes; {case}", came.len());
            match end {
                Ok(()) => assert!(is_whole, "{case}"),
                Err(error) => assert!(!is_whole && is_truncated(&error), "{case}"),
            }
            assert_eq!(client.ledger().count("H1_TRUNCATED"), u64::from(!is_whole), "{case}");
        }
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn content_whose_end_was_said_is_whole_and_nothing_is_counted() {
    let coded = gzip(b"hello");
    let chunked = [
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n",
        format!("{:x}\r\n", coded.len()).as_bytes(),
        &coded,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    for answer in [&b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"[..], &chunked] {
        let url = answering(true, answer.to_vec(), true);
        let client = client(|builder| builder.decompress(true));
        for _ in 0..3 {
            let (content, end) = read(&client, &url, false).await;
            end.unwrap();
            assert_eq!(content, b"hello");
        }
        assert_eq!(client.ledger().counts().map(|(_, count)| count).sum::<u64>(), 0);
    }
}

#[tokio::test]
async fn content_that_is_decoded_is_cut_as_well() {
    let coded = gzip(b"hello");
    let url = answering(true, [b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", &*coded].concat(), true);
    let (content, end) = read(&client(|builder| builder.decompress(true)), &url, false).await;
    assert!(content == b"hello" && is_truncated(end.as_ref().unwrap_err()), "{end:?}");
}

#[test]
fn a_blocking_client_is_told_as_well() {
    let url = answering(true, [UNTIL_CLOSE, b"hello"].concat(), true);
    let client = blocking::Client::builder().no_proxy().trust_anything().build_blocking().unwrap();
    let mut content = Vec::new();
    let error = client.get(&url).send().unwrap().body().read_to_end(&mut content).unwrap_err();
    assert_eq!((&content[..], error.kind()), (&b"hello"[..], std::io::ErrorKind::UnexpectedEof));
}

/// A server whose handler opens a tunnel, and tells what came through it, and whether it ended well.
async fn tunnels(
    with: impl FnOnce(ServerBuilder) -> ServerBuilder,
) -> (u16, mpsc::Receiver<(Vec<u8>, bool)>) {
    let (tell, told) = mpsc::channel();
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let port =
        crate::support::listen(with(Server::builder().identity(identity)), move |exchange: Exchange| {
            let tell = tell.clone();
            async move {
                let (_, mut body, responder) = exchange.split();
                let writer = responder.respond(Status::OK).stream().await?;
                let mut content = Vec::new();
                let end = loop {
                    match body.chunk().await {
                        Ok(Some(chunk)) => content.extend_from_slice(chunk),
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                };
                assert!(end.as_ref().err().is_none_or(is_truncated), "{end:?}");
                tell.send((content, end.is_ok())).unwrap();
                writer.finish().await
            }
        })
        .await
        .port();
    (port, told)
}

fn connect(port: u16) -> StreamOwned<ClientConnection, TcpStream> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.dangerous().set_certificate_verifier(Arc::new(trusting::Anything(provider)));
    let session = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(session, TcpStream::connect(("127.0.0.1", port)).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_told_of_tunnels_that_are_cut() {
    for (is_cut, is_allowed) in [(true, false), (true, true), (false, false)] {
        let (port, told) = tunnels(|builder| builder.accept_truncated_tls(is_allowed)).await;
        let mut stream = connect(port);
        stream.write_all(b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n").unwrap();
        // Until the tunnel is open.
        stream.read_exact(&mut [0; 12]).unwrap();
        stream.write_all(b"hello").unwrap();
        if !is_cut {
            stream.conn.send_close_notify();
            stream.flush().unwrap();
        }
        stream.sock.shutdown(std::net::Shutdown::Write).unwrap();
        let (content, is_whole) = told.recv_timeout(FOREVER).unwrap();
        assert_eq!((&content[..], is_whole), (&b"hello"[..], !is_cut || is_allowed), "{is_cut} {is_allowed}");
    }
}

mod trusting {
    use std::sync::Arc;

    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};

    #[derive(Debug)]
    pub(super) struct Anything(pub(super) Arc<CryptoProvider>);

    impl ServerCertVerifier for Anything {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.signature_verification_algorithms.supported_schemes()
        }
    }
}
