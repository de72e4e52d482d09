//! A request whose response is decoded from gzip allocates nothing either, once a decoder has its memory.
#![cfg(feature = "gzip")]

use std::io::Write as _;

use alula::{Client, Exchange, Status};
use alula_tally::Side;
use flate2::{Compression, write::GzEncoder};

use crate::support::{DATE, on_a_thread, serve, windows};

const REQUESTS: usize = 50;
const BYTES: usize = 5_000;

async fn run(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert!(response.is_decoded());
        assert_eq!(response.body().copy_to(&mut tokio::io::sink()).await.unwrap(), BYTES as u64);
    }
}

pub(crate) fn decoding_gzip_allocates_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let text: Vec<u8> = (0..BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
    encoder.write_all(&text).unwrap();
    let coded: &'static [u8] = encoder.finish().unwrap().leak();
    let answer = move |exchange: Exchange| {
        exchange.respond(Status::OK).header("date", DATE).header("content-encoding", "gzip").send(coded)
    };
    let url = serve(move |server| server.serve(answer));
    on_a_thread(Side::CLIENT, async {
        for http2 in [false, true] {
            let client = Client::builder().decompress(true).http2_prior_knowledge(http2).build().unwrap();
            run(&client, &url, 40 * REQUESTS).await;
            let ask = async |requests| run(&client, &url, requests).await;
            let windows = windows(Side::CLIENT, REQUESTS, ask).await;
            assert!(windows.are_met(), "allocations for {REQUESTS} requests, HTTP/2: {http2}: {windows:?}");
        }
    });
}
