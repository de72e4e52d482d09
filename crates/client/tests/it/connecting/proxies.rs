//! HTTP proxies: requests sent to them, and tunnels through them.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula_client::{
    Cause, Client, ClientBuilder, Destination, Error, ExchangeEvent, Phase, Proxy, Retry, Transport,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::connecting::secure::Authority;
use crate::support::peer::{Heads, answer, closed, get, head, listen};
use crate::support::relay::{says, tunnels, tunnels_behind};

/// A client of this proxy, which looks nobody up but the proxy.
fn through(proxy: &str, at: SocketAddr) -> ClientBuilder {
    let only_the_proxy = move |host: &str, _| {
        let found =
            if host == "between.example" { Ok(vec![at]) } else { Err(io::ErrorKind::NotFound.into()) };
        async { found }
    };
    Client::builder().proxy(Proxy::all(proxy).unwrap()).resolver(only_the_proxy)
}

/// An origin that speaks TLS.
async fn secure_origin(authority: &Authority) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let (kept, acceptor) = (heads.clone(), TlsAcceptor::from(Arc::new(authority.server("a.example"))));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (kept, acceptor) = (kept.clone(), acceptor.clone());
            tokio::spawn(async move { answer(acceptor.accept(socket).await.unwrap(), kept).await });
        }
    });
    (address, heads)
}

#[tokio::test]
async fn requests_in_clear_text_are_sent_to_the_proxy() {
    let (at, heads) = listen().await;
    let client = through("http://user:secret@between.example:3128", at).build().unwrap();
    assert_eq!(get(&client, "http://a.example/path?query").await.unwrap(), "hello");
    assert_eq!(get(&client, "http://a.example:8080/").await.unwrap(), "hello");
    let prepared =
        client.prepare(alula_fields::Method::Get, "http://a.example/again").unwrap().build().unwrap();
    client.call(&prepared).send().await.unwrap();
    let heads: Vec<_> = heads.take().iter().map(|head| head.to_ascii_lowercase()).collect();
    let rest = concat!(
        "user-agent: alula/",
        env!("CARGO_PKG_VERSION"),
        "\r\nproxy-authorization: basic dxnlcjpzzwnyzxq=\r\n\r\n"
    );
    assert_eq!(
        heads,
        [
            format!("get http://a.example/path?query http/1.1\r\nhost: a.example\r\n{rest}"),
            format!("get http://a.example:8080/ http/1.1\r\nhost: a.example:8080\r\n{rest}"),
            format!("get http://a.example/again http/1.1\r\nhost: a.example\r\n{rest}"),
        ]
    );
}

#[tokio::test]
async fn requests_go_to_a_proxy_over_tls() {
    let authority = Authority::new();
    let (heads, acceptor) =
        (Heads::default(), TlsAcceptor::from(Arc::new(authority.server("between.example"))));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let kept = heads.clone();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        answer(acceptor.accept(socket).await.unwrap(), kept).await;
    });
    let builder = through("https://between.example", at);
    let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
    assert_eq!(get(&client, "http://a.example/").await.unwrap(), "hello");
    assert!(heads.take()[0].starts_with("GET http://a.example/ HTTP/1.1\r\n"));
}

#[tokio::test]
async fn tls_goes_through_tunnels() {
    let authority = Authority::new();
    let (origin, asked) = secure_origin(&authority).await;
    for (scheme, tls) in [("http", None), ("https", Some(authority.server("between.example")))] {
        let (at, heads) = tunnels(origin, tls).await;
        let builder = through(&format!("{scheme}://user:secret@between.example"), at);
        let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
        for _ in 0..2 {
            assert_eq!(get(&client, "https://a.example/path").await.unwrap(), "hello");
        }
        let head = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n\r\n";
        assert_eq!(heads.take(), [head], "the tunnel is used again");
        let asked = asked.take();
        assert!(asked[0].starts_with("GET /path HTTP/1.1\r\n") && !asked[0].contains("Proxy-"), "{asked:?}");
    }
}

/// What a proxy says about content where there is none is ignored (RFC 9110 §9.3.6): such tunnels failed.
#[tokio::test]
async fn fields_that_frame_content_do_not_close_a_tunnel() {
    let authority = Authority::new();
    let (origin, _) = secure_origin(&authority).await;
    for answer in [
        "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 x\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n",
        "HTTP/1.1 200 x\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.0 200 Connection established\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 Connection established\r\nContent-Length: 0\r\n\r\n",
    ] {
        let (at, _) = tunnels_behind(origin, None, answer).await;
        let builder = through("http://between.example", at);
        let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
        assert_eq!(get(&client, "https://a.example/path").await.expect(answer), "hello");
    }
}

