//! A store whose disk fails while it serves.

use std::path::Path;
use std::time::Duration;

use alula::testing::TestServer;
use alula::{Client, Response};
use alula_power::{Fail, Notes};
use alula_store::engine::{BucketName, Engine as _, Fjall, FjallOptions};
use alula_store::{Config, Store};
use tokio::time::Instant;

use crate::support::fjall::{check_entries, far};

pub(crate) const BUCKET: BucketName<'static> = BucketName { bucket_type: b"default", bucket: b"b" };
pub(crate) const FIELD: &[u8] = b"n_bin";

/// The writes until one meets the failure: it may be one of a table, of which there are fewer.
const WRITES_MAX: u64 = 20_000;

pub(crate) fn key(number: u64) -> String {
    format!("k{number}")
}

/// The value of a key. Some are longer than what the journal writes at once.
pub(crate) fn value(number: u64) -> Vec<u8> {
    let byte = u8::try_from(number % 251).expect("a short number");
    vec![byte; if number.is_multiple_of(3) { 20_000 } else { 50 }]
}

/// Few bytes stay in memory, so that failures of files of tables are met soon.
fn options() -> FjallOptions {
    let mut options = FjallOptions::default();
    options.memtable_bytes = 64 * 1024;
    options
}

/// A store, and the numbers of the keys that it answered for.
struct Played<'a> {
    store: Store<Fjall>,
    client: Client,
    notes: &'a Notes,
    answered: Vec<u64>,
    next: u64,
}

pub(crate) async fn play(folder: &Path, failure: Fail, notes: &Notes) {
    let mut played = Played::open(folder, notes).await;
    for _ in 0..20 {
        assert_eq!(played.put().await.status(), 204);
    }
    assert!(played.store.is_ready());
    notes.fail(failure).expect("an order");

    let met = played.meet_failure().await;
    assert!(met.status() == 500 || met.status() == 503, "{}", met.status());
    assert!(!played.store.is_ready());
    for _ in 0..20 {
        assert_eq!(played.put().await.status(), 503, "a write while the disk fails");
        if failure == Fail::Descriptors {
            played.check_read().await;
        } else {
            played.check_reads().await;
        }
        assert!(!played.store.is_ready());
    }
    notes.fail(Fail::Never).expect("an order");

    played.wait_for_writes().await;
    assert!(played.store.is_ready());
    for _ in 0..20 {
        assert_eq!(played.put().await.status(), 204);
    }
    played.check_reads().await;
}

impl<'a> Played<'a> {
    async fn open(folder: &Path, notes: &'a Notes) -> Self {
        let engine = Fjall::open(folder, options()).expect("the folder opens");
        let store = Store::open(engine, Config::default()).await.expect("the store opens");
        let client = TestServer::new(store.routes().expect("routes")).http2().client();
        Self { store, client, notes, answered: Vec::new(), next: 0 }
    }

    async fn ask(&self, method: &str, path: &str, content: Vec<u8>, fields: &[(&str, &str)]) -> Response {
        let url = format!("http://store.example{path}");
        let call = self.client.request(method, &*url);
        let call = fields.iter().fold(call, |call, (name, value)| call.header(*name, *value));
        let call = if content.is_empty() { call } else { call.body(content) };
        call.send().await.expect("an answer")
    }

    /// Puts the next object, with an entry.
    async fn put(&mut self) -> Response {
        let number = self.next;
        self.next += 1;
        let (path, term) = (format!("/buckets/b/keys/{}", key(number)), format!("t{}", number % 7));
        let fields = [("content-type", "text/plain"), ("x-riak-index-n_bin", term.as_str())];
        let response = self.ask("PUT", &path, value(number), &fields).await;
        if response.status() == 204 {
            self.notes.leave(&format!("answered {number}")).expect("a note");
            self.answered.push(number);
        }
        response
    }

    /// Writes until a write meets the failure.
    async fn meet_failure(&mut self) -> Response {
        for _ in 0..WRITES_MAX {
            let response = self.put().await;
            if response.status() != 204 {
                return response;
            }
        }
        panic!("no write meets the failure");
    }

    /// Writes until one is taken.
    async fn wait_for_writes(&mut self) {
        let start = Instant::now();
        while self.put().await.status() != 204 {
            assert!(start.elapsed() < Duration::from_secs(60), "writes are not taken again");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Checks that some of what was answered can be read: files that are not open cannot.
    async fn check_read(&self) {
        let mut read = 0;
        for number in &self.answered {
            let response =
                self.ask("GET", &format!("/buckets/b/keys/{}", key(*number)), Vec::new(), &[]).await;
            assert!(response.status() == 200 || response.status() == 500, "{}", response.status());
            read += usize::from(response.status() == 200);
        }
        assert!(read > 0, "nothing can be read");
    }

    /// Checks that all that was answered is there, and that the index agrees with the objects.
    async fn check_reads(&self) {
        for number in &self.answered {
            let mut read =
                self.ask("GET", &format!("/buckets/b/keys/{}", key(*number)), Vec::new(), &[]).await;
            assert_eq!(read.status(), 200, "{number}");
            assert!(*read.body().bytes().await.expect("a value") == value(*number), "{number}");
        }
        let query = self.ask("GET", "/buckets/b/index/n_bin/t0/t9", Vec::new(), &[]).await;
        assert_eq!(query.status(), 200);
        let snapshot = self.store.engine().snapshot(far()).await.expect("a snapshot");
        check_entries(&snapshot, BUCKET, FIELD).await;
    }
}
