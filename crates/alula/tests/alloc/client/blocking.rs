//! A request of a blocking client allocates nothing once warm, anywhere in the process, and starts no thread.
//!
//! As in `requests.rs`: a run of N requests is repeated with 2N; what the second made more is what N requests
//! cost.

use std::io::Write;

use alula::blocking::{Client, Response};
use alula::{Error, Exchange, Method, Prepared, Sent, Status};
use alula_testkit::{Windows, lists};

use crate::support::serve;

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 500;

static CONTENT: [u8; 10_000] = [b'c'; 10_000];

/// How a request is sent.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Prepared,
    Content,
    Written,
}

pub(crate) fn a_request_that_waits_allocates_nothing_and_starts_no_thread() {
    assert!(alula_tally::is_installed());
    let url = serve(|server| server.serve(answer)).replace("127.0.0.1", "localhost") + "/";
    let threads = threads();
    for http2 in [true, false] {
        let client = Client::builder().http2_prior_knowledge(http2).build_blocking().unwrap();
        let prepared = prepare(&client, &url);
        request(&client, &url, &prepared, Way::Plain).unwrap();
        assert_eq!(
            self::threads(),
            threads,
            "no thread but those of the callers, nor for looking up the host"
        );
        for way in [Way::Plain, Way::Prepared, Way::Content, Way::Written] {
            let run = |requests| {
                let before = alula_tally::process();
                (0..requests).for_each(|_| request(&client, &url, &prepared, way).unwrap());
                (alula_tally::process() - before).allocations as i64
            };
            run(WARM_UP);
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                windows.add(-run(REQUESTS) + run(2 * REQUESTS));
            }
            println!("http2 {http2}, {way:?}: {:?} allocations for {REQUESTS} requests", windows.costs());
            assert!(windows.are_met(), "http2 {http2}, {way:?}: {windows:?}");
        }
    }
}

fn request(client: &Client, url: &str, prepared: &Prepared, way: Way) -> Result<(), Error> {
    let plain = |method| {
        lists::REQUEST
            .iter()
            .fold(client.request(method, url), |call, (name, value)| call.header(*name, *value))
    };
    check(match way {
        Way::Plain => plain("GET").send()?,
        Way::Prepared => client.call(prepared).send()?,
        Way::Content => plain("POST").send_body(&CONTENT)?,
        Way::Written => {
            let (mut up, pending) = plain("POST").open()?;
            up.write_all(&CONTENT).expect("it is sent");
            up.finish()?;
            pending.response()?
        }
    })
}

fn check(mut response: Response) -> Result<(), Error> {
    assert_eq!((response.status(), response.headers().len()), (Status::OK, 10));
    assert_eq!(response.body().copy_to(&mut std::io::sink()).expect("it comes"), CONTENT.len() as u64);
    Ok(())
}

fn prepare(client: &Client, url: &str) -> Prepared {
    let mut prepare = client.prepare(Method::Get, url).unwrap();
    for (name, value) in lists::REQUEST {
        prepare = prepare.header(name, value.as_bytes());
    }
    prepare.build().unwrap()
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    while exchange.body().chunk().await?.is_some() {}
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.header(name, value);
    }
    reply.send(&CONTENT).await
}

/// The number of threads that the process has.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[cfg(not(target_os = "linux"))]
fn threads() -> usize {
    0
}
