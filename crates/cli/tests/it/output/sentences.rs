//! The sentence that the program says of each thing that goes wrong on the way, as a table, over real
//! sockets.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::thread;

use crate::support::{Folder, PATIENCE, alula, run, wait};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, pki_types::PrivateKeyDer, server::WebPkiClientVerifier,
};

/// Sentences without the program's name before them; a port is written as `PORT`.
#[track_caller]
fn say(rows: &[(&[&str], u8, &str)]) {
    for (arguments, code, sentence) in rows {
        let ended = run(arguments).expect(i32::from(*code));
        assert_eq!(without_ports(&ended.stderr), format!("alula: {sentence}\n"), "{arguments:?}");
    }
}

/// The port of the loopback address is another one each time.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_low = part.starts_with("1:") || part.starts_with("1/");
        shown
            + "127.0.0.1:"
            + if is_low || rest == part { part } else { "PORT" }
            + if is_low || rest == part { "" } else { rest }
    })
}

/// A server for any number of connections, each handled by `talk`.
fn peer(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, talk) = (socket.unwrap(), talk.clone());
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket.set_nodelay(true).unwrap();
            thread::spawn(move || talk(socket));
        }
    });
    address
}

/// A server that takes a request, answers with this and closes.
fn answering(answer: &'static [u8]) -> String {
    format!("127.0.0.1:{}", peer(move |mut socket| answer_with(&mut socket, answer, false)).port())
}

/// The same, but it does not close.
fn hanging(answer: &'static [u8]) -> String {
    format!("127.0.0.1:{}", peer(move |mut socket| answer_with(&mut socket, answer, true)).port())
}

fn answer_with(socket: &mut TcpStream, answer: &[u8], stays: bool) {
    let _ = socket.read(&mut [0; 4096]);
    socket.write_all(answer).unwrap();
    if !stays {
        socket.shutdown(Shutdown::Write).unwrap();
    }
    while socket.read(&mut [0; 1024]).is_ok_and(|bytes| bytes > 0) {}
}

#[test]
fn no_way_there() {
    let folder = Folder::new("no way");
    let socket = folder.path("no.sock");
    let missing = format!("GET http://a.example/: could not connect to {socket}: no such file or directory");
    say(&[
        (
            &["get", "http://127.0.0.1:1/a?token=t"],
            3,
            "GET http://127.0.0.1:1/a?token=…: could not connect: connection refused (nothing listens on that port)",
        ),
        (
            &["get", "--http2-prior-knowledge", "http://127.0.0.1:1/"],
            3,
            "GET http://127.0.0.1:1/: could not connect: connection refused (nothing listens on that port)",
        ),
        (
            &["get", "-x", "http://127.0.0.1:1", "https://a.example/"],
            3,
            "GET https://a.example/: could not reach the proxy 127.0.0.1:1: connection refused",
        ),
        (
            &["get", "-x", "socks5h://127.0.0.1:1", "http://a.example/"],
            3,
            "GET http://a.example/: could not reach the proxy 127.0.0.1:1: connection refused",
        ),
        (&["get", "--unix-socket", &socket, "http://a.example/"], 3, &missing),
    ]);
    // The resolver's own words follow.
    let unresolved = run(&["get", "http://nosuch.invalid/"]).expect(3).stderr;
    let sentence = "alula: GET http://nosuch.invalid/: could not resolve host nosuch.invalid: ";
    assert!(unresolved.starts_with(sentence) && !unresolved.contains("os error"), "{unresolved}");
}

