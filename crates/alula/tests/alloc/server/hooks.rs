//! Requests that are logged, counted and named allocate nothing once warm, over both versions.

use std::io;

use alula::{AccessLog, Answer, Client, Exchange, Metrics, RequestId, Router, Sent, Status, routing::get};
use alula_tally::Side;

use crate::support::{DATE, on_a_thread, serve, windows};

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;

pub(crate) fn hooked_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let origin = serve(|server| server.serve(router().build().unwrap()));
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap();
            let url = format!("{origin}/lists/a?page=7");
            ask(&client, &url, WARM_UP).await;
            let ask = async |requests| ask(&client, &url, requests).await;
            let windows = windows(Side::SERVER, REQUESTS, ask).await;
            if !windows.are_met() {
                failures.push((http2, windows));
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
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
