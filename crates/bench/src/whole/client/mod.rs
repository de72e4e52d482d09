//! One request through the whole client, in clear text: one at a time on one connection, or many at a time.

mod varied;

use std::sync::Arc;

use alula::{Client, Method, Prepared, Response};
use alula_testkit::lists::REQUEST;
use tokio::runtime::Runtime;

use crate::peers::Peer;
use crate::workload::{Run, Use, Workload};

/// All of them. Peers get the same answers to the same requests, whose fields were checked before as those of
/// the prepared are.
pub(crate) const WORKLOADS: &[Workload] = &[
    one("client-0", "GET with 10 fields, 200 with 10, no content", || plain(Over::Http2, "0")),
    one("client-0-prepared", "the same, prepared", || prepared(Over::Http2, "0")),
    vary("client-0-varied", "the same, query, ids and answers new each time", || varied::plain(Over::Http2)),
    vary("client-0-varied-prepared", "the same, prepared with two holes", || varied::prepared(Over::Http2)),
    one("client-1k", "GET with 10 fields, 200 with 10, 1 KiB of content", || plain(Over::Http2, "1024")),
    one("client-1k-prepared", "the same, prepared", || prepared(Over::Http2, "1024")),
    much("client-100k", "the same, 100 KiB of content", || plain(Over::Http2, "102400")),
    much("client-100k-prepared", "the same, prepared", || prepared(Over::Http2, "102400")),
    many("client-0-m64", "no content, 64 in flight on one connection", || plain_many(Over::Http2, "0")),
    many("client-0-m64-prepared", "the same, prepared", || prepared_many(Over::Http2, "0", IN_FLIGHT)),
    Workload::new("client-0-m512-prepared", 2048, "the same, 512 in flight", || {
        prepared_many(Over::Http2, "0", 512)
    })
    .counted(Use::Told, Use::Told),
    many("client-1k-m64", "1 KiB of content, 64 in flight on one connection", || {
        plain_many(Over::Http2, "1024")
    }),
    many("client-1k-m64-prepared", "the same, prepared", || prepared_many(Over::Http2, "1024", IN_FLIGHT)),
    one("client-h1-0", "GET with 10 fields, 200 with 10, no content, over HTTP/1.1", || {
        plain(Over::Http1, "0")
    }),
    one("client-h1-0-prepared", "the same, prepared", || prepared(Over::Http1, "0")),
    vary("client-h1-0-varied", "the same, query, ids and answers new each time", || {
        varied::plain(Over::Http1)
    }),
    vary("client-h1-0-varied-prepared", "the same, prepared with two holes", || {
        varied::prepared(Over::Http1)
    }),
    one("client-h1-1k", "over HTTP/1.1, 1 KiB of content", || plain(Over::Http1, "1024")),
    one("client-h1-1k-prepared", "the same, prepared", || prepared(Over::Http1, "1024")),
    much("client-h1-100k", "the same, 100 KiB of content", || plain(Over::Http1, "102400")),
    much("client-h1-100k-prepared", "the same, prepared", || prepared(Over::Http1, "102400")),
    many_apart("client-h1-0-m64", "over HTTP/1.1, no content, 64 in flight on as many connections", || {
        plain_many(Over::Http1, "0")
    }),
    many_apart("client-h1-0-m64-prepared", "the same, prepared", || {
        prepared_many(Over::Http1, "0", IN_FLIGHT)
    }),
    many_apart("client-h1-1k-m64", "the same, 1 KiB of content", || plain_many(Over::Http1, "1024")),
    many_apart("client-h1-1k-m64-prepared", "the same, prepared", || {
        prepared_many(Over::Http1, "1024", IN_FLIGHT)
    }),
    many_apart("client-h1-100k-m64", "the same, 100 KiB of content", || plain_many(Over::Http1, "102400")),
    many_apart("client-h1-100k-m64-prepared", "the same, prepared", || {
        prepared_many(Over::Http1, "102400", IN_FLIGHT)
    }),
];

const fn one(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 400, what, prepare).beside("repeated")
}

/// A table grows once more when the date of the answers changes, which the first units must have behind them.
const fn vary(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 1600, what, prepare).beside("varied")
}

const fn much(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 100, what, prepare).counted(Use::Told, Use::Held).beside("repeated")
}

/// The number of requests that are in flight where there are many.
const IN_FLIGHT: u64 = 64;