/// Content of some size, in TLS within TLS.
#[tokio::test]
async fn much_goes_through_a_tunnel_within_tls() {
    const BYTES: usize = 1_000_000;
    let authority = Authority::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(authority.server("a.example")));
    tokio::spawn(async move {
        let mut stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
        head(&mut stream).await.unwrap();
        let mut content = vec![0; BYTES];
        stream.read_exact(&mut content).await.unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {BYTES}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&content).await.unwrap();
        stream.flush().await.unwrap();
        let _ = stream.read(&mut [0]).await;
    });
    let (at, _) = tunnels(origin, Some(authority.server("between.example"))).await;
    let builder = through("https://between.example", at);
    let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
    let content: Vec<u8> = (0..BYTES).map(|at| (at / 5) as u8).collect();
    let mut response = client.post("https://a.example/").send_body(&content).await.unwrap();
    let mut received = Vec::new();
    while let Some(chunk) = response.body().chunk().await.unwrap() {
        received.extend_from_slice(chunk);
    }
    assert!(received == content, "the content is not what was sent");
}

#[tokio::test]
async fn a_proxy_that_refuses_a_tunnel_is_told_from_the_origin() {
    for (answer, status, retry) in [
        (&b"HTTP/1.1 407 Who?\r\ncontent-length: 0\r\n\r\n"[..], 407, Retry::Pointless),
        (b"HTTP/1.1 403 No\r\ncontent-length: 4\r\n\r\nnope", 403, Retry::Pointless),
        (b"HTTP/1.0 502 Bad\r\n\r\n", 502, Retry::Safe),
    ] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let notes = told.clone();
        let builder = through("http://between.example", says(answer).await).observe(
            move |event: &ExchangeEvent<'_>| {
                if let ExchangeEvent::Tunnelled(proxy, status) = event {
                    notes.lock().unwrap().push((proxy.to_string(), status.map(|status| status.as_u16())));
                }
            },
        );
        let client = builder.trust_anything().build().unwrap();
        let error = get(&client, "https://a.example/").await.unwrap_err();
        assert_eq!(told.lock().unwrap().first(), Some(&("between.example:80".to_owned(), Some(status))));
        assert!(matches!(error.cause(), Cause::ProxyStatus(found) if found.as_u16() == status), "{error}");
        assert_eq!((error.phase(), error.retry()), (Phase::Proxy, retry), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_proxy_is_found_out() {
    for answer in [&b"SSH-2.0-OpenSSH\r\n\r\n"[..], b"", b"HTTP/1.1 200 O", b"\x16\x03\x01\0\0"] {
        let is_told = Arc::new(AtomicBool::new(false));
        let note = is_told.clone();
        let builder = through("http://between.example", says(answer).await).observe(
            move |event: &ExchangeEvent<'_>| {
                note.fetch_or(matches!(event, ExchangeEvent::Tunnelled(..)), Relaxed);
            },
        );
        let client = builder.trust_anything().build().unwrap();
        let error = get(&client, "https://a.example/").await.unwrap_err();
        assert_eq!((error.phase(), error.is_retryable()), (Phase::Proxy, true), "{error}");
        assert!(!is_told.load(Relaxed), "no tunnel came of {answer:?}");
    }
    let dead = closed().await;
    for url in ["http://a.example/", "https://a.example/"] {
        let client = through("http://between.example", dead).trust_anything().build().unwrap();
        let error = get(&client, url).await.unwrap_err();
        assert_eq!((error.phase(), error.tried()[0].address), (Phase::Proxy, dead), "{error}");
    }
    let client = through("http://nobody.example", dead).build().unwrap();
    assert_eq!(get(&client, "http://a.example/").await.unwrap_err().phase(), Phase::Proxy);
}

#[tokio::test]
async fn a_proxy_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let builder = through("http://between.example", listener.local_addr().unwrap()).trust_anything();
    let client = builder.connect_timeout(Duration::from_millis(50)).build().unwrap();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert_eq!((error.phase(), error.is_timeout()), (Phase::Proxy, true), "{error}");
}

