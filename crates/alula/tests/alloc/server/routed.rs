//! Routed requests allocate nothing once warm, over both versions: with captures, layers and a time limit, and after a split.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more is what N
//! requests cost.

use std::{future::Future, sync::mpsc, thread, time::Duration};

use alula::{Answer, Client, Exchange, Next, Router, Sent, Server, Status, routing::get};
use alula_tally::Side;
use alula_testkit::Windows;

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;

/// The paths that are asked for. Each names the parts of its route.
const PATHS: [&str; 6] =
    ["/one/a", "/five/a/b/c/d/e", "/eight/a/b/c/d/e/f/g/h", "/layers/a", "/limited/a", "/split/a"];

/// A date of every second would enter HPACK's table while that fills.
const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

pub(crate) fn routed_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let origin = format!("http://127.0.0.1:{}", serve());
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            for path in PATHS {
                let url = format!("{origin}{path}");
                ask(&client, &url, WARM_UP).await;
                let mut windows = Windows::expecting(0);
                while windows.are_open() {
                    let one = cost(&client, &url, REQUESTS).await;
                    windows.add(cost(&client, &url, 2 * REQUESTS).await as i64 - one as i64);
                }
                println!("HTTP/2 {http2}, {path}: {:?} allocations for {REQUESTS} requests", windows.costs());
                if !windows.are_met() {
                    failures.push((http2, path));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
}

async fn cost(client: &Client, url: &str, requests: usize) -> u64 {
    let before = alula_tally::side(Side::SERVER);
    ask(client, url, requests).await;
    (alula_tally::side(Side::SERVER) - before).allocations
}

async fn ask(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b"a"[..]));
        assert!(response.body().chunk().await.unwrap().is_none());
    }
}

async fn first(exchange: Exchange) -> Result<Sent, Answer> {
    assert_eq!(exchange.param("a")?, "a");
    exchange.respond(Status::OK).header("date", DATE).send("a").await.map_err(Answer::from)
}

async fn split(exchange: Exchange) -> Result<Sent, Answer> {
    let (request, mut body, responder) = exchange.split();
    while body.chunk().await?.is_some() {}
    drop(request);
    responder.respond(Status::OK).header("date", DATE).send("a").await.map_err(Answer::from)
}

async fn passes(exchange: Exchange, next: Next) -> Result<Sent, Answer> {
    next.run(exchange).await
}

fn router() -> Router {
    Router::new()
        .route("/one/{a}", get(first))
        .route("/five/{a}/{b}/{c}/{d}/{e}", get(first))
        .route("/eight/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}", get(first))
        .route("/layers/{a}", get(first).wrap(passes).wrap(passes).wrap(passes))
        .route("/limited/{a}", get(first).timeout(Duration::from_secs(30)).concurrency(9))
        .route("/split/{a}", get(split))
}

/// Starts the server on a thread of its own.
fn serve() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(router().build().unwrap()).await.unwrap();
        });
    });
    port.recv().unwrap()
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
