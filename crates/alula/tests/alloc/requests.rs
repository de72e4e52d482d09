//! A request allocates nothing once warm: not on the client, not on the server, nor anywhere in the process.
//!
//! Each side has a thread and a current-thread runtime of its own. A run of N requests is repeated with 2N;
//! what the second made more is what N requests cost, and each of the last windows must show none. The ten
//! fields each way are a browser's and an application server's.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Call, Client, Error, Exchange, Method, Prepared, Response, Sent, Status};
use alula_tally::{Counts, Side};
use alula_testkit::{Windows, lists};
use tokio::{sync::Barrier, task::JoinHandle};

use crate::support::{on_a_thread, serve};

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 300;
const MEETINGS: usize = 16;
const IN_FLIGHT_MAX: usize = 100;

static CONTENT: [u8; 102_400] = [b'c'; 102_400];

/// What one run does, so many times in all.
#[derive(Clone, Copy, Debug)]
struct Work {
    http2: bool,
    in_flight: usize,
    bytes: usize,
    post: bool,
    prepared: bool,
}

impl Work {
    /// Over HTTP/1.1 each connection warms up by itself, and tries to remember heads the less often the less
    /// it was of use.
    fn warm_up(self) -> usize {
        if self.http2 { WARM_UP } else { WARM_UP + 60 * self.in_flight }
    }

    /// Returns the allocations that a window may show more or less. The number of buffers that several
    /// requests with much content hold at once differs from time to time: one of ten requests may make one.
    fn forgiven(self) -> i64 {
        if self.in_flight > 1 && self.bytes > 1_024 { REQUESTS as i64 / 10 } else { 0 }
    }
}

pub(crate) fn a_request_allocates_nothing_on_either_side() {
    assert!(alula_tally::is_installed());
    let together = Together::default();
    let url = serve(|server| server.serve(move |exchange| answer(exchange, together.clone()))) + "/";
    let (mut failures, mut others) = (Vec::new(), 0);
    on_a_thread(Side::CLIENT, async move {
        let mut client = (false, Client::new().unwrap());
        for work in all_work() {
            if client.0 != work.http2 {
                // The connections of the other version go now: later on they would give memory back within
                // some window. With one connection more than requests under way, one of them would rest as
                // well.
                let builder =
                    Client::builder().http2_prior_knowledge(work.http2).connections_max(IN_FLIGHT_MAX);
                client = (work.http2, builder.build().unwrap());
            }
            let callers = &Caller::all(&client.1, &url, work);
            // A head that held a request holds a response another time: each is to have been both.
            for _ in 0..MEETINGS {
                meet(callers).await;
            }
            if !work.http2 {
                hold_two_each(callers).await;
            }
            run(callers, work.warm_up()).await;
            let mut windows = Windows::expecting([0; 2]);
            while windows.are_open() {
                let more = cost(callers).await;
                let both =
                    [more[0], more[1]].map(|more| if more.abs() <= work.forgiven() { 0 } else { more });
                others += usize::from(more[0] + more[1] != more[2]);
                println!(
                    "{work:?}: client {}, server {}, process {} for {REQUESTS} requests",
                    more[0], more[1], more[2]
                );
                windows.add(both);
            }
            if !windows.are_met() {
                failures.push((work, windows));
            }
        }
        assert!(
            others <= 1,
            "other threads allocate, and not just the harness, which notes once that a test is slow"
        );
        assert!(failures.is_empty(), "{failures:?}");
    });
}

fn all_work() -> impl Iterator<Item = Work> {
    let versions = [(true, 1), (true, IN_FLIGHT_MAX), (false, 1), (false, IN_FLIGHT_MAX)];
    versions.into_iter().flat_map(|(http2, in_flight)| {
        [false, true].into_iter().flat_map(move |prepared| {
            [(0, false), (1_024, false), (102_400, false), (102_400, true)].into_iter().map(
                move |(bytes, post)| {
                    // Of a connection that holds more than half of what it may
                    // (`Limits::connection_memory_bytes`), buffers that are not in use are given back.
                    let in_flight = if http2 && bytes == 102_400 { in_flight.min(10) } else { in_flight };
                    Work { http2, in_flight, bytes, post, prepared }
                },
            )
        })
    })
}

/// One of those who ask at once. It is made before anything is measured, with the requests that it sends
/// again and again.
struct Caller {
    client: Client,
    work: Work,
    alone: Ask,
    together: Ask,
    /// As `together`, for a response without content.
    empty: Ask,
}

/// A request that is described each time, or one that was prepared.
enum Ask {
    Described(String),
    Prepared(Prepared),
}

impl Caller {
    fn all(client: &Client, url: &str, work: Work) -> Vec<Arc<Self>> {
        let bytes = if work.post { 0 } else { work.bytes };
        let alone = format!("{url}{bytes}");
        let together = |bytes: usize| format!("{url}{bytes}?together={}", work.in_flight);
        let (together, empty) = (together(bytes), together(0));
        let ask = |url: &str| match work.prepared {
            true => Ask::Prepared(prepare(client, url, work.post)),
            false => Ask::Described(url.to_owned()),
        };
        let caller = || Self {
            client: client.clone(),
            work,
            alone: ask(&alone),
            together: ask(&together),
            empty: ask(&empty),
        };
        (0..work.in_flight).map(|_| Arc::new(caller())).collect()
    }

