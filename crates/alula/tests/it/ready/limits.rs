//! Limits by peer or key, and health.

use std::{sync::Arc, time::Duration};

use alula::routing::get;
use alula::{Client, ConcurrencyLimit, Exchange, Health, RateLimit, Response, Route, Router, Status};
use tokio::sync::Semaphore;

use super::{clients, serve_routes};

const HOUR: Duration = Duration::from_secs(3_600);

fn hello() -> Route {
    get(|exchange: Exchange| exchange.respond(Status::OK).send("hello"))
}

async fn ask(client: &Client, url: &str, key: Option<&str>) -> Response {
    let call = client.get(url);
    key.iter().fold(call, |call, key| call.header("x-key", *key)).send().await.unwrap()
}

#[tokio::test]
async fn a_peer_may_send_so_many() {
    let limit = || RateLimit::new(10, HOUR).burst(3);
    let hooked = || Router::new().hook(limit()).route("/", hello());
    let layered = || Router::new().route("/", hello().wrap(limit().layer()));
    for client in clients() {
        for origin in [serve_routes(hooked()).await, serve_routes(layered()).await] {
            for _ in 0..3 {
                assert_eq!(ask(&client, &origin, None).await.status(), 200);
            }
            for _ in 0..3 {
                let response = ask(&client, &origin, Some("another")).await;
                assert_eq!(response.status(), 429);
                let wait: u64 = response.headers().text("retry-after").unwrap().parse().unwrap();
                assert!((300..=360).contains(&wait), "{wait}");
            }
        }
    }
}

#[tokio::test]
async fn keys_have_limits_of_their_own() {
    let limit = RateLimit::new(2, HOUR).by(|request| request.headers().get("x-key"));
    let origin = serve_routes(Router::new().hook(limit).route("/", hello())).await;
    let [client, http2] = clients();
    let long = "k".repeat(5_000);
    for key in [Some("a"), Some("b"), Some(""), Some("\u{f6}"), Some(&long), None] {
        assert_eq!(ask(&client, &origin, key).await.status(), 200, "{key:?}");
        assert_eq!(ask(&http2, &origin, key).await.status(), 200, "{key:?}");
        assert_eq!(ask(&client, &origin, key).await.status(), 429, "{key:?}");
    }
}

/// A peer that invents keys takes no memory, and nothing from a peer that has spent its tokens.
#[tokio::test]
async fn many_keys_do_not_give_tokens_back() {
    let limit = RateLimit::new(50, HOUR).keys_max(1).by(|request| request.headers().get("x-key"));
    let origin = serve_routes(Router::new().hook(limit).route("/", hello())).await;
    let [_, client] = clients();
    for _ in 0..50 {
        ask(&client, &origin, Some("spent")).await;
    }
    for number in 0..2_000 {
        assert_eq!(ask(&client, &origin, Some(&number.to_string())).await.status(), 200);
    }
    assert_eq!(ask(&client, &origin, Some("spent")).await.status(), 429);
}

#[tokio::test]
async fn a_peer_has_so_many_under_way() {
    for client in clients() {
        let gate = Arc::new(Semaphore::new(0));
        let waits = {
            let gate = gate.clone();
            get(move |exchange: Exchange| {
                let gate = gate.clone();
                async move {
                    gate.acquire().await.unwrap().forget();
                    exchange.respond(Status::OK).send("").await
                }
            })
        };
        let limit = ConcurrencyLimit::new(2).by(|request| request.headers().get("x-key"));
        let origin = serve_routes(Router::new().route("/", waits.wrap(limit.layer()))).await;
        let spawned = |key: Option<&'static str>| {
            let (client, origin) = (client.clone(), origin.clone());
            tokio::spawn(async move { ask(&client, &origin, key).await.status() })
        };
        // Of four at once two wait, and two are refused.
        let mut four: Vec<_> = (0..4).map(|_| spawned(Some("a"))).collect();
        while four.iter().filter(|call| call.is_finished()).count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let refused = ask(&client, &origin, Some("a")).await;
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.headers().text("retry-after"), Some("1"));
        let other = spawned(Some("b"));
        gate.add_permits(3);
        assert_eq!(other.await.unwrap(), 200);
        let mut answered = Vec::new();
        for call in four.drain(..) {
            answered.push(call.await.unwrap().as_u16());
        }
        answered.sort_unstable();
        assert_eq!(answered, [200, 200, 503, 503]);
        // Those that are given up make room, too.
        if client_gives_up_streams(&client, &origin).await {
            let without = Arc::strong_count(&gate);
            for _ in 0..5 {
                let call = spawned(Some("a"));
                until(|| Arc::strong_count(&gate) == without + 1).await;
                call.abort();
                until(|| Arc::strong_count(&gate) == without).await;
            }
        }
        gate.add_permits(1);
        assert_eq!(ask(&client, &origin, Some("a")).await.status(), 200);
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is so within a minute");
}

/// Over HTTP/1.1 a server need not see that a peer gives up before it has answered.
async fn client_gives_up_streams(client: &Client, origin: &str) -> bool {
    client.get(format!("{origin}/none")).send().await.unwrap().version() == alula::Version::Http2
}

#[tokio::test]
async fn health_is_told() {
    let health = Health::new();
    let probes = Router::new().route("/live", get(health.live())).route("/ready", get(health.ready()));
    let origin = serve_routes(probes).await;
    for client in clients() {
        for is_ready in [true, false, true] {
            health.set_ready(is_ready);
            assert_eq!(health.is_ready(), is_ready);
            let ready = ask(&client, &format!("{origin}/ready"), None).await;
            assert_eq!(ready.status(), if is_ready { 200 } else { 503 });
            assert_eq!(ready.headers().text("cache-control"), Some("no-store"));
            assert_eq!(ask(&client, &format!("{origin}/live"), None).await.status(), 200);
            assert_eq!(client.head(format!("{origin}/live")).send().await.unwrap().status(), 200);
        }
    }
}
