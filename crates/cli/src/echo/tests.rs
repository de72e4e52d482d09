//! The echo answers without allocating, counted on the server's thread.

use std::{net::SocketAddr, sync::mpsc, thread};

use alula::{Client, Limits, Server, Stop};
use alula_tally::Side;

use super::*;
use crate::args::{Args, Command};

/// Requests of one round; rounds without an allocation that are wanted one after the other, and among how
/// many.
const ROUND: usize = 200;
const ROUNDS_QUIET: usize = 4;
const ROUNDS_MAX: usize = 30;

/// An echo under these flags on a thread of its own, labelled as the server's; its address and what stops it.
fn start(limits: Limits, flags: &[&str]) -> (SocketAddr, Stop) {
    let Command::Echo(args) = Args::tried(&[&["echo"], flags].concat()).unwrap().command else {
        panic!("these are flags of echo")
    };
    let (router, watching) = hooks::router(&args.watch).unwrap();
    let (started, server) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
            watching.watch().unwrap();
            started.send((server.address().unwrap(), server.stop_handle())).unwrap();
            let routes = routes(router, &args, server.ledger()).unwrap();
            server.serve(routes).await.unwrap();
        });
    });
    server.recv().unwrap()
}

async fn ask(client: &Client, url: &str, content: &[u8]) {
    let mut response = match content {
        [] => client.get(url).header("x-odd", "a\"b\\c \u{e9}").send().await.unwrap(),
        _ => client.post(url).header("content-type", "text/x-odd").send_body(content).await.unwrap(),
    };
    assert_eq!(response.status(), Status::OK);
    let mut bytes = 0;
    while let Some(chunk) = response.body().chunk().await.unwrap() {
        bytes += chunk.len();
    }
    assert!(bytes == content.len() || content.is_empty() && bytes > 100, "{bytes}");
}

#[test]
fn answers_allocate_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    let log = std::env::temp_dir().join(format!("alula-echo-{}.log", std::process::id()));
    let to_log = format!("--access-log={}", log.display());
    answer_without_allocating(&[], &[0, 1024, 100 * 1024]);
    answer_without_allocating(&[&to_log, "--metrics", "--request-id", "--header=x-a: b"], &[0, 1024]);
    std::fs::remove_file(log).unwrap();
}

fn answer_without_allocating(flags: &[&str], bytes: &[usize]) {
    let (address, stop) = start(Limits::default(), flags);
    let url = format!("http://{address}/some/path");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::builder().http2_prior_knowledge(true).trust_anything().build().unwrap();
        for &bytes in bytes {
            let content = vec![b'x'; bytes];
            // Buffers may still meet a new largest load after the first rounds, but soon no more.
            let mut quiet = 0;
            for round in 0.. {
                assert!(
                    round < ROUNDS_MAX,
                    "still allocates after {ROUNDS_MAX} rounds, {bytes} bytes of content"
                );
                let before = alula_tally::side(Side::SERVER);
                for _ in 0..ROUND {
                    ask(&client, &url, &content).await;
                }
                let counts = alula_tally::side(Side::SERVER) - before;
                quiet = if counts.allocations == 0 { quiet + 1 } else { 0 };
                if quiet == ROUNDS_QUIET {
                    break;
                }
            }
        }
    });
    stop.stop();
}

#[test]
fn content_that_there_is_no_memory_for_is_refused() {
    let (address, stop) = start(Limits { process_memory_bytes: 16 << 20, ..Limits::default() }, &[]);
    let url = format!("http://{address}/");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for is_http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(is_http2).build().unwrap();
            for (path, bytes, status) in [
                ("", 1 << 20, Status::OK),
                ("", 14 << 20, Status::SERVICE_UNAVAILABLE),
                ("", 1 << 20, Status::OK),
                // A description takes many times its bytes.
                ("post", 1 << 20, Status::SERVICE_UNAVAILABLE),
                ("post", 1 << 10, Status::OK),
            ] {
                let response =
                    client.post(format!("{url}{path}")).send_body(&vec![b'x'; bytes]).await.unwrap();
                assert_eq!(response.status(), status, "{bytes} bytes, HTTP/2: {is_http2}");
                let is_told = response.headers().contains(KnownName::RETRY_AFTER);
                assert_eq!(is_told, status == Status::SERVICE_UNAVAILABLE);
            }
        }
    });
    stop.stop();
}
