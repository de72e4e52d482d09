//! One client on many runtimes: its calls use connections of their own runtime alone, whatever becomes of the
//! others.
//!
//! A client in a `static` was used by many tests, each with a runtime of its own. Some failed now and then:
//! their calls were sent on connections whose runtime had just ended, or waited for one that another runtime
//! was opening and were cancelled with it. A call waited for ever for a connection of a runtime that nobody
//! drove.

use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use alula::{Cause, Client, ClientBuilder, Error, Exchange, Phase, Sent, Server, Status};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::support::listen;

/// No call takes that long.
const PATIENCE: Duration = Duration::from_secs(20);

/// More than any window and any socket takes.
const LARGE: usize = 8 << 20;

/// The runtime of all servers.
static SERVERS: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// A server of its own for each test.
fn serve() -> String {
    SERVERS.block_on(async { format!("http://{}", listen(Server::builder(), answer).await) })
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path() {
        "/large" => exchange.respond(Status::OK).send(&vec![b'a'; LARGE]).await,
        _ => exchange.respond(Status::OK).send(b"done").await,
    }
}

fn builder(http2: bool) -> ClientBuilder {
    Client::builder().no_proxy().http2_prior_knowledge(http2)
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Asks once, and reads the answer to its end.
async fn ask(client: &Client, url: &str) -> Result<(), Error> {
    let work = async {
        let mut response = client.get(url).send().await?;
        let content = response.bytes().await?;
        assert_eq!(content, &b"done"[..]);
        Ok(())
    };
    timeout(PATIENCE, work).await.expect("a call hangs")
}

static HTTP1: LazyLock<Client> = LazyLock::new(|| builder(false).build().unwrap());
static HTTP2: LazyLock<Client> = LazyLock::new(|| builder(true).build().unwrap());

/// What a test of a program does: a few calls, some of them at once, some in tasks.
async fn be_a_test(url: String) -> Result<(), Error> {
    for client in [&*HTTP1, &*HTTP2] {
        ask(client, &url).await?;
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let url = url.clone();
                tokio::spawn(async move { ask(client, &url).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap()?;
        }
    }
    Ok(())
}

#[test]
fn a_static_client_serves_one_runtime_after_the_other() {
    let url = serve();
    for round in 0..200 {
        let runtime = if round % 2 == 0 { one_thread() } else { two_threads() };
        let outcome = runtime.block_on(be_a_test(url.clone()));
        // It ends while the next one calls.
        runtime.shutdown_background();
        assert!(outcome.is_ok(), "round {round}: {outcome:?}");
    }
}

#[test]
fn a_static_client_serves_many_runtimes_at_once() {
    let url = serve();
    let (rounds, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let round @ 0..200 = rounds.fetch_add(1, Relaxed) {
                    let runtime = if round % 2 == 0 { one_thread() } else { two_threads() };
                    if let Err(error) = runtime.block_on(be_a_test(url.clone())) {
                        failures.fetch_add(1, Relaxed);
                        eprintln!("round {round}: {error}");
                    }
                }
            });
        }
    });
    assert_eq!(failures.into_inner(), 0);
}

/// A client whose first look-up never ends.
fn stuck_at_first(http2: bool, url: &str) -> (Client, String) {
    let address: SocketAddr = url.strip_prefix("http://").unwrap().parse().unwrap();
    let is_stuck = Arc::new(AtomicBool::new(true));
    let look_up = move |_: &str, port: u16| {
        let is_stuck = is_stuck.swap(false, Relaxed);
        async move {
            if is_stuck {
                std::future::pending::<()>().await;
            }
            Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))])
        }
    };
    let client = builder(http2).resolver(look_up).build().unwrap();
    (client, format!("http://some.example:{}/", address.port()))
}

