//! Requests that are logged, counted and named allocate nothing once warm, over both versions.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more is what N
//! requests cost.

use std::{future::Future, io, sync::mpsc, thread};

use alula::{
    AccessLog, Answer, Client, Exchange, Metrics, RequestId, Router, Sent, Server, Status, routing::get,
};
use alula_tally::Side;
use alula_testkit::Windows;

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;

/// A date of every second would enter HPACK's table while that fills.
const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

pub(crate) fn hooked_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let origin = format!("http://127.0.0.1:{}", serve());
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap();
            let url = format!("{origin}/lists/a?page=7");
            ask(&client, &url, WARM_UP).await;
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                let one = cost(&client, &url, REQUESTS).await;
                windows.add(cost(&client, &url, 2 * REQUESTS).await as i64 - one as i64);
            }
            println!("HTTP/2 {http2}: {:?} allocations for {REQUESTS} requests", windows.costs());
            if !windows.are_met() {
                failures.push(http2);
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
        assert_eq!(response.headers().text("x-request-id").map(str::len), Some(32));
        while response.body().chunk().await.unwrap().is_some() {}
    }
}

async fn first(exchange: Exchange) -> Result<Sent, Answer> {
    assert!(exchange.request().headers().contains("x-request-id"));
    exchange.respond(Status::OK).header("date", DATE).send("a").await.map_err(Answer::from)
}

fn router() -> Router {
    let log = AccessLog::to_writer(io::sink()).unwrap();
    Router::new()
        .hook(RequestId::new())
        .hook(Metrics::new())
        .hook(log.clone())
        .hook(log.json())
        .route("/lists/{list}", get(first))
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
