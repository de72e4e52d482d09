//! A request whose response is decoded from gzip allocates nothing either, once a decoder has its memory.
#![cfg(feature = "gzip")]

use std::{
    io::Write as _,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use alula::{Client, Error, Exchange, Sent, Server, Status};
use alula_testkit::Windows;
use flate2::{Compression, write::GzEncoder};

const REQUESTS: usize = 50;
const OCTETS: usize = 5_000;

/// The requests that were answered to fill the tables. A table of HPACK grows until it is full, and each change of it has
/// another block remembered: the date alone takes a minute for that. A value that comes twice is entered.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);

async fn run(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert!(response.is_decoded());
        assert_eq!(response.body().copy_to(&mut tokio::io::sink()).await.unwrap(), OCTETS as u64);
    }
}

pub(crate) fn decoding_gzip_allocates_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let text: Vec<u8> = (0..OCTETS as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
    encoder.write_all(&text).unwrap();
    let coded: &'static [u8] = encoder.finish().unwrap().leak();
    let answer =
        move |exchange: Exchange| -> std::pin::Pin<Box<dyn Future<Output = Result<Sent, Error>> + Send>> {
            let filler = match exchange.request().path() {
                "/fills-tables" => Some(format!("{:0100}", ANSWERED.fetch_add(1, Relaxed) / 4)),
                _ => None,
            };
            Box::pin(async move {
                let reply = exchange.respond(Status::OK).header("content-encoding", "gzip");
                let reply = match filler {
                    Some(filler) => reply.header("x-filler", filler),
                    None => reply,
                };
                reply.send(coded).await
            })
        };
    let servers = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = servers.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/", server.address().unwrap());
    servers.spawn(server.serve(answer));
    alula_tally::set_side(alula_tally::Side::CLIENT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for http2 in [false, true] {
        let client = Client::builder().decompress(true).http2_prior_knowledge(http2).build().unwrap();
        runtime.block_on(run(&client, &format!("{url}fills-tables"), 40 * REQUESTS));
        runtime.block_on(run(&client, &url, REQUESTS));
        let mut windows = Windows::expecting(0);
        while windows.are_open() {
            windows.add(cost(&runtime, &client, &url));
        }
        assert!(windows.are_met(), "allocations for {REQUESTS} requests, HTTP/2: {http2}: {windows:?}");
    }
}

/// What so many requests cost: the allocations of twice as many less those of as many.
fn cost(runtime: &tokio::runtime::Runtime, client: &Client, url: &str) -> i64 {
    let counted = || alula_tally::side(alula_tally::Side::CLIENT).allocations as i64;
    let before = counted();
    runtime.block_on(run(client, url, REQUESTS));
    let between = counted();
    runtime.block_on(run(client, url, 2 * REQUESTS));
    (counted() - between) - (between - before)
}
