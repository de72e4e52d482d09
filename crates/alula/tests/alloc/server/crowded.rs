//! A thousand requests in flight on one connection of HTTP/2, whose handlers all wait for each other,
//! allocate nothing on the server once warm: one handler for all requests, a router, and exchanges that are
//! split.
//!
//! A round is a thousand requests that are under way together. One round is measured, then two; what the two
//! made more is what a round costs.

use std::sync::Arc;

use alula::{Answer, Client, Error, Exchange, Limits, Router, Sent, Server, Status, routing::get};
use alula_tally::Side;
use tokio::sync::Barrier;

use crate::support::{DATE, on_a_thread, serve_built, windows};

const IN_FLIGHT: usize = 1_000;
const WARM_UP: usize = 20;

const PATHS: [&str; 3] = ["/waits", "/captured/a", "/split"];

async fn waits(exchange: Exchange, all: Arc<Barrier>) -> Result<Sent, Error> {
    all.wait().await;
    exchange.respond(Status::OK).header("date", DATE).send("a").await
}

async fn split(exchange: Exchange, all: Arc<Barrier>) -> Result<Sent, Error> {
    let (_, _, responder) = exchange.split();
    all.wait().await;
    responder.respond(Status::OK).header("date", DATE).send("a").await
}

fn router(all: &Arc<Barrier>) -> Router {
    let [one, two, three] = std::array::from_fn(|_| all.clone());
    Router::new()
        .route("/waits", get(move |exchange| waits(exchange, one.clone())))
        .route(
            "/captured/{a}",
            get(move |exchange: Exchange| {
                let all = two.clone();
                async move {
                    assert_eq!(exchange.param("a")?, "a");
                    waits(exchange, all).await.map_err(Answer::from)
                }
            }),
        )
        .route("/split", get(move |exchange| split(exchange, three.clone())))
}

async fn round(client: &Client, url: &str) {
    let ask = |client: Client, url: String| async move {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert_eq!(response.bytes().await.unwrap(), "a");
    };
    let tasks: Vec<_> = (0..IN_FLIGHT).map(|_| tokio::spawn(ask(client.clone(), url.to_owned()))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Starts a server: with a handler alone, or a router.
fn serve(is_routed: bool) -> String {
    let limits = Limits { streams: IN_FLIGHT as u32, ..Limits::default() };
    serve_built(Server::builder().limits(limits), move |server| async move {
        let all = Arc::new(Barrier::new(IN_FLIGHT));
        match is_routed {
            true => server.serve(router(&all).build().unwrap()).await,
            false => server.serve(move |exchange| waits(exchange, all.clone())).await,
        }
    })
}

pub(crate) fn a_thousand_requests_in_flight_allocate_nothing() {
    assert!(alula_tally::is_installed());
    on_a_thread(Side::CLIENT, async {
        for is_routed in [false, true] {
            let origin = serve(is_routed);
            let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
            for path in &PATHS[..if is_routed { PATHS.len() } else { 1 }] {
                let url = format!("{origin}{path}");
                let rounds = async |rounds| {
                    for _ in 0..rounds {
                        round(&client, &url).await;
                    }
                };
                // The server has to say first that it takes so many streams.
                rounds(WARM_UP).await;
                let windows = windows(Side::SERVER, 1, rounds).await;
                assert!(windows.are_met(), "routed {is_routed}, {path}: {windows:?}");
            }
        }
    });
}
