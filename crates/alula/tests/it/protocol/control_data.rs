//! A handler sees control data that it can rely on: a method that only looks like HEAD is another method (RFC
//! 9110 §9.1), the scheme is that of the connection and no claim of the peer, and the authority is there
//! however it was sent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use alula::fields::{Head, RequestHead};
use alula::machine::{OutBuf, Time};
use alula::testing::TestServer;
use alula::{Client, Error, Exchange, FieldSection, Identity, Sent, Server, ServerBuilder, Status, h2};

/// Answers with method, scheme, claimed scheme and authority.
async fn describe(exchange: Exchange) -> Result<Sent, Error> {
    let request = exchange.request();
    let parts = [request.scheme(), request.claimed_scheme(), request.authority()];
    let parts = parts.map(|part| part.unwrap_or("-"));
    let text = format!("{} {}", request.method(), parts.join(" "));
    exchange.respond(Status::OK).send(text.as_bytes()).await
}

/// A server with these settings, on a thread of its own.
fn serve(settings: impl FnOnce(ServerBuilder) -> ServerBuilder + Send + 'static) -> SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let server = settings(Server::builder()).bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap()).unwrap();
            server.serve(describe).await.unwrap();
        });
    });
    told.recv().unwrap()
}

/// The first line and the content of the answer to these bytes.
fn http1(server: SocketAddr, request: &str) -> (String, String) {
    let mut socket = TcpStream::connect(server).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, content) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), content.to_owned())
}

/// The status and the content of the answer to this head.
fn http2(server: SocketAddr, head: &RequestHead<'_>) -> (Status, String) {
    let mut socket = TcpStream::connect(server).unwrap();
    let (mut machine, mut out) = (h2::Connection::client(h2::Config::default()), OutBuf::new());
    machine.send_request(head, true, &mut out).unwrap();
    machine.poll_transmit(Time::ZERO, &mut out);
    socket.write_all(out.unsent()).unwrap();
    let (mut status, mut content, mut input) = (Status::OK, Vec::new(), Vec::new());
    loop {
        let received = machine.receive(&input, Time::ZERO).unwrap();
        let is_done = match received.event {
            Some(h2::Event::Head { stream, end }) => {
                let mut answer = Head::new();
                machine.take_head(stream, &mut answer).unwrap();
                status = answer.status().unwrap();
                end
            }
            Some(h2::Event::Data { bytes, end, .. }) => {
                content.extend_from_slice(bytes);
                end
            }
            Some(_) => false,
            None => {
                let mut more = [0; 4096];
                let bytes = socket.read(&mut more).unwrap();
                assert!(bytes > 0, "the answer ends too early");
                input.extend_from_slice(&more[..bytes]);
                continue;
            }
        };
        let consumed = received.consumed;
        input.drain(..consumed);
        if is_done {
            return (status, String::from_utf8(content).unwrap());
        }
    }
}

fn get<'a>(scheme: &'a str, authority: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method: "GET", scheme, authority, path: "/", protocol: None, fields }
}

