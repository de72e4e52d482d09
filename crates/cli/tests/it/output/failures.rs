//! What the program says, and how it ends, when something is wrong: with its arguments, on the way, or with
//! the peer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::support::{Echo, Folder, PATIENCE, run};

#[test]
fn arguments_that_make_no_sense_are_code_2() {
    for args in [
        &[][..],
        &["fetch"],
        &["get"],
        &["get", "--nothing", "https://a/"],
        &["get", "-d", "x", "https://a/"],
        &["get", "-H", "no colon", "https://a/"],
        &["get", "-H", "a b: c", "https://a/"],
        &["get", "--max-time=-1", "https://a/"],
        &["get", "not a url"],
        &["get", "https://a/", "b=c"],
        &["get", "https://a/", "-T", "b"],
        &["get", "https://a/", "-O"],
        &["get", "https://a/..%2Fb/..%2fc\\d", "-o", "-", "-O", "https://a/b/"],
        &["get", "https://a/", "-C", "-"],
        &["get", "https://a/", "-p", "x"],
        &["get", "https://a/", "-u", "name"],
        &["post", "https://a/", "nothing"],
        &["post", "https://a/", "a:={"],
        &["post", "https://a/", "a=b", "-d", "c"],
        &["post", "https://a/", "a@b"],
        &["request"],
        &["completions", "tcl"],
        &["man", "fetch"],
        &["get", "ftp://a/"],
        &["echo", "--listen", "nowhere:port"],
        &["echo", "--cert", "a.pem"],
        &["echo", "--cert", "a.pem", "--key", "b.pem", "--self-signed"],
        &["demo", "--seconds", "0"],
        &["hpack", "pope"],
    ] {
        let ended = run(args).expect(2);
        assert!(!ended.stderr.is_empty() && ended.stdout.is_empty(), "{args:?}");
    }
}

/// A key in the place of a certificate is the usual mistake; the library knows no files and no flags.
#[test]
fn a_certificate_that_is_none_is_told_by_the_flag() {
    let folder = Folder::new("cert-and-key");
    let made = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
    let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let other = folder.write("other.pem", other);
    let secret = folder.write(
        "secret.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    for (certificate, private, sentence) in [
        (
            &key,
            &key,
            format!("--cert {key}: it holds no certificate in PEM but a private key, which --key takes"),
        ),
        (
            &cert,
            &cert,
            format!("--key {cert}: it holds no private key in PEM but a certificate, which --cert takes"),
        ),
        (
            &cert,
            &other,
            format!("--cert {cert} and --key {other}: the private key does not belong to the certificate"),
        ),
        (
            &cert,
            &secret,
            format!(
                "--key {secret}: the private key has a password (openssl pkey -in FILE -out KEY writes it without)"
            ),
        ),
    ] {
        for command in ["serve", "echo"] {
            let ended =
                run(&[command, "--listen", "127.0.0.1:0", "--cert", certificate, "--key", private]).expect(2);
            assert_eq!(ended.stderr, format!("alula: {sentence}\n"));
        }
    }
    let ended = run(&["get", "https://127.0.0.1:1/", "--cert", &key, "--key", &key]).expect(2);
    assert_eq!(
        ended.stderr,
        format!("alula: {key}: it holds no certificate in PEM but a private key, which --key takes\n")
    );
}

#[test]
fn a_server_that_is_not_there_is_code_3_in_either_version() {
    for version in ["--http1.1", "--http2", "--http2-prior-knowledge"] {
        let ended = run(&["get", version, "HTTP://127.0.0.1:1/"]).expect(3);
        let said = "alula: GET http://127.0.0.1:1/: could not connect: connection refused (nothing listens on that port)\n";
        assert_eq!(ended.stderr, said);
    }
}

#[test]
fn a_request_that_must_not_be_sent_is_code_2() {
    let echo = Echo::start(&[]);
    for field in ["connection: close", "te: gzip", "transfer-encoding: chunked"] {
        let ended = echo.ask("get", "/", &["-H", field]).expect(2);
        assert!(ended.stderr.contains("RFC 9113 §8.2.2"), "{}", ended.stderr);
    }
    assert!(echo.ask("post", "/", &["-d", "@/no such file"]).expect(1).stderr.contains("/no such file"));
    assert!(
        echo.ask("get", "/", &["-o", "/no such folder/file"])
            .expect(1)
            .stderr
            .contains("/no such folder/file")
    );
}

