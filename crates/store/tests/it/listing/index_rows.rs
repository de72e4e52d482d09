//! The bound of the rows of all index entries of an object, over both versions and on both engines. Objects
//! beyond it that are there already are read, replaced and deleted as others.

use crate::support::seeded::{Seed, clients, open, put_typed};
use alula::{Client, Response};
use alula_store::engine::{Engine, Fjall, FjallOptions, Memory};

const SITE: &str = "http://store.example";

/// Terms of so many bytes each, one for each number.
fn terms(numbers: std::ops::Range<u32>, len: usize) -> String {
    numbers.map(|number| format!("{number:0len$}")).collect::<Vec<_>>().join(", ")
}

async fn put(client: &Client, url: &str, terms: &str) -> Response {
    let put = client.put(url).header("content-type", "text/plain");
    let put = if terms.is_empty() { put } else { put.header("x-riak-index-a_bin", terms) };
    put.body("v").send().await.expect("an answer")
}

async fn keys(client: &Client, bucket: &str, term: &str) -> String {
    let url = format!("{SITE}/types/maps/buckets/{bucket}/index/a_bin/{term}");
    client.get(url).send().await.expect("an answer").text().await.expect("a text")
}

/// Eight siblings of nearly the most that each may have, and one more.
async fn siblings_have_a_bound_together(engine: impl Engine, engine_name: &str) {
    let store = open(engine).await;
    for (number, client) in clients(&store).into_iter().enumerate() {
        let bucket = format!("{engine_name}{number}");
        let url = format!("{SITE}/types/maps/buckets/{bucket}/keys/k");
        for sibling in 0..8 {
            let stored = put(&client, &url, &terms(250 * sibling..250 * sibling + 250, 1_000)).await;
            assert_eq!(stored.status(), 204, "{sibling}");
        }
        let mut refused = put(&client, &url, &terms(2_000..2_250, 1_000)).await;
        assert_eq!(refused.status(), 413);
        let text = refused.text().await.expect("a text");
        assert!(text.starts_with("the rows of the index entries of all siblings would take 22"), "{text}");
        assert!(text.ends_with(" bytes, and 2097152 are allowed\n"), "{text}");
        assert_eq!(keys(&client, &bucket, &terms(2_000..2_001, 1_000)).await, r#"{"keys":[]}"#);
        assert_eq!(keys(&client, &bucket, &terms(1_999..2_000, 1_000)).await, r#"{"keys":["k"]}"#);
        // One without entries adds nothing, and a resolution has its own rows alone.
        assert_eq!(put(&client, &url, "").await.status(), 204);
        let answer = client.get(&url).header("accept", "multipart/mixed").send().await.expect("an answer");
        assert_eq!(answer.status(), 300);
        let context = answer.headers().text("x-riak-vclock").expect("a context").to_owned();
        let resolved =
            client.put(&url).header("content-type", "text/plain").header("x-riak-vclock", &context);
        let resolved = resolved.header("x-riak-index-a_bin", "x").body("v").send().await.expect("an answer");
        assert_eq!(resolved.status(), 204);
        assert_eq!(keys(&client, &bucket, &terms(0..1, 1_000)).await, r#"{"keys":[]}"#);
    }
}

/// An object of 4 MiB of rows that an earlier version took.
async fn larger_ones_go_on(engine: impl Engine, engine_name: &str) {
    let store = open(engine).await;
    for (number, client) in clients(&store).into_iter().enumerate() {
        let bucket = format!("{engine_name}{number}");
        let entries: Vec<_> = (0..1_000).map(|term| ("a_bin", term.to_string())).collect();
        for key in ["k".repeat(4_000), "l".repeat(4_000)] {
            put_typed(&store, "maps", &bucket, &key, Seed::new(&entries)).await;
            let url = format!("{SITE}/types/maps/buckets/{bucket}/keys/{key}");
            let answer = client.get(&url).send().await.expect("an answer");
            assert_eq!(answer.status(), 200);
            let context = answer.headers().text("x-riak-vclock").expect("a context").to_owned();
            let change = match key.starts_with('k') {
                true => client.delete(&url),
                false => client.put(&url).header("content-type", "text/plain").body("v"),
            };
            let changed = change.header("x-riak-vclock", &context).send().await.expect("an answer");
            assert_eq!(changed.status(), 204);
        }
        assert_eq!(keys(&client, &bucket, &entries[0].1).await, r#"{"keys":[]}"#);
    }
}

#[tokio::test]
async fn rows_have_bounds_in_memory() {
    siblings_have_a_bound_together(Memory::new(), "s").await;
    larger_ones_go_on(Memory::new(), "l").await;
}

#[tokio::test]
async fn rows_have_bounds_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |name: &str| Fjall::open(folder.path().join(name), FjallOptions::default()).expect("a folder");
    siblings_have_a_bound_together(open("one"), "s").await;
    larger_ones_go_on(open("other"), "l").await;
}
