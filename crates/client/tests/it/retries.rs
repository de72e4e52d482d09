//! Connections that cannot be opened, or end, and what is tried again then.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use alula_client::{Call, Client, Destination, Error, Response, Retries, Transport};
use tokio::{io::AsyncReadExt as _, net::TcpListener, time::timeout};

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);

/// As often, and as good as without waiting.
fn tries(max: u32) -> Retries {
    Retries::new(max).backoff(Duration::from_micros(10), Duration::from_millis(1))
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

async fn error_of(call: Call<'_>) -> Error {
    let outcome: Result<Response, Error> =
        timeout(FOREVER, call.send_body(b"abc")).await.expect("the call ends");
    outcome.expect_err("it fails")
}

#[test]
fn connections_that_cannot_be_opened_are_tried_again_for_any_method() {
    run(async {
        for (rules, opened) in [(None, 1), (Some(tries(4)), 4)] {
            let tried = Arc::<AtomicUsize>::default();
            let counter = tried.clone();
            let refusing = move |_: &Destination| {
                counter.fetch_add(1, Relaxed);
                async { Err::<Box<dyn Transport>, _>(io::ErrorKind::ConnectionRefused.into()) }
            };
            let mut builder = Client::builder().connector(refusing);
            if let Some(rules) = rules {
                builder = builder.retries(rules);
            }
            let client = builder.build().unwrap();
            let error = error_of(client.post("http://localhost/")).await;
            assert!(error.is_connect() && error.is_retryable(), "{error}");
            assert_eq!(tried.load(Relaxed), opened);
        }
    });
}

#[test]
fn a_connection_that_ends_without_a_word_is_tried_again_for_what_is_idempotent() {
    run(async {
        for (method, requests) in [("PUT", 3), ("POST", 1)] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/", listener.local_addr().unwrap());
            let count = Arc::<AtomicUsize>::default();
            let counter = count.clone();
            tokio::spawn(async move {
                while let Ok((mut socket, _)) = listener.accept().await {
                    // The request is there: it may have been acted on.
                    let bytes = socket.read(&mut [0; 1024]).await.unwrap_or(0);
                    counter.fetch_add(usize::from(bytes > 0), Relaxed);
                }
            });
            let client = Client::builder().retries(tries(3)).build().unwrap();
            error_of(client.request(method, &url)).await;
            assert_eq!(count.load(Relaxed), requests, "{method}");
        }
    });
}