#[test]
fn what_a_proxy_refuses() {
    let forbidden = answering(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    let unknown = answering(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    let socks = answering(b"\x05\xff");
    say(&[
        (
            &["get", "-x", &forbidden, "https://a.example/"],
            3,
            "GET https://a.example/: the proxy refused with 403 Forbidden",
        ),
        (
            &["get", "-x", &unknown, "https://a.example/"],
            3,
            "GET https://a.example/: the proxy refused with 407 Proxy Authentication Required",
        ),
        (
            &["get", "-x", &format!("socks5h://{socks}"), "http://a.example/"],
            3,
            "GET http://a.example/: the SOCKS proxy refused: it asks for a name and a password",
        ),
    ]);
}

#[test]
fn addresses_that_are_none() {
    say(&[
        (&["get", "http://"], 2, "cannot use the URL http://: it has no host"),
        (
            &["get", "http://u:s3cret@a:99999/"],
            2,
            "cannot use the URL http://…@a:99999/: the port 99999 is above 65535",
        ),
        (&["get", "http://a:8x/"], 2, "cannot use the URL http://a:8x/: its port is not a number"),
        (
            &["get", "http://a b/"],
            2,
            "cannot use the URL http://a b/: a host cannot contain ' ' (character 9 of the URL)",
        ),
        (
            &["get", "ftp://a/"],
            2,
            "cannot use the URL ftp://a/: its scheme is ftp, and only http and https are supported",
        ),
        (
            &["get", "http://[::x]/"],
            2,
            "cannot use the URL http://[::x]/: its host is not a valid IPv6 address",
        ),
        (
            &["get", "http://256.1.1.1/"],
            2,
            "cannot use the URL http://256.1.1.1/: its host is not a valid IPv4 address",
        ),
    ]);
}

#[test]
fn what_takes_too_long() {
    let silent = hanging(b"");
    let halting = hanging(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
    let (plain, secure) = (format!("http://{silent}/"), format!("https://{silent}/"));
    let halting = format!("http://{halting}/");
    let full = full();
    let connect = format!("http://{}/", full.0);
    say(&[
        (
            &["get", "--connect-timeout", "0.2", &connect],
            6,
            "GET http://127.0.0.1:PORT/: timed out after 0.2 s connecting",
        ),
        (
            &["get", "--max-time", "0.2", &connect],
            6,
            "GET http://127.0.0.1:PORT/: timed out after 0.2 s connecting",
        ),
        (
            &["get", "--connect-timeout", "0.2", &secure],
            6,
            "GET https://127.0.0.1:PORT/: timed out after 0.2 s during the TLS handshake",
        ),
        (
            &["get", "--max-time", "0.2", &secure],
            6,
            "GET https://127.0.0.1:PORT/: timed out after 0.2 s during the TLS handshake",
        ),
        (
            &["get", "--max-time", "0.2", "-x", &silent, "https://a.example/"],
            6,
            "GET https://a.example/: timed out after 0.2 s waiting for the proxy",
        ),
        (
            &["get", "--connect-timeout", "0.2", "-x", &silent, "https://a.example/"],
            6,
            "GET https://a.example/: timed out after 0.2 s waiting for the proxy",
        ),
        (
            &["get", "--max-time", "0.2", &plain],
            6,
            "GET http://127.0.0.1:PORT/: timed out after 0.2 s waiting for the response headers",
        ),
        (
            &["get", "--max-time", "0.2", &halting],
            6,
            "GET http://127.0.0.1:PORT/: timed out after 0.2 s reading the content",
        ),
    ]);
}

/// A listener whose backlog is full, so that nothing more is answered, and what fills it.
fn full() -> (SocketAddr, TcpListener, Vec<socket2::Socket>) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    let waiting = (0..4).map(|_| {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        // It is under way.
        let _ = socket.connect(&address.into());
        socket
    });
    let waiting = waiting.collect();
    (address, listener, waiting)
}

#[test]
fn content_that_is_cut() {
    let length = format!("http://{}/", answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"));
    let chunked = format!(
        "http://{}/",
        answering(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n")
    );
    let head = format!("http://{}/", answering(b"HTTP/1.1 200 OK\r\ncontent-"));
    let nothing = format!("http://{}/", answering(b""));
    let cut = "GET http://127.0.0.1:PORT/: reading the content: the connection ended before the content was whole (RFC 9112 §8)";
    say(&[
        (&["get", &length], 7, cut),
        (&["get", &chunked], 7, cut),
        (
            &["get", &head],
            7,
            "GET http://127.0.0.1:PORT/: waiting for the response headers: the connection ended within a head (RFC 9112 §8)",
        ),
        (
            &["get", &nothing],
            7,
            "GET http://127.0.0.1:PORT/: waiting for the response headers: the peer closed the connection without an answer",
        ),
    ]);
}

#[test]
fn files_that_cannot_be_read() {
    let echo = crate::support::Echo::start(&[]);
    let folder = Folder::new("unreadable");
    let (missing, here) = (folder.path("missing"), folder.path("."));
    let none = format!("{missing}: no such file or directory");
    let is_folder = format!("{here}: is a directory");
    let (at_missing, at_here) = (format!("@{missing}"), format!("@{here}"));
    say(&[
        (&["put", &echo.http, "-T", &missing], 1, &none),
        (&["post", &echo.http, "-d", &at_missing], 1, &none),
        (&["post", &echo.http, "-d", &at_here], 1, &is_folder),
        (&["get", &echo.http, "--cacert", &missing], 1, &none),
    ]);
    // A folder can be opened and not read.
    let child = alula(&["put", &echo.http, "-T", "-"]).stdin(Stdio::from(File::open(&here).unwrap())).spawn();
    let ended = wait(child.unwrap()).expect(1);
    let sentence = "alula: PUT http://127.0.0.1:PORT/: the content could not be read: is a directory\n";
    assert_eq!(without_ports(&ended.stderr), sentence);
}

#[test]
fn certificates_and_tls() {
    let folder = Folder::new("certificates");
    let made = rcgen::generate_simple_self_signed(["b.example".to_owned()]).unwrap();
    let cacert = folder.write("b.pem", made.cert.pem());
    let other = tls_peer(&made, None);
    let mine = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(mine.cert.der().clone()).unwrap();
    let strict = tls_peer(&mine, Some(roots));
    let plain = format!("https://{}/", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    say(&[
        (
            &["get", &other],
            4,
            "GET https://127.0.0.1:PORT/: certificate not trusted: unknown issuer (use --cacert FILE to trust its CA)",
        ),
        (
            &["get", "--cacert", &cacert, &other],
            4,
            "GET https://127.0.0.1:PORT/: certificate not trusted: it is not for 127.0.0.1, but for b.example",
        ),
        (
            &["get", "-k", &strict],
            4,
            "GET https://127.0.0.1:PORT/: the server asks for a client certificate, and was given none (use --cert FILE)",
        ),
        (
            &["get", "-k", &plain],
            4,
            "GET https://127.0.0.1:PORT/: the server does not speak TLS on this port (http:// goes without TLS)",
        ),
    ]);
}

/// A head of so many fields with values of so many bytes.
fn head_of(fields: usize, value: usize) -> &'static [u8] {
    let line = format!("a: {}\r\n", "x".repeat(value));
    format!("HTTP/1.1 200 OK\r\n{}content-length: 2\r\n\r\nok", line.repeat(fields)).into_bytes().leak()
}

/// The frames of a response of HTTP/2 with so many fields, of which each counts as 153.
fn frames_of(fields: usize) -> &'static [u8] {
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        frame.extend([kind, flags, 0, 0, 0, stream]);
        frame.extend(payload);
        frame
    };
    let field = [&[0, 1, b'a', 120][..], &[b'x'; 120]].concat();
    let block = [vec![0x88], field.repeat(fields)].concat();
    let mut sent = [frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat();
    let last = block.chunks(16_384).count() - 1;
    for (number, fragment) in block.chunks(16_384).enumerate() {
        let kind = if number == 0 { 1 } else { 9 };
        let flags = u8::from(number == 0) | if number == last { 4 } else { 0 };
        sent.extend(frame(kind, flags, 1, fragment));
    }
    sent.leak()
}

#[test]
fn heads_beyond_what_is_taken_name_the_flag() {
    for (fields, value) in [(1, 1_000_000), (4_500, 150)] {
        assert_eq!(run(&["get", &answering(head_of(fields, value))]).expect(0).text(), "ok");
    }
    let large = answering(head_of(6_000, 200));
    let ended = run(&["get", &large]).expect(5);
    assert!(ended.stderr.contains("; 5000 are taken (--max-header-size takes more)"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("Limits::"), "{}", ended.stderr);
    assert_eq!(run(&["get", "--max-header-size", "2M", &large]).expect(0).text(), "ok");
    let ended = run(&["get", "--max-header-size", "8k", &answering(head_of(1, 9000))]).expect(5);
    assert!(ended.stderr.contains("; 8192 are taken (--max-header-size takes more)"), "{}", ended.stderr);

    let by_http2 = |flags: &[&str], fields: usize| {
        let url = hanging(frames_of(fields));
        run(&[&["get", "--http2-prior-knowledge", "--exit-codes=alula"], flags, &[&url]].concat())
    };
    by_http2(&[], 4_500).expect(0);
    let ended = by_http2(&["--max-header-size", "20k"], 200).expect(5);
    assert!(ended.stderr.contains("; 20480 are taken (--max-header-size takes more)"), "{}", ended.stderr);
    run(&["get", "--max-header-size", "17M", "http://127.0.0.1:1/"]).expect(2);
}

/// A TLS server with this certificate that takes clients with one of these, or any; its URL.
fn tls_peer(made: &rcgen::CertifiedKey<rcgen::KeyPair>, clients: Option<RootCertStore>) -> String {
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let config = match clients {
        Some(roots) => {
            let verifier =
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
            config.with_client_cert_verifier(verifier)
        }
        None => config.with_no_client_auth(),
    };
    let config = Arc::new(config.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
    let address = peer(move |mut socket| {
        let mut session = ServerConnection::new(config.clone()).unwrap();
        while session.complete_io(&mut socket).is_ok_and(|(read, written)| read + written > 0) {}
        socket.shutdown(Shutdown::Write).unwrap();
        while socket.read(&mut [0; 1024]).is_ok_and(|bytes| bytes > 0) {}
    });
    format!("https://{address}/")
}
