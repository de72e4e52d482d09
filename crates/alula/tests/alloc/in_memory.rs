//! A request in memory allocates nothing once warm either: neither the pipe nor the way in which transports
//! are used does.
//!
//! The clock is paused: what connections do once in a second, whatever they carry, is not counted here.

use alula::{Client, Error, Exchange, Sent, Status, testing::TestServer};
use alula_tally::Side;

use crate::support::windows;

const REQUESTS: usize = 300;

static CONTENT: [u8; 20_000] = [b'c'; 20_000];

pub(crate) fn a_request_in_memory_allocates_nothing() {
    assert!(alula_tally::is_installed());
    // One thread has both sides.
    alula_tally::set_side(Side::CLIENT);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        for is_http2 in [false, true] {
            for upload in [false, true] {
                let server = TestServer::new(answer);
                let client = if is_http2 { server.http2() } else { server }.client();
                run(&client, upload, 2_000).await;
                let ask = async |requests| run(&client, upload, requests).await;
                let windows = windows(Side::CLIENT, REQUESTS, ask).await;
                assert!(windows.are_met(), "HTTP/2 {is_http2}, upload {upload}: {windows:?}");
            }
        }
    });
}

async fn run(client: &Client, upload: bool, requests: usize) {
    for _ in 0..requests {
        let sent = match upload {
            true => client.post("http://test/").send_body(&CONTENT).await,
            false => client.get("http://test/").send().await,
        };
        let mut response = sent.unwrap();
        assert_eq!(response.status(), Status::OK);
        let bytes = response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
        assert_eq!(bytes, if upload { 2 } else { CONTENT.len() as u64 });
    }
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let mut bytes = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        bytes += chunk.len();
    }
    match bytes {
        0 => exchange.respond(Status::OK).send(&CONTENT).await,
        _ => exchange.respond(Status::OK).send("ok").await,
    }
}
