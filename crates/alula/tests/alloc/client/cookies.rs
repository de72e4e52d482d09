//! What twenty cookies of a jar cost a request in allocations, over both versions: a few, and none for each cookie.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more is what N
//! requests cost.

use std::{
    future::Future,
    sync::{
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use alula::{Client, Exchange, Jar, Server, Status};
use alula_tally::Side;
use alula_testkit::Windows;

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;
/// The text of the URL, three for parsing it, and the list of the cookies; the documentation of `cookies` says as much.
const ALLOCATIONS: f64 = 5.0;

pub(crate) fn twenty_cookies_cost_a_few_allocations() {
    assert!(alula_tally::is_installed());
    let url = format!("http://127.0.0.1:{}/", serve());
    on_a_thread(Side::CLIENT, async move {
        for http2 in [false, true] {
            for cookies in [20, 1] {
                let jar = Jar::new();
                for at in 0..cookies {
                    jar.add(&url, &format!("cookie-{at}=value-{at}")).unwrap();
                }
                let client = Client::builder().http2_prior_knowledge(http2).cookies(jar).build().unwrap();
                get(&client, &format!("{url}fills-tables"), WARM_UP).await;
                get(&client, &url, REQUESTS).await;
                let mut windows = Windows::expecting(ALLOCATIONS);
                while windows.are_open() {
                    windows.add(cost_of_each(&client, &url).await);
                }
                println!("http2 {http2}, {cookies} cookies: {:?} allocations for a request", windows.costs());
                assert!(windows.are_met(), "http2 {http2}, {cookies} cookies: {windows:?}");
            }
        }
    });
}

/// The allocations of 2N requests less those of N.
async fn cost_of_each(client: &Client, url: &str) -> f64 {
    let (one, two) = (cost(client, url, REQUESTS).await, cost(client, url, 2 * REQUESTS).await);
    (two as f64 - one as f64) / REQUESTS as f64
}

async fn cost(client: &Client, url: &str, requests: usize) -> u64 {
    let before = alula_tally::side(Side::CLIENT);
    get(client, url, requests).await;
    (alula_tally::side(Side::CLIENT) - before).allocations
}

async fn get(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert!(response.body().chunk().await.unwrap().is_none());
    }
}

/// Starts the server on a thread of its own.
fn serve() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            let answered = AtomicUsize::new(0);
            let answer = move |exchange: Exchange| {
                let has_cookies = exchange.request().headers().contains("cookie");
                let status = if has_cookies { Status::OK } else { Status::BAD_REQUEST };
                let fills_tables = exchange.request().path() == "/fills-tables";
                let reply = exchange.respond(status);
                // A table of HPACK grows until it is full, and each change of it has another block remembered. The date alone takes a
                // minute for that; a value that comes twice is entered as well, and is in a block of nothing but indexes then.
                let reply = match fills_tables {
                    true => reply.header("x-filler", format!("{:0100}", answered.fetch_add(1, Relaxed) / 4)),
                    false => reply,
                };
                reply.send(b"")
            };
            server.serve(answer).await.unwrap();
        });
    });
    port.recv().unwrap()
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
