//! Requests whose content a route decodes allocate nothing once warm, over both versions.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more is what N
//! requests cost.
#![cfg(all(feature = "gzip", feature = "zstd"))]

use std::{io::Write as _, thread};

use alula::{Answer, Client, Exchange, Router, Sent, Server, Status, routing::post};
use alula_tally::Side;
use alula_testkit::Windows;
use flate2::{Compression, write::GzEncoder};

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 100;
const OCTETS: usize = 5_000;

/// 128 KiB of one octet, as zstd with a window of 256 KiB.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 8 << 3, 3, 0, 0x10, b'z'];

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

async fn count(mut exchange: Exchange) -> Result<Sent, Answer> {
    assert!(!exchange.request().headers().contains("content-encoding"));
    let mut octets = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        octets += chunk.len();
    }
    let octets = alula::fields::Decimal::of(octets as u64);
    // A date of every second would enter HPACK's table while that fills.
    let reply = exchange.respond(Status::OK).header("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    Ok(reply.send(octets.as_bytes()).await?)
}

/// Serves on a thread of its own; returns the port.
fn serve() -> u16 {
    let (tell, port) = std::sync::mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let routes = Router::new().route("/", post(count).decompress()).build().unwrap();
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(routes).await.unwrap();
        });
    });
    port.recv().unwrap()
}

async fn send(client: &Client, url: &str, codings: &str, content: &[u8], octets: &str, requests: usize) {
    for _ in 0..requests {
        let call = client.post(url).header("content-encoding", codings);
        let mut response = call.send_body(content).await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert_eq!(response.body().chunk().await.unwrap(), Some(octets.as_bytes()));
        assert!(response.body().chunk().await.unwrap().is_none());
    }
}

pub(crate) fn decoded_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let text: Vec<u8> = (0..OCTETS as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
    let (once, url) = (gzip(&text), format!("http://127.0.0.1:{}/", serve()));
    let twice = gzip(&once);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        for (codings, content, octets) in
            [("gzip", &once[..], "5000"), ("gzip, gzip", &twice, "5000"), ("zstd", ZSTD, "131072")]
        {
            let count = |requests| {
                let before = alula_tally::side(Side::SERVER);
                runtime.block_on(send(&client, &url, codings, content, octets, requests));
                (alula_tally::side(Side::SERVER) - before).allocations as i64
            };
            count(WARM_UP);
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                let one = count(REQUESTS);
                windows.add(count(2 * REQUESTS) - one);
            }
            println!("HTTP/2 {http2}, {codings}: {:?} allocations for {REQUESTS} requests", windows.costs());
            assert!(windows.are_met(), "HTTP/2 {http2}, {codings}: {windows:?}");
        }
    }
}
