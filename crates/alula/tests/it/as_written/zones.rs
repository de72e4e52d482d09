//! Zones of IPv6 addresses in URLs (RFC 6874, RFC 4007 §11): with them a connection leaves by an interface of
//! this machine, and the server is told nothing of it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use alula::{
    Cause, Client, ClientBuilder, Error, Exchange, ExchangeEvent, Phase, Proxy, Response, Sent, Server,
    Status,
};

use super::{blocking_client, said, said_at_once};

/// The loopback interface, which has the index 1.
const LOOPBACK: &str = if cfg!(target_os = "macos") { "lo0" } else { "lo" };

/// Says which host was asked for and over which connection, or leads elsewhere.
async fn say_host(exchange: Exchange) -> Result<Sent, Error> {
    let request = exchange.request();
    assert!(!request.headers().iter().any(|field| field.value().contains(&b'%')), "a zone is sent");
    let host = request.authority().unwrap_or_default().to_owned();
    let port = host.rsplit(':').next().unwrap_or_default();
    let to = match request.path() {
        "/who" => {
            let said = if request.headers().contains("authorization") { "known" } else { "unknown" };
            return exchange.respond(Status::OK).send(said).await;
        }
        "/relative" => "/x".to_owned(),
        "/same" => format!("http://{host}/x"),
        "/zoned" => format!("http://[::1%25{LOOPBACK}]:{port}/x"),
        "/bare" => format!("http://[::1%{LOOPBACK}]:{port}/x"),
        _ => {
            let said = format!("{host} {}", exchange.peer().port());
            return exchange.respond(Status::OK).send(said).await;
        }
    };
    exchange.respond(Status::FOUND).header("location", &*to).send("").await
}

/// A server on the loopback address of IPv6; where there is none, on that of IPv4, which clients are to take
/// for it.
fn start() -> SocketAddr {
    let (tell, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = match Server::bind("[::1]:0").await {
                Ok(server) => server,
                Err(_) => Server::bind("127.0.0.1:0").await.unwrap(),
            };
            tell.send(server.address().unwrap()).unwrap();
            server.serve(say_host).await.unwrap();
        });
    });
    address.recv().unwrap()
}

fn builder(server: SocketAddr) -> ClientBuilder {
    Client::builder().resolve("::1", server.port(), [server]).redirects_with_referer(true)
}

/// A client of each version.
fn clients(server: SocketAddr) -> [Client; 2] {
    [false, true].map(|http2| builder(server).http2_prior_knowledge(http2).build().unwrap())
}

/// The host that the server heard of, and the connection by its port.
async fn heard(response: Result<Response, Error>) -> (String, String) {
    let said = said(response).await;
    let (host, connection) = said.split_once(' ').unwrap();
    (host.to_owned(), connection.to_owned())
}

#[tokio::test]
async fn a_server_does_not_hear_of_zones() {
    let server = start();
    let host = format!("[::1]:{}", server.port());
    for client in clients(server) {
        let mut connections = Vec::new();
        for zone in ["", "%25ZONE", "%ZONE", "%251", "%1"] {
            let zone = zone.replace("ZONE", LOOPBACK);
            for path in ["x", "x#y", "relative", "same"] {
                let url = format!("http://[::1{zone}]:{}/{path}", server.port());
                let response = client.get(url).send().await;
                let last = response.as_ref().unwrap().final_url().map(str::to_owned);
                let (heard, connection) = heard(response).await;
                assert_eq!(heard, host, "{zone} {path}");
                // Who calls the last URL again gets to the same server.
                let whole = if zone.contains("%25") { zone.clone() } else { zone.replace('%', "%25") };
                let same = format!("http://[::1{whole}]:{}/x", server.port());
                assert_eq!(last, (!path.starts_with('x')).then_some(same));
                connections.push(connection);
            }
        }
        // None, the name in both forms, and the index in both: each is an origin with a connection of its
        // own.
        connections.dedup();
        assert_eq!(connections.len(), 3, "{connections:?}");
        let url = format!("http://[::1%25{LOOPBACK}]:{}", server.port());
        let prepared = client.prepare("GET", &*url).unwrap().build().unwrap();
        let said = said(client.call(&prepared).send().await).await;
        assert!(said.starts_with(&*host), "{said}");
    }
}

#[test]
fn calls_that_wait_take_zones() {
    let server = start();
    if server.is_ipv6() {
        let url = format!("http://[::1%25{LOOPBACK}]:{}/x", server.port());
        let said = said_at_once(blocking_client().get(url).send());
        assert!(said.starts_with(&format!("[::1]:{} ", server.port())), "{said}");
    }
}