/// `head` was answered 500: the reply held it for HEAD and left the content out, and the machine waited for
/// it.
#[test]
fn methods_are_case_sensitive() {
    let server = serve(|server| server);
    for method in ["head", "Head", "get", "connect", "HEADx"] {
        let request = format!("{method} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        let expected = format!("{method} http http a");
        assert_eq!(http1(server, &request), ("HTTP/1.1 200 OK".to_owned(), expected.clone()), "{method}");
        let none = FieldSection::new();
        let answer = http2(server, &RequestHead { method, ..get("http", "a", &none) });
        assert_eq!(answer, (Status::OK, expected), "{method}");
    }
    let request = "HEAD / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    assert_eq!(http1(server, request), ("HTTP/1.1 200 OK".to_owned(), String::new()));
}

#[test]
fn the_scheme_is_that_of_the_connection() {
    let server = serve(|server| server);
    let none = FieldSection::new();
    for claimed in ["http", "https", "javascript", "HTTPS"] {
        let (_, seen) = http2(server, &get(claimed, "a", &none));
        assert_eq!(seen, format!("GET http {claimed} a"));
    }
    for (target, claimed) in [("/", "http"), ("http://a/", "http"), ("https://a/", "https")] {
        let request = format!(
            "GET {target} HTTP/1.1\r\nhost: a\r\nx-forwarded-proto: https\r\nconnection: close\r\n\r\n"
        );
        assert_eq!(http1(server, &request).1, format!("GET http {claimed} a"), "{target}");
    }
}

#[tokio::test]
async fn the_scheme_over_tls_is_https() {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let certificate = identity.certificate_pem().unwrap().to_owned();
    let port = serve(move |server| server.identity(identity)).port();
    for http1 in [false, true] {
        let builder = Client::builder().add_roots_pem(certificate.as_bytes()).unwrap();
        let client = if http1 { builder.http1_only() } else { builder }.build().unwrap();
        let url = format!("https://localhost:{port}/");
        let mut response = client.get(&url).header("x-forwarded-proto", "http").send().await.unwrap();
        let seen = response.body().chunk().await.unwrap().unwrap().to_vec();
        assert_eq!(String::from_utf8(seen).unwrap(), format!("GET https https localhost:{port}"));
    }
}

#[test]
fn a_trusted_proxy_says_what_its_client_spoke() {
    let trusted = serve(|server| server.trusted_proxies(|address| address.is_loopback()));
    let others = serve(|server| server.trusted_proxies(|address| !address.is_loopback()));
    for (server, forwarded, scheme) in [
        (trusted, &["https"][..], "https"),
        (trusted, &["HTTPS"], "https"),
        (trusted, &["http"], "http"),
        (trusted, &[], "http"),
        (trusted, &["javascript"], "http"),
        (trusted, &["https, http"], "http"),
        (trusted, &["https", "http"], "http"),
        (others, &["https"], "http"),
    ] {
        let mut fields = FieldSection::new();
        forwarded.iter().for_each(|value| fields.append("x-forwarded-proto", *value).unwrap());
        let (_, seen) = http2(server, &get("http", "a", &fields));
        assert_eq!(seen, format!("GET {scheme} http a"), "{forwarded:?}");
        let lines: String = forwarded.iter().map(|value| format!("x-forwarded-proto: {value}\r\n")).collect();
        let request = format!("GET / HTTP/1.1\r\nhost: a\r\n{lines}connection: close\r\n\r\n");
        assert_eq!(http1(server, &request).1, format!("GET {scheme} http a"), "{forwarded:?}");
    }
}

#[tokio::test]
async fn a_trusted_proxy_says_what_its_client_asked_for() {
    async fn answer(exchange: Exchange) -> Result<Sent, Error> {
        let authority = exchange.request().client_authority().unwrap_or("-").to_owned();
        exchange.respond(Status::OK).send(authority).await
    }
    for is_trusted in [true, false] {
        let builder = Server::builder().trusted_proxies(move |_| is_trusted);
        let server = TestServer::with(builder, answer);
        for client in [server.client(), server.http2().client()] {
            for (forwarded, seen) in [
                (&["b.example:81"][..], "b.example:81"),
                (&["[2001:db8::1]"], "[2001:db8::1]"),
                (&[], "test"),
                (&[""], "test"),
                (&["b.example, c.example"], "test"),
                (&["b.example", "c.example"], "test"),
                (&["user@b.example"], "test"),
                (&["b.example/path"], "test"),
                (&["b.example:99999"], "test"),
                (&["b\u{f6}se.example"], "test"),
            ] {
                let call = client.get("http://test/");
                let call = forwarded.iter().fold(call, |call, value| call.header("x-forwarded-host", *value));
                let told = call.send().await.unwrap().text().await.unwrap();
                assert_eq!(told, if is_trusted { seen } else { "test" }, "{forwarded:?}");
            }
        }
    }
}

/// Over HTTP/2 only `:authority` was shown, though HTTP/2 lets a request that comes from HTTP/1.1 have `host`
/// in its place (RFC 9113 §8.3.1).
#[test]
fn the_authority_may_be_said_by_host() {
    let server = serve(|server| server);
    let mut host = FieldSection::new();
    host.append("host", "b.example:81").unwrap();
    assert_eq!(http2(server, &get("http", "", &host)).1, "GET http http b.example:81");
    assert_eq!(http2(server, &get("http", "b.example:81", &host)).1, "GET http http b.example:81");
    assert_eq!(http2(server, &get("http", "", &FieldSection::new())).1, "GET http http -");
    let request = "GET / HTTP/1.1\r\nhost: b.example:81\r\nconnection: close\r\n\r\n";
    assert_eq!(http1(server, request).1, "GET http http b.example:81");
}
