//! A request allocates nothing once warm: not on the client, not on the server, nor anywhere in the process.
//!
//! Each side has a thread and a current-thread runtime of its own. A run of N requests is repeated with 2N; what the
//! second made more is what N requests cost. The ten fields each way are a browser's and an application server's.

use std::{future::Future, sync::mpsc, thread, time::Duration};

use alula::{Client, Error, Exchange, Method, Prepared, Response, Sent, Server, Status};
use alula_tally::{Counts, Side, Tally};
use alula_testkit::lists;

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 1_000;
/// With a hundred large bodies under way, more may meet at once than ever before, and one buffer more is made: seldom, but
/// on a busy machine a few times running. What a request costs is seen each time, however many there are.
const ATTEMPTS: usize = 40;

static CONTENT: [u8; 102_400] = [b'c'; 102_400];

/// What one run does, so many times in all.
#[derive(Clone, Copy, Debug)]
struct Work {
    http2: bool,
    in_flight: usize,
    octets: usize,
    post: bool,
    prepared: bool,
}

#[test]
fn a_request_allocates_nothing_on_either_side() {
    assert!(alula_tally::is_installed());
    let port = serve();
    let url = format!("http://127.0.0.1:{port}/");
    let mut failures = Vec::new();
    on_a_thread(Side::CLIENT, async move {
        let clients =
            [true, false].map(|http2| Client::builder().http2_prior_knowledge(http2).build().unwrap());
        for work in all_work() {
            let client = &clients[usize::from(!work.http2)];
            run(client, &url, work, WARM_UP).await;
            let mut more = cost(client, &url, work).await;
            for _ in 1..ATTEMPTS {
                if more != [0; 3] {
                    more = cost(client, &url, work).await;
                }
            }
            println!(
                "{work:?}: client {}, server {}, process {} for {REQUESTS} requests",
                more[0], more[1], more[2]
            );
            if more != [0; 3] {
                failures.push((work, more));
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
}

fn all_work() -> impl Iterator<Item = Work> {
    let versions = [(true, 1), (true, 100), (false, 1), (false, 100)];
    versions.into_iter().flat_map(|(http2, in_flight)| {
        [false, true].into_iter().flat_map(move |prepared| {
            [(0, false), (1_024, false), (102_400, false), (102_400, true)]
                .into_iter()
                .map(move |(octets, post)| Work { http2, in_flight, octets, post, prepared })
        })
    })
}

/// What N requests cost: the allocations of 2N less those of N.
async fn cost(client: &Client, url: &str, work: Work) -> [i64; 3] {
    let one = measure(client, url, work, REQUESTS).await;
    let two = measure(client, url, work, 2 * REQUESTS).await;
    std::array::from_fn(|side| two[side].allocations as i64 - one[side].allocations as i64)
}

async fn measure(client: &Client, url: &str, work: Work, requests: usize) -> [Counts; 3] {
    let counts =
        || [alula_tally::side(Side::CLIENT), alula_tally::side(Side::SERVER), alula_tally::process()];
    let before = counts();
    run(client, url, work, requests).await;
    let after = counts();
    [after[0] - before[0], after[1] - before[1], after[2] - before[2]]
}

/// Sends `requests` in all, so many at a time.
async fn run(client: &Client, url: &str, work: Work, requests: usize) {
    let callers: Vec<_> = (0..work.in_flight)
        .map(|_| {
            let (client, url) = (client.clone(), format!("{url}{}", if work.post { 0 } else { work.octets }));
            tokio::spawn(async move {
                let prepared = prepare(&client, &url, work.post);
                for _ in 0..requests / work.in_flight {
                    request(&client, &url, &prepared, work).await.unwrap();
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
}

fn prepare(client: &Client, url: &str, post: bool) -> Prepared {
    let mut prepare = client.prepare(if post { Method::Post } else { Method::Get }, url).unwrap();
    for (name, value) in lists::REQUEST {
        prepare = prepare.field(name, value.as_bytes()).unwrap();
    }
    prepare.build().unwrap()
}

async fn request(client: &Client, url: &str, prepared: &Prepared, work: Work) -> Result<(), Error> {
    let mut call = match (work.prepared, work.post) {
        (true, _) => client.call(prepared),
        (false, true) => client.post(url),
        (false, false) => client.get(url),
    };
    if !work.prepared {
        for (name, value) in lists::REQUEST {
            call = call.field(name, value);
        }
    }
    let response =
        if work.post { call.send_body(&CONTENT[..work.octets]).await? } else { call.send().await? };
    check(response, if work.post { 0 } else { work.octets }).await
}

async fn check(mut response: Response, octets: usize) -> Result<(), Error> {
    assert_eq!(response.status(), Status::OK);
    assert_eq!(response.fields().len(), 10);
    let received = response.body().copy_to(&mut tokio::io::sink()).await?;
    assert_eq!(received, octets as u64);
    Ok(())
}

/// Starts the server on a thread of its own.
fn serve() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(answer).await.unwrap();
        });
    });
    port.recv().unwrap()
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let octets: usize = exchange.request().path()[1..].parse().unwrap_or(0);
    while exchange.body().chunk().await?.is_some() {}
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.field(name, value);
    }
    reply.send(&CONTENT[..octets]).await
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