#[tokio::test]
async fn the_zone_is_that_of_the_connection() {
    let tried = Arc::new(Mutex::new(Vec::new()));
    let seen = tried.clone();
    let watch = move |event: &ExchangeEvent<'_>| {
        if let ExchangeEvent::Connecting(SocketAddr::V6(address)) = event {
            seen.lock().unwrap().push(address.scope_id());
        }
    };
    let client = Client::builder().observe(watch).build().unwrap();
    for zone in [LOOPBACK, "1", "7"] {
        // Nobody listens there.
        assert!(client.get(format!("http://[::1%25{zone}]:1/")).send().await.is_err());
    }
    assert_eq!(*tried.lock().unwrap(), [1, 1, 7]);
}

#[tokio::test]
async fn servers_name_no_zones() {
    let server = start();
    for client in clients(server) {
        for path in ["zoned", "bare"] {
            for zone in ["", "%251"] {
                let url = format!("http://[::1{zone}]:{}/{path}", server.port());
                let error = client.get(url).send().await.err().unwrap();
                assert!(matches!(error.cause(), Cause::Redirect(_)), "{error}");
                assert!(error.to_string().contains("zone"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_interface_is_named() {
    let client = Client::new().unwrap();
    for host in ["fe80::1", "::1"] {
        let error = client.get(format!("http://[{host}%25nosuch0]:1/")).send().await.err().unwrap();
        assert_eq!(error.phase(), Phase::Resolve, "{error}");
        assert!(error.to_string().contains("nosuch0"), "{error}");
    }
}

#[tokio::test]
async fn a_zone_that_is_none_is_told() {
    let client = Client::new().unwrap();
    for zone in [
        "%",
        "%25",
        "%25a b",
        "%a/b",
        "%25a%2Fb",
        "%25%00",
        "%25a%0Ab",
        "%25a%",
        "%25a%zz",
        "%abcdefghijklmnop",
    ] {
        let error = client.get(format!("http://[fe80::1{zone}]:1/")).send().await.err().unwrap();
        assert!(matches!(error.cause(), Cause::Url(_)), "{zone}: {error}");
        // A slash ends the authority.
        assert!(error.to_string().contains("the zone") || zone == "%a/b", "{zone}: {error}");
    }
}

#[tokio::test]
async fn proxies_are_told_of_no_zone() {
    for proxy in ["http://127.0.0.1:1", "socks5://127.0.0.1:1", "socks5h://127.0.0.1:1"] {
        let client = |proxy: Proxy| Client::builder().proxy(proxy).build().unwrap();
        let url = "http://[::1%251]:1/";
        let error = client(Proxy::all(proxy).unwrap()).get(url).send().await.err().unwrap();
        assert!(matches!(error.cause(), Cause::Usage(_)), "{error}");
        let direct = client(Proxy::all(proxy).unwrap().except("::1")).get(url).send().await.err().unwrap();
        assert_eq!(direct.phase(), Phase::Connect, "{direct}");
    }
}

#[tokio::test]
async fn a_proxy_may_be_in_a_zone() {
    let server = start();
    if server.is_ipv6() {
        for zone in ["%251", "%1", &format!("%25{LOOPBACK}"), &format!("%{LOOPBACK}")] {
            let proxy = Proxy::all(&format!("http://[::1{zone}]:{}", server.port())).unwrap();
            let client = Client::builder().proxy(proxy).build().unwrap();
            let said = said(client.get("http://a.example/x").send().await).await;
            assert!(said.starts_with("a.example "), "{said}");
        }
    }
    assert!(Proxy::all("http://[::1%]:1").is_err());
    let nowhere = Client::builder().proxy(Proxy::all("http://[::1%nosuch0]:1").unwrap()).build().unwrap();
    let error = nowhere.get("http://a.example/").send().await.err().unwrap();
    assert!(error.to_string().contains("nosuch0"), "{error}");
}

#[tokio::test]
async fn credentials_are_for_one_zone() {
    let server = start();
    let port = server.port();
    let bound = builder(server).basic_auth(&format!("http://[::1%1]:{port}"), "a", "b").build().unwrap();
    for (zone, who) in [("%251", "known"), ("%1", "known"), ("%252", "unknown"), ("", "unknown")] {
        let url = format!("http://[::1{zone}]:{port}/who");
        assert_eq!(said(bound.get(url).send().await).await, who, "{zone}");
    }
}