/// The number of answers that one look at the sockets finds depends on when the other side runs, and with it
/// what one costs.
const fn many(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 10 * IN_FLIGHT, what, prepare).counted(Use::Told, Use::Held)
}

/// The same on many connections: each grows a list of wakers when it first needs one, which may be late.
const fn many_apart(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    many(name, what, prepare).counted(Use::Told, Use::Told)
}

/// Which version is spoken.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Over {
    Http1,
    Http2,
}

/// The fields of the answers.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Answers {
    Same,
    /// Those of [`alula_testkit::traffic::answer`].
    Varied,
}

fn plain(over: Over, content: &str) -> Run {
    let (runtime, client, peer, url) = set_up(over, content, Answers::Same);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(ask(&client, &url, requests));
    })
}

fn prepared(over: Over, content: &str) -> Run {
    let (runtime, client, peer, url) = set_up(over, content, Answers::Same);
    let prepared = prepare(&client, &url);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(ask_prepared(&client, &prepared, requests));
    })
}

fn plain_many(over: Over, content: &str) -> Run {
    let (runtime, client, peer, url) = set_up(over, content, Answers::Same);
    let url: Arc<str> = url.into();
    warmed(Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(spread(requests, IN_FLIGHT, |share| {
            let (client, url) = (client.clone(), url.clone());
            async move { ask(&client, &url, share).await }
        }));
    }))
}

fn prepared_many(over: Over, content: &str, in_flight: u64) -> Run {
    let (runtime, client, peer, url) = set_up(over, content, Answers::Same);
    let prepared = Arc::new(prepare(&client, &url));
    warmed(Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(spread(requests, in_flight, |share| {
            let (client, prepared) = (client.clone(), prepared.clone());
            async move { ask_prepared(&client, &prepared, share).await }
        }));
    }))
}

/// Runs it until as many callers as can be have met: the lists of those who wait grow then, and no more.
fn warmed(mut run: Run) -> Run {
    run(10_000);
    run
}

/// One request after another.
async fn ask(client: &Client, url: &str, requests: u64) {
    for _ in 0..requests {
        let mut call = client.get(url);
        for (name, value) in REQUEST {
            call = call.header(name, value);
        }
        read(call.send().await.expect("an answer")).await;
    }
}

async fn ask_prepared(client: &Client, prepared: &Prepared, requests: u64) {
    for _ in 0..requests {
        read(client.call(prepared).send().await.expect("an answer")).await;
    }
}

/// Requests shared out among as many tasks as requests are in flight.
async fn spread<F: Future<Output = ()> + Send + 'static>(
    requests: u64,
    in_flight: u64,
    ask: impl Fn(u64) -> F,
) {
    let tasks: Vec<_> = (0..in_flight).map(|task| tokio::spawn(ask((requests + task) / in_flight))).collect();
    for task in tasks {
        task.await.expect("all answers came");
    }
}

fn prepare(client: &Client, url: &str) -> Prepared {
    let mut prepare = client.prepare(Method::Get, url).expect("a valid URL");
    for (name, value) in REQUEST {
        prepare = prepare.header(name, value.as_bytes());
    }
    prepare.build().expect("the fields may be sent")
}

/// Reads content to its end and lets it go.
pub(crate) async fn read(mut response: Response) {
    assert_eq!(response.status(), alula::Status::OK);
    while let Some(chunk) = response.body().chunk().await.expect("whole content") {
        std::hint::black_box(chunk);
    }
}

fn set_up(over: Over, content: &str, answers: Answers) -> (Runtime, Client, Peer, String) {
    let mut peer = match (over, answers) {
        (Over::Http1, Answers::Same) => Peer::start(&["http1-answers", content]),
        (Over::Http1, Answers::Varied) => Peer::start(&["http1-varied-answers", content]),
        (Over::Http2, Answers::Same) => Peer::start(&["answers", content]),
        (Over::Http2, Answers::Varied) => Peer::start(&["answers", "varied", content]),
    };
    let url = format!("http://127.0.0.1:{}/static/app", peer.line());
    // Without `trust_anything` the platform's roots are read, which takes longer than everything else.
    let client = Client::builder().trust_anything().http2_prior_knowledge(over == Over::Http2);
    // The fields of a load are those it names, as with the peers beside it.
    let client = client.no_user_agent();
    // No more than are needed: what opening takes is no part of a request.
    let client = client.connections_max(IN_FLIGHT as usize).build();
    (one_thread(), client.expect("a client"), peer, url)
}

/// A runtime on the calling thread.
pub(crate) fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