#[test]
fn the_help_has_the_exit_codes_and_every_command() {
    let help = run(&["get", "--help"]).expect(0);
    for words in
        ["Exit codes:", " 0  the whole response", " 7  the connection ended", "--http2-prior-knowledge"]
    {
        assert!(help.text().contains(words), "{words}: {}", help.text());
    }
    let help = run(&["--help"]).expect(0);
    for command in [
        "get", "post", "put", "patch", "delete", "head", "options", "request", "echo", "hpack", "demo", "man",
    ] {
        assert!(help.text().contains(&format!("\n  {command} ")), "{command}: {}", help.text());
    }
}

#[test]
fn an_address_that_is_taken_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = run(&["echo", "--listen", &address]).expect(1);
    assert!(ended.stderr.contains(&address), "{}", ended.stderr);
}

#[test]
fn a_closed_port_is_code_3_and_who_posts_is_told_that_it_is_safe_to_try_again() {
    // Bound and dropped: nobody else is given this port so soon.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for url in [format!("http://127.0.0.1:{port}/"), format!("https://127.0.0.1:{port}/")] {
        let ended = run(&["get", "--http2-prior-knowledge", "-k", &url]).expect(3);
        assert_eq!(
            ended.stderr,
            format!(
                "alula: GET {url}: could not connect: connection refused (nothing listens on that port)\n"
            )
        );
        let ended = run(&["post", "--http2-prior-knowledge", "-k", &url, "-d", "x"]).expect(3);
        let said =
            "could not connect: connection refused; it was not carried out, and sending it again is safe\n";
        assert_eq!(ended.stderr, format!("alula: POST {url}: {said}"));
    }
}

#[test]
fn a_server_that_dies_in_the_middle_of_the_content_is_code_7() {
    let url = peer(|mut socket| {
        begin_answer(&mut socket);
        socket.write_all(&frame(0, 0, 1, b"half of")).unwrap();
    });
    let ended = run(&["get", "--http2-prior-knowledge", "--max-time", "50", &url]).expect(7);
    assert_eq!(ended.text(), "half of", "what came is there");
    // Whether its end comes before what it has not read is reset is for the system to say.
    assert!(ended.stderr.starts_with(&format!("alula: GET {url}: ")), "{}", ended.stderr);
    assert!(ended.stderr.contains("reading the content: "), "{}", ended.stderr);
}

#[test]
fn an_echo_that_is_killed_in_the_middle_of_the_content_is_code_7() {
    let mut echo = Echo::start(&[]);
    let folder = crate::support::Folder::new("killed");
    let file = format!("@{}", folder.write("data", crate::support::noise(32 * 1024 * 1024)));
    let args = ["post", "--http2-prior-knowledge", "--max-time", "50", &echo.http, "-d", &file];
    let mut child = crate::support::alula(&args).spawn().unwrap();
    crate::support::read_some(&mut child, 1024 * 1024);
    echo.child.kill().unwrap();
    crate::support::wait(child).expect(7);
}

#[test]
fn a_server_that_dies_before_its_answer_is_code_7() {
    let url = peer(|mut socket| {
        greet(&mut socket);
        await_request(&mut socket);
        // A FIN, and not the RST of a socket closed with something unread.
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        linger(&mut socket);
    });
    let ended = run(&["get", "--http2-prior-knowledge", "--max-time", "50", &url]).expect(7);
    assert!(ended.stderr.contains(": waiting for the response headers: the peer closed"), "{}", ended.stderr);
}

