//! The next address of a host whose first one takes a connection and breaks off before it is of use: in the
//! handshake of TLS, with the server or with a proxy, or while a proxy is asked for a way.

use std::{net::SocketAddr, sync::Arc, sync::Mutex, time::Duration};

use alula_client::{Cause, Client, ClientBuilder, Error, ExchangeEvent, Phase, Proxy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use crate::connecting::secure::Authority;
use crate::support::peer::{Heads, answer, closed, get};
use crate::support::relay::{socks, tunnels};

/// The conduct of a first address.
#[derive(Clone, Copy, Debug)]
enum Conduct {
    /// It closes at once.
    Closes,
    /// It closes when it has heard something.
    ClosesThen,
    /// It resets the connection.
    Resets,
    /// It says something that is none of what is asked for.
    Babbles,
    /// It sends this alert of TLS.
    Alerts(u8),
    /// It says nothing.
    IsSilent,
}

/// The alert of a server that fails by itself (RFC 8446 §6.2).
const INTERNAL_ERROR: u8 = 80;

const BREAK_OFF: [Conduct; 5] = [
    Conduct::Closes,
    Conduct::ClosesThen,
    Conduct::Resets,
    Conduct::Babbles,
    Conduct::Alerts(INTERNAL_ERROR),
];

/// An address that behaves so, and the number of connections that came there.
async fn address(conduct: Conduct) -> (SocketAddr, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (come, came) = watch::channel(0);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            come.send_modify(|came| *came += 1);
            held.extend(behave(socket, conduct).await);
        }
    });
    (address, came)
}

/// Returns the connection if it is kept.
async fn behave(mut socket: TcpStream, conduct: Conduct) -> Option<TcpStream> {
    let mut heard = [0; 16 * 1024];
    match conduct {
        Conduct::Closes => None,
        Conduct::ClosesThen => socket.read(&mut heard).await.ok().and(None),
        Conduct::Resets => {
            let _ = socket.read(&mut heard).await;
            socket.set_zero_linger().unwrap();
            None
        }
        Conduct::Babbles => {
            let _ = socket.write_all(b"220 welcome\r\n").await;
            // It is the other end that goes.
            while socket.read(&mut heard).await.is_ok_and(|bytes| bytes > 0) {}
            None
        }
        Conduct::Alerts(alert) => {
            let _ = socket.read(&mut heard).await;
            let _ = socket.write_all(&[21, 3, 3, 0, 2, 2, alert]).await;
            None
        }
        Conduct::IsSilent => Some(socket),
    }
}

/// A server of this configuration.
async fn serve(config: ServerConfig) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let (kept, acceptor) = (heads.clone(), TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (kept, acceptor) = (kept.clone(), acceptor.clone());
            tokio::spawn(async move {
                // The client may have found another way first.
                let Ok(stream) = acceptor.accept(socket).await else { return };
                answer(stream, kept).await;
            });
        }
    });
    (address, heads)
}

fn trusting(authority: &Authority) -> ClientBuilder {
    Client::builder().no_proxy().add_roots_pem(authority.pem().as_bytes()).unwrap()
}

#[tokio::test]
async fn an_address_that_breaks_off_in_the_handshake_is_followed_by_the_next() {
    let authority = Authority::new();
    let (good, _) = serve(authority.server("a.example")).await;
    for conduct in BREAK_OFF {
        let (bad, came) = address(conduct).await;
        let client = trusting(&authority).resolve("a.example", 443, [bad, good]).build().unwrap();
        let answer = get(&client, "https://a.example/").await;
        assert_eq!(answer.unwrap_or_else(|error| error.to_string()), "hello", "{conduct:?}");
        assert_eq!(*came.borrow(), 1, "{conduct:?}");
    }
}