/// Polls it until it waits, on this runtime.
fn begin(runtime: &Runtime, call: Pin<&mut impl Future>) {
    let mut call = call;
    runtime.block_on(async {
        for _ in 0..20 {
            let is_over = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await;
            assert!(!is_over, "it has to wait");
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_call_does_not_wait_for_the_connect_of_a_runtime_that_stands_still() {
    let url = serve();
    for http2 in [false, true] {
        let (client, url) = stuck_at_first(http2, &url);
        let (still, other) = (one_thread(), one_thread());
        let mut first = pin!(client.get(&url).send());
        begin(&still, first.as_mut());
        other.block_on(ask(&client, &url)).expect("it opens a connection of its own");
    }
}

#[test]
fn a_connect_that_ends_with_its_runtime_is_tried_again_by_who_waits() {
    let url = serve();
    for http2 in [false, true] {
        let (client, url) = stuck_at_first(http2, &url);
        let (ends, other) = (one_thread(), two_threads());
        let mut moved = pin!(client.get(&url).send());
        begin(&ends, moved.as_mut());
        let waiters: Vec<_> = (0..4)
            .map(|_| {
                let (client, url) = (client.clone(), url.clone());
                other.spawn(async move { ask(&client, &url).await })
            })
            .collect();
        // Waits until the others wait, or have their answers.
        other.block_on(async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        });
        drop(ends);
        for waiter in waiters {
            let outcome = other.block_on(waiter).unwrap();
            assert!(outcome.is_ok(), "HTTP/2 {http2}: {outcome:?}");
        }
        let outcome = other.block_on(async { timeout(PATIENCE, moved).await.expect("it hangs") });
        assert!(outcome.is_ok(), "HTTP/2 {http2}: {:?}", outcome.err());
    }
}

#[test]
fn a_response_whose_runtime_has_ended_says_so_and_the_next_call_is_well() {
    let url = serve();
    for http2 in [false, true] {
        let client = builder(http2).build().unwrap();
        let (ends, other) = (one_thread(), one_thread());
        let large = format!("{url}/large");
        let mut response = ends.block_on(client.get(&large).send()).unwrap();
        drop(ends);
        let read = other
            .block_on(async { timeout(PATIENCE, response.bytes_max(2 * LARGE)).await.expect("it hangs") });
        let error = read.expect_err("it is not whole");
        assert!(error.to_string().contains("runtime") && error.phase() == Phase::Content, "{error}");
        other.block_on(ask(&client, &url)).expect("it opens a connection of its own");
    }
}

#[test]
fn one_that_reads_while_the_runtime_of_its_response_ends_is_told() {
    let url = serve();
    for http2 in [false, true] {
        let client = builder(http2).build().unwrap();
        let (ends, other) = (two_threads(), two_threads());
        let held = format!("{url}/large");
        let mut response = ends.block_on(client.get(&held).send()).unwrap();
        let reader = other.spawn(async move {
            // Nothing is read of what is behind the first bytes until the runtime has ended.
            let mut bytes = response.body().chunk().await?.map_or(0, <[u8]>::len);
            tokio::time::sleep(Duration::from_millis(20)).await;
            while let Some(chunk) = response.body().chunk().await? {
                bytes += chunk.len();
            }
            Ok::<usize, Error>(bytes)
        });
        drop(ends);
        let outcome = other.block_on(async { timeout(PATIENCE, reader).await.expect("it hangs").unwrap() });
        match outcome {
            Ok(bytes) => assert_eq!(bytes, LARGE),
            Err(error) => assert!(error.to_string().contains("runtime"), "{error}"),
        }
    }
}

#[test]
fn a_runtime_that_stands_still_holds_up_no_call_of_another() {
    let url = serve();
    for http2 in [false, true] {
        let client = builder(http2).connections_max(1).build().unwrap();
        let (still, other) = (one_thread(), one_thread());
        still.block_on(ask(&client, &url)).unwrap();
        other.block_on(ask(&client, &url)).expect("it opens a connection of its own");
        let large = format!("{url}/large");
        let unread = still.block_on(client.get(&large).send()).unwrap();
        other.block_on(ask(&client, &url)).expect("it has its own connection");
        drop(unread);
        still.block_on(ask(&client, &url)).expect("it is driven again");
    }
}

#[test]
fn a_call_outside_of_all_runtimes_is_told_so() {
    let client = builder(false).build().unwrap();
    let mut call = pin!(client.get("http://127.0.0.1:9/").send());
    let Poll::Ready(Err(error)) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nobody would wake it");
    };
    assert!(matches!(error.cause(), Cause::Usage(_)), "{error}");
}