#[test]
fn a_peer_that_breaks_a_rule_is_code_5_and_the_rule_is_named() {
    type Case = (fn(&mut TcpStream), &'static str);
    let cases: [Case; 6] = [
        // RST_STREAM with INTERNAL_ERROR; REFUSED_STREAM would be tried again.
        (|socket| socket.write_all(&frame(3, 0, 1, &[0, 0, 0, 2])).unwrap(), "INTERNAL_ERROR"),
        // HEADERS with a name in upper case.
        (|socket| socket.write_all(&frame(1, 5, 1, b"\x88\x00\x01A\x00")).unwrap(), "RFC 9113 §8.2"),
        // HEADERS that are no HPACK.
        (|socket| socket.write_all(&frame(1, 5, 1, b"\x80")).unwrap(), "RFC 7541 §6.1"),
        // DATA on the connection as a whole.
        (|socket| socket.write_all(&frame(0, 0, 0, b"x")).unwrap(), "RFC 9113 §6.1"),
        // Content that does not add up.
        (|socket| socket.write_all(&frame(1, 5, 1, b"\x88\x0f\x0d\x013")).unwrap(), "content-length"),
        // GOAWAY that leaves the request out, for ever.
        (|socket| socket.write_all(&frame(7, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11])).unwrap(), "RFC 9113 §6.8"),
    ];
    for (breach, words) in cases {
        let url = peer(move |mut socket| {
            greet(&mut socket);
            await_request(&mut socket);
            breach(&mut socket);
            linger(&mut socket);
        });
        let ended = run(&["get", "--http2-prior-knowledge", "--max-time", "50", &url]).expect(5);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1);
    }
}

#[test]
fn a_peer_that_does_not_speak_http2_is_code_5() {
    let url = peer(|mut socket| {
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").unwrap();
        linger(&mut socket);
    });
    let ended = run(&["get", "--http2-prior-knowledge", "--max-time", "50", &url]).expect(5);
    assert!(ended.stderr.contains("RFC 9113"), "{}", ended.stderr);
}

#[test]
fn an_answer_of_http_1_1_that_is_cut_is_code_7_and_one_that_is_none_code_5() {
    for (answer, code) in [
        (&b""[..], 7),
        (b"HTTP/1.1 200 OK\r\nContent-", 7),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 7),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", 7),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhalf", 5),
        (b"SSH-2.0-OpenSSH_9.2\r\n", 5),
    ] {
        let url = peer(move |mut socket| {
            let mut head = [0; 4096];
            let _ = socket.read(&mut head).unwrap();
            socket.write_all(answer).unwrap();
        });
        let ended = run(&["get", "--max-time", "50", &url]).expect(code);
        assert!(ended.stderr.contains("(RFC 9112 ") || answer.is_empty(), "{}", ended.stderr);
    }
}

#[test]
fn a_peer_that_does_not_speak_tls_is_code_4() {
    let url = peer(|mut socket| {
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        linger(&mut socket);
    });
    let ended = run(&["get", "-k", "--max-time", "50", &url.replace("http:", "https:")]).expect(4);
    assert!(
        ended.stderr.ends_with(": the server does not speak TLS on this port (http:// goes without TLS)\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_server_without_the_version_asked_for_is_code_5_and_the_error_names_alpn() {
    for protocols in [&[][..], &[&b"http/1.1"[..]]] {
        let url = peer_of_tls(protocols);
        let ended = run(&["get", "--http2-prior-knowledge", "-k", "--max-time", "50", &url]).expect(5);
        assert!(ended.stderr.contains("ALPN"), "{}", ended.stderr);
    }
}

#[test]
fn a_peer_that_is_silent_is_code_6() {
    let greeting: [fn(&mut TcpStream); 3] = [|_| {}, greet, begin_answer];
    for greeting in greeting {
        let url = peer(move |mut socket| {
            greeting(&mut socket);
            linger(&mut socket);
        });
        for url in [url.clone(), url.replace("http:", "https:")] {
            let ended = run(&["get", "--http2-prior-knowledge", "-k", "--max-time", "0.3", &url]);
            // Over TLS what it says is no TLS.
            assert!(ended.code == Some(6) || url.starts_with("https:") && ended.code == Some(4), "{ended:?}");
            assert!(
                ended.code == Some(4) || ended.stderr.contains("timed out after 0.3 s "),
                "{}",
                ended.stderr
            );
        }
    }
}

/// A server for any number of connections, each handled by `talk`; its URL.
fn peer(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, talk) = (socket.unwrap(), talk.clone());
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            // A small write that waits for an acknowledgment would be lost when the socket is dropped.
            socket.set_nodelay(true).unwrap();
            thread::spawn(move || talk(socket));
        }
    });
    url
}

