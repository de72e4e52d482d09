//! Counts the allocations of warm requests on a runtime of many threads, where calls of one connection run
//! beside each other and beside the server's handlers.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use alula::{Client, Error, Exchange, Response, Sent, Server, Status};
use alula_tally::Counts;
use alula_testkit::{Windows, lists};
use tokio::sync::Barrier;

const WORKERS: usize = 2;
const WARM_UP: usize = 4_000;
const REQUESTS: usize = 600;

static CONTENT: [u8; 1_024] = [b'c'; 1_024];

pub(crate) fn what_requests_allocate_on_two_threads() {
    assert!(alula_tally::is_installed());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap();
    runtime.block_on(async {
        every_worker_yields().await;
        let server = Server::bind("127.0.0.1:0").await.unwrap();
        let address = server.address().unwrap();
        let together = Together::default();
        tokio::spawn(server.serve(move |exchange| answer(exchange, together.clone())));
        let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
        for in_flight in [1, 100] {
            for bytes in [0, CONTENT.len()] {
                expect_none(&client, &format!("http://{address}/{bytes}"), in_flight).await;
            }
        }
    });
}

/// Has each worker keep a long list of tasks that yield. The runtime makes it when it is needed, and a task
/// that always finds an answer yields only now and then.
async fn every_worker_yields() {
    struct Task;
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    let all_run = Arc::new(std::sync::Barrier::new(WORKERS));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let all_run = all_run.clone();
            tokio::spawn(async move {
                // A worker that waits here runs no other of these tasks.
                all_run.wait();
                for _ in 0..256 {
                    let waker = Waker::from(Arc::new(Task));
                    assert!(
                        pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker)).is_pending()
                    );
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

/// Requires that requests cost nothing, in whichever order the threads run.
async fn expect_none(client: &Client, url: &str, in_flight: usize) {
    meet(client, url, in_flight).await;
    measure(client, url, in_flight, WARM_UP).await;
    let mut windows = Windows::expecting(0);
    while windows.are_open() {
        let one = measure(client, url, in_flight, REQUESTS).await;
        let two = measure(client, url, in_flight, 2 * REQUESTS).await;
        windows.add(two.allocations as i64 - one.allocations as i64);
    }
    println!("{in_flight} in flight, {url}: {:?} for {REQUESTS} requests", windows.costs());
    assert!(windows.are_met(), "{in_flight} in flight: {windows:?} for {REQUESTS} requests");
}

/// Has as many requests under way at once as there can be, and as many responses held: what that needs at
/// most is there afterwards, and no window has to meet it by chance.
async fn meet(client: &Client, url: &str, in_flight: usize) {
    let all = Arc::new(Barrier::new(in_flight));
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (client, all, url) = (client.clone(), all.clone(), format!("{url}?together={in_flight}"));
            tokio::spawn(async move {
                let response = ask(&client, &url).await.unwrap();
                all.wait().await;
                check(response).await.unwrap();
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

/// What the whole process does while so many requests are made: the callers themselves are part of it.
async fn measure(client: &Client, url: &str, in_flight: usize, requests: usize) -> Counts {
    let before = alula_tally::process();
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (client, url) = (client.clone(), url.to_owned());
            tokio::spawn(async move {
                for _ in 0..requests / in_flight {
                    get(&client, &url).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        tokio::time::timeout(Duration::from_secs(60), caller)
            .await
            .expect("no caller is left waiting")
            .unwrap();
    }
    alula_tally::process() - before
}

async fn get(client: &Client, url: &str) -> Result<(), Error> {
    check(ask(client, url).await?).await
}

async fn ask(client: &Client, url: &str) -> Result<Response, Error> {
    let mut call = client.get(url);
    for (name, value) in lists::REQUEST {
        call = call.header(name, value);
    }
    call.send().await
}

async fn check(mut response: Response) -> Result<(), Error> {
    assert_eq!(response.status(), Status::OK);
    assert_eq!(response.headers().len(), lists::RESPONSE.len() + 1);
    response.body().copy_to(&mut tokio::io::sink()).await?;
    Ok(())
}

/// Where requests that are to be answered together wait for each other: a barrier for each number of them.
type Together = Arc<Mutex<HashMap<usize, Arc<Barrier>>>>;

async fn answer(exchange: Exchange, together: Together) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let (bytes, count) = path[1..].split_once("?together=").unwrap_or((&path[1..], ""));
    let (bytes, count): (usize, _) = (bytes.parse().unwrap(), count.parse().ok());
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.header(name, value);
    }
    if let Some(count) = count {
        let barrier =
            together.lock().unwrap().entry(count).or_insert_with(|| Arc::new(Barrier::new(count))).clone();
        barrier.wait().await;
    }
    reply.send(&CONTENT[..bytes]).await
}