/// The first one has a part of the time that there is, and is waited for on while the next is tried.
#[tokio::test]
async fn an_address_that_is_silent_in_the_handshake_is_followed_by_the_next_in_time() {
    let authority = Authority::new();
    let (good, _) = serve(authority.server("a.example")).await;
    for limit in [false, true] {
        let (silent, came) = address(Conduct::IsSilent).await;
        let builder = trusting(&authority).resolve("a.example", 443, [silent, good]);
        let client = match limit {
            // Half of four seconds.
            false => builder.connect_timeout(Duration::from_secs(4)),
            true => builder.connect_timeout(Duration::MAX).handshake_timeout(Duration::from_millis(50)),
        };
        let answer = get(&client.build().unwrap(), "https://a.example/").await;
        assert_eq!(answer.unwrap_or_else(|error| error.to_string()), "hello", "{limit}");
        assert_eq!(*came.borrow(), 1);
    }
}

#[tokio::test]
async fn when_every_address_breaks_off_all_are_named() {
    let authority = Authority::new();
    let refuses = closed().await;
    let ((closes, _), (babbles, _)) = (address(Conduct::ClosesThen).await, address(Conduct::Babbles).await);
    let addresses = [refuses, closes, babbles];
    let client = trusting(&authority).resolve("a.example", 443, addresses).build().unwrap();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Handshake);
    let tried: Vec<_> = error.tried().iter().map(|attempt| attempt.address).collect();
    assert_eq!(tried, addresses);
    assert_eq!(
        error.to_string(),
        format!(
            "GET https://a.example/: the TLS handshake was broken off: unexpected end of file; \
             tried {refuses} (connection refused), {closes} (unexpected end of file) or {babbles} (invalid data)"
        )
    );
    let (silent, _) = address(Conduct::IsSilent).await;
    let builder = trusting(&authority).resolve("a.example", 443, [silent, closes]);
    let client = builder.connect_timeout(Duration::from_millis(100)).build().unwrap();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert!(error.is_timeout() || matches!(error.cause(), Cause::Io(..)), "{error}");
    let tried: Vec<_> = error.tried().iter().map(|attempt| attempt.address).collect();
    assert_eq!(tried, [silent, closes]);
}

/// One address of a host that is trusted does not make up for another that is not: that is for people to see.
#[tokio::test]
async fn an_address_that_is_not_trusted_or_does_not_want_us_is_the_last_one_tried() {
    let (authority, other) = (Authority::new(), Authority::new());
    let (good, heads) = serve(authority.server("a.example")).await;
    for (config, sentence) in [
        (other.server("a.example"), "certificate not trusted: "),
        (
            authority.server("b.example"),
            "certificate not trusted: it is not for a.example, but for b.example",
        ),
    ] {
        let (bad, _) = serve(config).await;
        let client = trusting(&authority).resolve("a.example", 443, [bad, good]).build().unwrap();
        let error = get(&client, "https://a.example/").await.unwrap_err().to_string();
        assert!(error.contains(sentence), "{sentence}: {error}");
    }
    // Nothing in common, our certificate, one that is missing, access, the name, the version, the protocol.
    for alert in [40, 42, 46, 116, 49, 112, 70, 120] {
        let (bad, came) = address(Conduct::Alerts(alert)).await;
        let client = trusting(&authority).resolve("a.example", 443, [bad, good]).build().unwrap();
        let error = get(&client, "https://a.example/").await.unwrap_err();
        assert_eq!((error.phase(), *came.borrow()), (Phase::Handshake, 1), "{alert}: {error}");
    }
    assert!(heads.take().is_empty(), "the next address was asked");
}