/// TLS that ends without close_notify may have been cut by anyone on the path: what says its own end is
/// whole, other content is not.
#[test]
fn content_that_tls_does_not_end_is_code_7() {
    for (field, code, curls) in [("", 7, 18), ("content-length: 5\r\n", 0, 0)] {
        let answer = format!("HTTP/1.1 200 OK\r\n{field}\r\nhello");
        let url = peer_over_tls(&[b"http/1.1"], move |session, socket| {
            let mut stream = rustls::Stream::new(session, socket);
            stream.read_exact(&mut [0; 16]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            stream.sock.shutdown(Shutdown::Write).unwrap();
            linger(socket);
        });
        let ended = run(&["get", "-k", &url]).expect(code);
        assert_eq!(
            (ended.text(), ended.stderr.contains("close_notify")),
            ("hello", code != 0),
            "{}",
            ended.stderr
        );
        assert_eq!(run(&["get", "-k", "--exit-codes", "curl", &url]).expect(curls).text(), "hello");
    }
}

/// A TLS server that agrees to these protocols only, and does nothing after the handshake; its URL.
fn peer_of_tls(protocols: &[&[u8]]) -> String {
    peer_over_tls(protocols, |session, socket| {
        // The client ends it, in its way.
        while session.complete_io(socket).is_ok_and(|(read, written)| read + written > 0) {}
    })
}

/// A TLS server that agrees to these protocols only, each connection of which is handled by `talk`; its URL.
fn peer_over_tls(
    protocols: &[&[u8]],
    talk: impl Fn(&mut rustls::ServerConnection, &mut TcpStream) + Send + Sync + 'static,
) -> String {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let config = Arc::new(config);
    let url = peer(move |mut socket| {
        talk(&mut rustls::ServerConnection::new(config.clone()).unwrap(), &mut socket);
    });
    url.replace("http:", "https:")
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// SETTINGS, and those of the client acknowledged.
fn greet(socket: &mut TcpStream) {
    let frames = [frame(4, 0, 0, &[]), frame(4, 1, 0, &[])].concat();
    socket.write_all(&frames).unwrap();
}

/// Reads until HEADERS have come.
fn await_request(socket: &mut TcpStream) {
    let mut preface = [0; 24];
    socket.read_exact(&mut preface).unwrap();
    loop {
        let mut header = [0; 9];
        socket.read_exact(&mut header).unwrap();
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        socket.read_exact(&mut vec![0; length as usize]).unwrap();
        if header[3] == 1 {
            return;
        }
    }
}

/// The head of an answer, `:status` 200, to the first request.
fn begin_answer(socket: &mut TcpStream) {
    greet(socket);
    await_request(socket);
    socket.write_all(&frame(1, 4, 1, &[0x88])).unwrap();
}

/// Stays until the client has gone.
fn linger(socket: &mut TcpStream) {
    let mut rest = [0; 1024];
    while socket.read(&mut rest).is_ok_and(|bytes| bytes > 0) {}
}

#[test]
fn the_codes_of_curl_are_there_for_scripts_that_know_them() {
    let echo = Echo::start(&["--self-signed"]);
    let https = echo.https.as_deref().unwrap();
    let missing = crate::support::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    let cut = crate::support::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
    for (args, code) in [
        (&["get", &*echo.http][..], 0),
        (&["get", "ftp://a/"], 1),
        (&["get", "http://127.0.0.1:1/"], 7),
        (&["get", &cut], 18),
        (&["get", "-f", &missing], 22),
        (&["get", &echo.http, "-o", "/no such folder/file"], 23),
        (&["get", https], 60),
        (&["get", &crate::support::answering("")], 52),
    ] {
        run(&[args, &["--exit-codes", "curl"]].concat()).expect(code);
    }
}
