//! Routed requests allocate nothing once warm, over both versions: with captures, layers and a time limit,
//! and after a split.

use std::time::Duration;

use alula::{Answer, Client, Exchange, Next, Router, Sent, Status, routing::get};
use alula_tally::Side;

use crate::support::{DATE, on_a_thread, serve, windows};

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;

/// The paths that are asked for. Each names the parts of its route.
const PATHS: [&str; 6] =
    ["/one/a", "/five/a/b/c/d/e", "/eight/a/b/c/d/e/f/g/h", "/layers/a", "/limited/a", "/split/a"];

pub(crate) fn routed_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let origin = serve(|server| server.serve(router().build().unwrap()));
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            for path in PATHS {
                let url = format!("{origin}{path}");
                ask(&client, &url, WARM_UP).await;
                let ask = async |requests| ask(&client, &url, requests).await;
                let windows = windows(Side::SERVER, REQUESTS, ask).await;
                if !windows.are_met() {
                    failures.push((http2, path, windows));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
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