#[tokio::test]
async fn observers_are_told_of_each_address() {
    let authority = Authority::new();
    let ((good, _), (bad, _)) =
        (serve(authority.server("a.example")).await, address(Conduct::ClosesThen).await);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = told.clone();
    let note = move |event: &ExchangeEvent<'_>| {
        let line = match event {
            ExchangeEvent::Connecting(address) => format!("connecting {address}"),
            ExchangeEvent::NotConnected(address, error) => format!("not connected {address}: {error}"),
            ExchangeEvent::Connected(facts) => format!("connected {}", facts.remote_address().unwrap()),
            _ => return,
        };
        noted.lock().unwrap().push(line);
    };
    let builder = trusting(&authority).resolve("a.example", 443, [bad, good]).observe(note);
    let mut response = builder
        .build()
        .unwrap()
        .get("https://a.example/")
        .timed()
        .send()
        .await
        .expect("the next one answers");
    while response.body().chunk().await.unwrap().is_some() {}
    assert_eq!(
        *told.lock().unwrap(),
        [
            format!("connecting {bad}"),
            format!("not connected {bad}: the TLS handshake was broken off: unexpected end of file"),
            format!("connecting {good}"),
            format!("connected {good}"),
        ]
    );
    let timing = response.timing().unwrap();
    assert!(timing.connected.is_some() && timing.connected <= timing.secured, "{timing:?}");
}

/// A client of this proxy, which has these addresses.
fn behind(proxy: &str, addresses: [SocketAddr; 2], authority: &Authority) -> Client {
    let builder = Client::builder().add_roots_pem(authority.pem().as_bytes()).unwrap();
    let builder = builder.proxy(Proxy::all(&format!("{proxy}://between.example:7")).unwrap());
    builder
        .resolve("between.example", 7, addresses)
        .resolve("a.example", 443, [addresses[1]])
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_proxy_that_breaks_off_is_asked_at_its_next_address() {
    let authority = Authority::new();
    let (origin, _) = serve(authority.server("a.example")).await;
    let (secure_proxy, _) = tunnels(origin, Some(authority.server("between.example"))).await;
    let (requests_proxy, _) = serve(authority.server("between.example")).await;
    let ((plain_proxy, _), (socks_proxy, _)) = (tunnels(origin, None).await, socks(origin, None).await);
    for (scheme, good, url) in [
        ("https", secure_proxy, "https://a.example/"),
        ("https", requests_proxy, "http://a.example/"),
        ("http", plain_proxy, "https://a.example/"),
        ("socks5", socks_proxy, "https://a.example/"),
        ("socks5h", socks_proxy, "https://a.example/"),
    ] {
        // A SOCKS proxy that speaks something else is none, as the error says.
        let conducts = if scheme.starts_with("socks") { 2 } else { 3 };
        for conduct in [Conduct::ClosesThen, Conduct::Resets, Conduct::Babbles].into_iter().take(conducts) {
            let (bad, came) = address(conduct).await;
            let answer = get(&behind(scheme, [bad, good], &authority), url).await;
            let row = format!("{scheme} {url} {conduct:?}");
            assert_eq!(answer.unwrap_or_else(|error| error.to_string()), "hello", "{row}");
            assert_eq!(*came.borrow(), 1, "{row}");
        }
    }
}

/// The proxy has led to the first address of the host, which breaks off: it is asked for the next one.
#[tokio::test]
async fn a_socks_proxy_is_asked_for_the_next_address_of_the_host() {
    let authority = Authority::new();
    let ((good, _), (bad, _)) =
        (serve(authority.server("a.example")).await, address(Conduct::ClosesThen).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                socket.read_exact(&mut [0; 3]).await.unwrap();
                socket.write_all(b"\x05\0").await.unwrap();
                let mut asked = [0; 10];
                socket.read_exact(&mut asked).await.unwrap();
                socket.write_all(b"\x05\0\0\x01\0\0\0\0\0\0").await.unwrap();
                let port = u16::from_be_bytes([asked[8], asked[9]]);
                let mut to = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut socket, &mut to).await;
            });
        }
    });
    let builder = Client::builder().add_roots_pem(authority.pem().as_bytes()).unwrap();
    let builder = builder.proxy(Proxy::all(&format!("socks5://{proxy}")).unwrap());
    let client = builder.resolve("a.example", 443, [bad, good]).build().unwrap();
    let answer: Result<String, Error> = get(&client, "https://a.example/").await;
    assert_eq!(answer.unwrap_or_else(|error| error.to_string()), "hello");
}
