//! Requests whose content a route decodes allocate nothing once warm, over both versions.
#![cfg(all(feature = "gzip", feature = "zstd"))]

use std::io::Write as _;

use alula::{Answer, Client, Exchange, Router, Sent, Status, routing::post};
use alula_tally::Side;
use flate2::{Compression, write::GzEncoder};

use crate::support::{DATE, on_a_thread, serve, windows};

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 100;
const BYTES: usize = 5_000;

/// 128 KiB of one byte, as zstd with a window of 256 KiB.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 8 << 3, 3, 0, 0x10, b'z'];

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

async fn count(mut exchange: Exchange) -> Result<Sent, Answer> {
    assert!(!exchange.request().headers().contains("content-encoding"));
    let mut bytes = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        bytes += chunk.len();
    }
    let bytes = alula::fields::Decimal::of(bytes as u64);
    let reply = exchange.respond(Status::OK).header("date", DATE);
    Ok(reply.send(bytes.as_bytes()).await?)
}

async fn send(client: &Client, url: &str, codings: &str, content: &[u8], bytes: &str, requests: usize) {
    for _ in 0..requests {
        let call = client.post(url).header("content-encoding", codings);
        let mut response = call.send_body(content).await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert_eq!(response.body().chunk().await.unwrap(), Some(bytes.as_bytes()));
        assert!(response.body().chunk().await.unwrap().is_none());
    }
}

pub(crate) fn decoded_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let text: Vec<u8> = (0..BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect();
    let once = gzip(&text);
    let twice = gzip(&once);
    let routes = || Router::new().route("/", post(count).decompress()).build().unwrap();
    let url = serve(move |server| server.serve(routes()));
    on_a_thread(Side::CLIENT, async {
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            for (codings, content, bytes) in
                [("gzip", &once[..], "5000"), ("gzip, gzip", &twice, "5000"), ("zstd", ZSTD, "131072")]
            {
                let ask = async |requests| send(&client, &url, codings, content, bytes, requests).await;
                ask(WARM_UP).await;
                let windows = windows(Side::SERVER, REQUESTS, ask).await;
                assert!(windows.are_met(), "HTTP/2 {http2}, {codings}: {windows:?}");
            }
        }
    });
}
