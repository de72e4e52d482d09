//! Requests that vary, whose answers vary too: what a client cannot remember.

use alula::{Client, Hole, Method, Prepared};
use alula_testkit::lists::REQUEST;
use alula_testkit::traffic::{self, Ids};

use super::{Answers, Over, read, set_up};
use crate::workload::Run;

/// The number of requests after which the first come again; a table of HPACK has long forgotten those.
const REQUESTS: usize = 1024;

/// The fields of a request that are new each time.
const VARYING: [&str; 2] = ["x-request-id", "x-trace"];

/// One request.
struct Asked {
    /// The URL, or with prepared requests the path alone.
    target: String,
    ids: Ids,
}

/// Requests, each with another query, request id and trace.
fn asked(before_path: &str) -> Vec<Asked> {
    let one = |number| {
        let ids = traffic::ids(number);
        Asked { target: format!("{before_path}?{}", ids.query), ids }
    };
    (0..REQUESTS).map(one).collect()
}

pub(super) fn plain(over: Over) -> Run {
    let (runtime, client, peer, url) = set_up(over, "0", Answers::Varied);
    let (asked, mut number) = (asked(&url), 0);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            for _ in 0..requests {
                ask(&client, &asked[number % REQUESTS]).await;
                number += 1;
            }
        });
    })
}

pub(super) fn prepared(over: Over) -> Run {
    let (runtime, client, peer, url) = set_up(over, "0", Answers::Varied);
    let (prepared, holes) = prepare(&client, &url);
    let (asked, mut number) = (asked("/static/app"), 0);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            for _ in 0..requests {
                ask_prepared(&client, &prepared, holes, &asked[number % REQUESTS]).await;
                number += 1;
            }
        });
    })
}

async fn ask(client: &Client, asked: &Asked) {
    let mut call = client.get(&asked.target);
    for (name, value) in REQUEST {
        call = call.header(name, id(name, &asked.ids).unwrap_or(value));
    }
    read(call.send().await.expect("an answer")).await;
}

/// The value of a field that varies.
fn id<'i>(name: &str, ids: &'i Ids) -> Option<&'i str> {
    let at = VARYING.iter().position(|varying| *varying == name)?;
    Some([&ids.request, &ids.trace][at])
}

async fn ask_prepared(client: &Client, prepared: &Prepared, [request, trace]: [Hole; 2], asked: &Asked) {
    let Ids { request: id, trace: of, .. } = &asked.ids;
    let call = client.call(prepared).path(&asked.target);
    let call = call.set(request, id.as_bytes()).set(trace, of.as_bytes());
    read(call.send().await.expect("an answer")).await;
}

/// The same with a hole for each field that varies.
fn prepare(client: &Client, url: &str) -> (Prepared, [Hole; 2]) {
    let mut prepare = client.prepare(Method::Get, url).expect("a valid URL");
    let constant = REQUEST.into_iter().filter(|(name, _)| !VARYING.contains(name));
    for (name, value) in constant {
        prepare = prepare.header(name, value.as_bytes());
    }
    let holes = VARYING.map(|name| prepare.hole(name).expect("a valid name"));
    (prepare.build().expect("the fields may be sent"), holes)
}
