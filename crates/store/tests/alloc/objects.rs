//! Reads and writes of objects allocate nothing over HTTP once warm, on both versions: an object with two
//! fields of metadata, siblings in both forms, what is missing, what has not changed, and a write with eight
//! indexes up to the call of the engine.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more
//! is what N requests cost.

use std::{future::Future, sync::mpsc, thread};

use crate::sunk::Sunk;
use alula::{Client, FieldSection, Hook, Server, Status};
use alula_store::{Config, Store};
use alula_tally::Side;
use alula_testkit::Windows;

const WARM_UP: usize = 1_000;
const REQUESTS: usize = 100;

type Fields = &'static [(&'static str, &'static str)];

/// One way of asking: method, path, fields, and the status that comes back.
struct Case {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    fields: Fields,
    status: u16,
}

const fn get(name: &'static str, path: &'static str, fields: Fields, status: u16) -> Case {
    Case { name, method: "GET", path, fields, status }
}

const SIBLINGS: &str = "/types/mult/buckets/b/keys/s";
const MULTIPART: Fields = &[("accept", "multipart/mixed, application/json, */*;q=0.5")];

const CASES: [Case; 7] = [
    get("two fields of metadata", "/buckets/b/keys/k", &[], 200),
    get("siblings as text", SIBLINGS, &[], 300),
    get("siblings in a multipart", SIBLINGS, MULTIPART, 300),
    get("missing", "/buckets/b/keys/missing", &[], 404),
    get("not modified", "/buckets/b/keys/k", &[("if-none-match", "*")], 304),
    Case { name: "head", method: "HEAD", path: "/buckets/b/keys/k", fields: &[], status: 200 },
    Case { name: "eight indexes", method: "PUT", path: "/buckets/none/keys/k", fields: INDEXED, status: 204 },
];

const INDEXED: Fields = &[
    ("content-type", "application/octet-stream"),
    ("x-riak-vclock", "AQAAAAAAAAAHAwEA"),
    ("x-riak-meta-colour", "red"),
    ("x-riak-meta-size", "large"),
    ("x-riak-index-f1_bin", "a, b"),
    ("x-riak-index-f2_bin", "a, b"),
    ("x-riak-index-f3_bin", "a, b"),
    ("x-riak-index-f4_bin", "a, b"),
    ("x-riak-index-f5_int", "1, 2"),
    ("x-riak-index-f6_int", "1, 2"),
    ("x-riak-index-f7_int", "1, 2"),
    ("x-riak-index-f8_int", "1, 2"),
];

pub(crate) fn objects_cost_no_allocation_over_http() {
    assert!(alula_tally::is_installed());
    let origin = format!("http://127.0.0.1:{}", serve());
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            fill(&client, &origin).await;
            for case in &CASES {
                ask(&client, &origin, case, WARM_UP).await;
                let mut windows = Windows::expecting(0);
                while windows.are_open() {
                    let one = cost(&client, &origin, case, REQUESTS).await;
                    windows.add(cost(&client, &origin, case, 2 * REQUESTS).await as i64 - one as i64);
                }
                println!("HTTP/2 {http2}, {}: {:?} allocations for {REQUESTS}", case.name, windows.costs());
                if !windows.are_met() {
                    failures.push((http2, case.name));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
}

/// Stores what the cases ask for.
async fn fill(client: &Client, origin: &str) {
    let put = client.put(format!("{origin}/buckets/b/keys/k")).header("content-type", "text/plain");
    let put = put.header("x-riak-meta-colour", "red").header("x-riak-meta-size", "large");
    assert_eq!(put.body("value").send().await.unwrap().status(), 204);
    for value in ["one", "two"] {
        let put = client.put(format!("{origin}{SIBLINGS}")).header("content-type", "text/plain");
        assert_eq!(put.body(value).send().await.unwrap().status(), 204);
    }
}

async fn cost(client: &Client, origin: &str, case: &Case, requests: usize) -> u64 {
    let before = alula_tally::side(Side::SERVER);
    ask(client, origin, case, requests).await;
    (alula_tally::side(Side::SERVER) - before).allocations
}

async fn ask(client: &Client, origin: &str, case: &Case, requests: usize) {
    let url = format!("{origin}{}", case.path);
    for _ in 0..requests {
        let mut call = client.request(case.method, &url);
        for (name, value) in case.fields {
            call = call.header(*name, value);
        }
        if case.method == "PUT" {
            call = call.body("the value");
        }
        let mut response = call.send().await.unwrap();
        assert_eq!(response.status(), Status::new(case.status).unwrap(), "{}", case.name);
        while response.body().chunk().await.unwrap().is_some() {}
    }
}

/// Starts the server on a thread of its own.
fn serve() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let allow_mult = serde_json::json!({"allow_mult": true});
            let mut config = Config::default();
            config.types.push(("mult".to_owned(), allow_mult.as_object().unwrap().clone()));
            let store = Store::open(Sunk::default(), config).await.unwrap();
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(store.router().hook(Dated).build().unwrap()).await.unwrap();
        });
    });
    port.recv().unwrap()
}

/// Gives all answers one date: that of every second would enter HPACK's table.
struct Dated;

impl Hook for Dated {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        headers.set("date", "Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
    }
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