    async fn ask(&self, ask: &Ask) -> Result<Response, Error> {
        let call = match ask {
            Ask::Prepared(prepared) => self.client.call(prepared),
            Ask::Described(url) => self.described(url),
        };
        if self.work.post { call.send_body(&CONTENT[..self.work.bytes]).await } else { call.send().await }
    }

    fn described<'a>(&'a self, url: &'a str) -> Call<'a> {
        let mut call = if self.work.post { self.client.post(url) } else { self.client.get(url) };
        for (name, value) in lists::REQUEST {
            call = call.header(name, value);
        }
        call
    }

    async fn check(&self, response: Response) -> Result<(), Error> {
        check(response, if self.work.post { 0 } else { self.work.bytes }).await
    }
}

fn prepare(client: &Client, url: &str, post: bool) -> Prepared {
    let mut prepare = client.prepare(if post { Method::Post } else { Method::Get }, url).unwrap();
    for (name, value) in lists::REQUEST {
        prepare = prepare.header(name, value.as_bytes());
    }
    prepare.build().unwrap()
}

/// What N requests cost: the allocations of 2N less those of N.
async fn cost(callers: &[Arc<Caller>]) -> [i64; 3] {
    // Over HTTP/1.1 a connection that was not used for a second gives its memory back, and which of them a
    // run uses is chance.
    meet(callers).await;
    let one = measure(callers, REQUESTS).await;
    meet(callers).await;
    let two = measure(callers, 2 * REQUESTS).await;
    std::array::from_fn(|side| two[side].allocations as i64 - one[side].allocations as i64)
}

async fn measure(callers: &[Arc<Caller>], requests: usize) -> [Counts; 3] {
    let counts =
        || [alula_tally::side(Side::CLIENT), alula_tally::side(Side::SERVER), alula_tally::process()];
    let before = counts();
    run(callers, requests).await;
    let after = counts();
    [after[0] - before[0], after[1] - before[1], after[2] - before[2]]
}

/// Has as many requests under way at once as there can be, and as many responses held: what that needs at
/// most is there afterwards, and no window has to meet it by chance.
async fn meet(callers: &[Arc<Caller>]) {
    let all = Arc::new(Barrier::new(callers.len()));
    let tasks = callers.iter().cloned().map(|caller| {
        let all = all.clone();
        tokio::spawn(async move {
            let response = caller.ask(&caller.together).await.unwrap();
            all.wait().await;
            caller.check(response).await.unwrap();
        })
    });
    join(tasks.collect()).await;
}

/// Has two responses of each connection held at once. Over HTTP/1.1 a connection whose response has arrived
/// whole goes on to the next request, though nobody has taken that response yet: how often that happens
/// otherwise is chance.
async fn hold_two_each(callers: &[Arc<Caller>]) {
    let all = Arc::new(Barrier::new(callers.len()));
    let tasks = callers.iter().cloned().map(|caller| {
        let all = all.clone();
        tokio::spawn(async move {
            let first = caller.ask(&caller.empty).await.unwrap();
            all.wait().await;
            let second = caller.ask(&caller.empty).await.unwrap();
            all.wait().await;
            check(first, 0).await.unwrap();
            check(second, 0).await.unwrap();
        })
    });
    join(tasks.collect()).await;
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        let joined = tokio::time::timeout(Duration::from_secs(60), task).await;
        joined.expect("no caller is left waiting").unwrap();
    }
}

/// Sends `requests` in all, so many at a time. Callers take the next one that is left, so that all of them,
/// and their connections, are busy to the end: one that rests for a second gives its memory back.
async fn run(callers: &[Arc<Caller>], requests: usize) {
    let left = Arc::new(AtomicUsize::new(requests));
    let tasks = callers.iter().cloned().map(|caller| {
        let left = left.clone();
        tokio::spawn(async move {
            while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                let response = caller.ask(&caller.alone).await.unwrap();
                caller.check(response).await.unwrap();
            }
        })
    });
    join(tasks.collect()).await;
}

async fn check(mut response: Response, bytes: usize) -> Result<(), Error> {
    assert_eq!(response.status(), Status::OK);
    assert_eq!(response.headers().len(), 10);
    let received = response.body().copy_to(&mut tokio::io::sink()).await?;
    assert_eq!(received, bytes as u64);
    Ok(())
}

/// Where requests that are to be answered together wait for each other: a barrier for each number of them.
type Together = Arc<Mutex<HashMap<usize, Arc<Barrier>>>>;

async fn answer(mut exchange: Exchange, together: Together) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let (bytes, count) = path[1..].split_once("?together=").unwrap_or((&path[1..], ""));
    let (bytes, count) = (bytes.parse().unwrap_or(0), count.parse().ok());
    while exchange.body().chunk().await?.is_some() {}
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
