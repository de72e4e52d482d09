//! A thousand requests in flight on one connection of HTTP/2, whose handlers all wait for each other, allocate nothing on the server
//! once warm: one handler for all requests, a router, and exchanges that are split.
//!
//! A round is a thousand requests that are under way together. One round is measured, then two; what the two made more is what a round
//! costs.

use std::{
    sync::{Arc, mpsc},
    thread,
};

use alula::{Answer, Client, Error, Exchange, Limits, Router, Sent, Server, Status, routing::get};
use alula_tally::Side;
use alula_testkit::Windows;
use tokio::{
    runtime::{Builder, Runtime},
    sync::Barrier,
};

const IN_FLIGHT: usize = 1_000;
const WARM_UP: usize = 20;

const PATHS: [&str; 3] = ["/waits", "/captured/a", "/split"];

/// A date of every second would enter HPACK's table while that fills.
const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

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

/// Starts a server on a thread of its own: with a handler alone, or a router.
fn serve(is_routed: bool) -> String {
    let (tell, origin) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        runtime().block_on(async {
            let limits = Limits { streams: IN_FLIGHT as u32, ..Limits::default() };
            let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            let all = Arc::new(Barrier::new(IN_FLIGHT));
            match is_routed {
                true => server.serve(router(&all).build().unwrap()).await.unwrap(),
                false => server.serve(move |exchange| waits(exchange, all.clone())).await.unwrap(),
            }
        });
    });
    origin.recv().unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
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

/// The allocations of the server in a round.
fn cost(runtime: &Runtime, client: &Client, url: &str) -> i64 {
    let counted = || alula_tally::side(Side::SERVER).allocations as i64;
    let before = counted();
    runtime.block_on(round(client, url));
    let between = counted();
    runtime.block_on(async {
        round(client, url).await;
        round(client, url).await;
    });
    (counted() - between) - (between - before)
}

pub(crate) fn a_thousand_requests_in_flight_allocate_nothing() {
    assert!(alula_tally::is_installed());
    alula_tally::set_side(Side::CLIENT);
    let runtime = runtime();
    let mut failures = Vec::new();
    for is_routed in [false, true] {
        let origin = serve(is_routed);
        let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
        for path in &PATHS[..if is_routed { PATHS.len() } else { 1 }] {
            let url = format!("{origin}{path}");
            // The server has to say first that it takes so many streams.
            let warm_up = async {
                for _ in 0..WARM_UP {
                    round(&client, &url).await;
                }
            };
            runtime.block_on(warm_up);
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                windows.add(cost(&runtime, &client, &url));
            }
            println!("routed {is_routed}, {path}: {:?} for {IN_FLIGHT} in flight", windows.costs());
            if !windows.are_met() {
                failures.push((is_routed, *path));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