#[tokio::test]
async fn a_certificate_that_is_not_the_proxys_is_the_proxys_fault() {
    let authority = Authority::new();
    for url in ["http://a.example/", "https://a.example/"] {
        let (at, _) = tunnels(closed().await, Some(authority.server("other.example"))).await;
        let builder = through("https://between.example", at);
        let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
        let error = get(&client, url).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Tls(_)), "{error}");
        assert_eq!(error.phase(), Phase::Proxy, "{error}");
    }
}

/// A server of HTTP/2 may speak first: what it says comes with the end of the proxy's answer here.
#[tokio::test]
async fn bytes_after_the_answer_are_the_origins() {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    const ACKNOWLEDGED: &[u8] = &[0, 0, 0, 4, 1, 0, 0, 0, 0];
    const NO_CONTENT: &[u8] = &[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        assert!(head(&mut socket).await.unwrap().starts_with("CONNECT a.example:80 HTTP/1.1\r\n"));
        socket.write_all(&[b"HTTP/1.1 200 OK\r\n\r\n", SETTINGS].concat()).await.unwrap();
        let mut sent = Vec::new();
        // A frame of the kind HEADERS, to the end.
        while !sent.windows(9).any(|frame| frame[3..] == [1, 5, 0, 0, 0, 1]) {
            socket.read_buf(&mut sent).await.unwrap();
        }
        assert!(sent.starts_with(b"PRI * HTTP/2.0\r\n"));
        socket.write_all(&[ACKNOWLEDGED, NO_CONTENT].concat()).await.unwrap();
        let _ = socket.read_to_end(&mut sent).await;
    });
    let client = through("http://between.example", at).http2_prior_knowledge(true).build().unwrap();
    let response = client.get("http://a.example/").send().await.unwrap();
    assert_eq!(response.status().as_u16(), 204);
}

#[tokio::test]
async fn proxies_are_chosen_by_scheme_and_exceptions() {
    let ((direct, at_origin), (one, at_one), (other, at_other)) =
        (listen().await, listen().await, listen().await);
    let client = Client::builder()
        .proxy(Proxy::https(&format!("http://{one}")).unwrap())
        .proxy(Proxy::http(&format!("http://{one}")).unwrap().except("b.example, .c.example"))
        .proxy(Proxy::all(&format!("http://{other}")).unwrap().except("c.example:80"))
        .resolve("www.c.example", 80, [direct])
        .build()
        .unwrap();
    for (url, which) in [
        ("http://a.example/", &at_one),
        ("http://b.example/", &at_other),
        ("http://www.c.example/", &at_origin),
    ] {
        get(&client, url).await.unwrap();
        assert_eq!(which.take().len(), 1, "{url}");
    }
    assert!([at_one, at_other, at_origin].iter().all(|heads| heads.take().is_empty()));
}

#[tokio::test]
async fn a_connector_or_a_unix_socket_has_no_proxy() {
    let to_here = |_: &Destination| async {
        let (near, far) = tokio::io::duplex(100);
        tokio::spawn(answer(far, Heads::default()));
        Ok(Box::new(near) as Box<dyn Transport>)
    };
    let client = through("http://between.example", closed().await).connector(to_here).build().unwrap();
    assert_eq!(get(&client, "http://a.example/").await.unwrap(), "hello");
    #[cfg(unix)]
    {
        let builder = through("http://between.example", closed().await).unix_socket("/nowhere");
        let error: Error = get(&builder.build().unwrap(), "http://a.example/").await.unwrap_err();
        assert_eq!(error.phase(), Phase::Connect, "{error}");
    }
}

/// `keep-alive` is of the connection to the proxy, whichever origin is asked.
#[tokio::test]
async fn a_proxy_states_how_often_its_connection_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for connection in 1.. {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                for left in (0..2).rev() {
                    let Some(_) = head(&mut socket).await else { return };
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nkeep-alive: timeout=60, max={left}\r\ncontent-length: 1\r\n\r\n"
                    );
                    socket.write_all(format!("{head}{connection}").as_bytes()).await.unwrap();
                }
                // It is the client that goes.
                assert!(head(&mut socket).await.is_none());
            });
        }
    });
    let client = through("http://between.example", at).build().unwrap();
    let mut asked = Vec::new();
    for _ in 0..5 {
        asked.push(get(&client, "http://a.example/").await.unwrap());
    }
    assert_eq!(asked, ["1", "1", "2", "2", "3"]);
}
