//! Stores with objects in them, and clients that ask them over both versions.

use std::time::Duration;

use alula::testing::TestServer;
use alula::{Client, Limits, Response, Server};
use alula_store::engine::{BucketName, Decide, Durability, Engine, Mark, Verdict, WriteTerms};
use alula_store::model::{self, Attribute, Context, NewContent, Record, Rules};
use alula_store::{Config, Store};
use tokio::time::Instant;

/// One write of an object.
pub(crate) struct Seed {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    is_deleted: bool,
    /// The content stays beside those before it.
    is_sibling: bool,
}

impl Seed {
    /// An object with these entries of indexes, in place of the one before it.
    pub(crate) fn new<F: AsRef<[u8]>, T: AsRef<[u8]>>(entries: &[(F, T)]) -> Self {
        let entries =
            entries.iter().map(|(field, term)| (field.as_ref().to_vec(), term.as_ref().to_vec())).collect();
        Self { entries, is_deleted: false, is_sibling: false }
    }

    /// An object without entries.
    pub(crate) fn plain() -> Self {
        Self::new::<&str, &str>(&[])
    }

    /// Another content beside those that are there.
    pub(crate) fn sibling(self) -> Self {
        Self { is_sibling: true, ..self }
    }

    /// A content that says that the object was deleted.
    pub(crate) fn deleted() -> Self {
        Self { is_deleted: true, ..Self::plain() }
    }
}

impl Decide for Seed {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 30 };
        let (mut attributes, mut given) = (Vec::new(), Vec::new());
        for (field, term) in &self.entries {
            match field.ends_with(b"_int") {
                true => Attribute::IntegerEntry { field, term }.write(&mut attributes),
                false => Attribute::BinaryEntry { field, term }.write(&mut attributes),
            }
        }
        let context = match &stored {
            Some(stored) if !self.is_sibling => stored.context(&mut given),
            _ => Context::EMPTY,
        };
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: self.is_deleted,
            attributes: &attributes,
            value: b"",
        };
        model::write(stored, context, &new, &rules, out).expect("an object within its limits");
        Verdict::Write
    }
}

/// Writes an object of a bucket of the default type.
pub(crate) async fn put<E: Engine>(store: &Store<E>, bucket: &str, key: impl AsRef<[u8]>, seed: Seed) {
    put_typed(store, "default", bucket, key, seed).await;
}

/// Writes an object.
pub(crate) async fn put_typed<E: Engine>(
    store: &Store<E>,
    bucket_type: &str,
    bucket: impl AsRef<[u8]>,
    key: impl AsRef<[u8]>,
    seed: Seed,
) {
    let terms = WriteTerms {
        n: 3,
        w: 1,
        pw: 0,
        dw: 1,
        node_confirms: 0,
        durability: Durability::Buffered,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let bucket = BucketName { bucket_type: bucket_type.as_bytes(), bucket: bucket.as_ref() };
    store.engine().write(bucket.object(key.as_ref()), seed, &terms).await.expect("a write");
}

/// The default settings with two types of buckets, `maps` and `sets`, which are plain ones.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.types = ["maps", "sets"].map(|name| (name.to_owned(), serde_json::Map::new())).into();
    config
}

/// Opens a store.
pub(crate) async fn open<E: Engine>(engine: E) -> Store<E> {
    Store::open(engine, config()).await.expect("an engine that opens")
}

/// Servers of a store, over HTTP/1.1 and over HTTP/2, which take paths with the longest keys.
pub(crate) fn servers<E: Engine>(store: &Store<E>) -> [TestServer; 2] {
    let server = || {
        let settings = Server::builder().limits(long_heads(Limits::default()));
        TestServer::with(settings, store.routes().expect("routes without conflict"))
    };
    [server(), server().http2()]
}

/// Clients of a store, over HTTP/1.1 and over HTTP/2.
pub(crate) fn clients<E: Engine>(store: &Store<E>) -> [Client; 2] {
    servers(store).map(|server| client(&server))
}

/// A client of a server.
pub(crate) fn client(server: &TestServer) -> Client {
    let settings = Client::builder().limits(long_heads(Limits::client()));
    server.client_with(settings).expect("settings in order")
}

fn long_heads(limits: Limits) -> Limits {
    const BYTES: u32 = 1 << 20;
    Limits {
        head_bytes: BYTES,
        target_bytes: BYTES,
        field_section_bytes: BYTES,
        string_bytes: BYTES,
        continuation_frames: 100,
        ..limits
    }
}

/// Asks for a path.
pub(crate) async fn get(client: &Client, path: &str) -> Response {
    client.get("http://test/").path(path).send().await.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// One request with GET and what is answered.
pub(crate) struct Case {
    /// The path and the query.
    pub(crate) path: &'static str,
    /// The status.
    pub(crate) status: u16,
    /// The value of `content-type`.
    pub(crate) media_type: &'static str,
    /// The whole content.
    pub(crate) content: &'static str,
}

/// A case that is answered with JSON.
pub(crate) const fn json(path: &'static str, content: &'static str) -> Case {
    Case { path, status: 200, media_type: "application/json", content }
}

/// A case that is answered with a text and this status.
pub(crate) const fn text(path: &'static str, status: u16, content: &'static str) -> Case {
    Case { path, status, media_type: "text/plain", content }
}

/// Checks cases over both versions, with GET and with HEAD.
pub(crate) async fn check<E: Engine>(store: &Store<E>, cases: &[Case]) {
    for client in clients(store) {
        for case in cases {
            let mut response = get(&client, case.path).await;
            assert_eq!(response.status(), case.status, "{}", case.path);
            assert_eq!(response.content_type(), Some(case.media_type), "{}", case.path);
            assert!(response.headers().contains("date"), "{}", case.path);
            assert_eq!(response.text().await.expect("whole content"), case.content, "{}", case.path);
            let mut head = client.head("http://test/").path(case.path).send().await.expect("an answer");
            assert_eq!(head.status(), case.status, "HEAD {}", case.path);
            assert_eq!(head.content_type(), Some(case.media_type), "HEAD {}", case.path);
            assert_eq!(head.text().await.expect("whole content"), "", "HEAD {}", case.path);
        }
    }
}
