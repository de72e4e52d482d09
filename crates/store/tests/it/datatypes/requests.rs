//! Requests for data types over HTTP/1.1 and HTTP/2: keys that are made, limits, and writers at once.

use std::sync::Arc;

use crate::support::resources::typed::{types, value};
use crate::support::resources::{Kept, Wire, over_both};
use serde_json::{Value, json};

/// Riak §13, §5.3
#[tokio::test]
async fn a_post_without_a_key_makes_one() {
    over_both(&types(), async |wire| {
        let path = "/types/sets/buckets/my%2Fbucket/datatypes";
        let answered = wire.post(path, r#"{"add":"a"}"#).is(201).await.has_text("");
        let first = answered.field("location").expect("a path").to_owned();
        let key = first.strip_prefix(&format!("{path}/")).expect("a key below the bucket");
        assert!(
            (20..40).contains(&key.len()) && key.bytes().all(|letter| letter.is_ascii_alphanumeric()),
            "{key}"
        );
        assert_eq!(value(&wire, &first).await, json!(["a"]));
        let answered = wire.post(&format!("{path}?returnbody=true"), r#"{"add":"b"}"#).is(201).await;
        let second = answered.field("location").expect("a path").to_owned();
        assert_ne!(first, second);
        wire.get(&second).is(200).await.has_json(&answered.json());
        wire.post(path, r#"{"remove":"a"}"#).is(400).await.lacks_field("location");
        wire.ask("POST", path).content("text/plain", "x").is(406).await;
    })
    .await;
}

/// Riak §1.1: a long operation is refused before it is held.
#[tokio::test]
async fn long_operations_are_refused() {
    let path = "/types/sets/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        wire.post(path, &json!({"add": "a".repeat(1024 * 1024)}).to_string()).is(413).await;
        wire.post(path, &json!({"add": "a".repeat(1024 * 1024 - 20)}).to_string()).is(204).await;
    })
    .await;
}

/// Riak §5.6: the limit of objects is that of data types.
#[tokio::test]
async fn a_data_type_has_the_limit_of_objects() {
    let mut config = crate::support::resources::config(&types());
    config.object_bytes_max = 1000;
    let store = alula_store::Store::open(Kept::default(), config).await.expect("types that can be");
    let client = alula::testing::client(store.routes().expect("routes that agree"));
    let url = "http://test/types/sets/buckets/b/datatypes/k";
    let post = async |element: &str| {
        let content = json!({"add": element}).to_string();
        let call = client.post(url).header("content-type", "application/json").body(content);
        call.send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(
        [post(&"a".repeat(500)).await, post(&"b".repeat(500)).await, post("c").await],
        [204, 413, 204]
    );
}

/// Riak §13: what is acknowledged is there, whoever writes at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_lose_nothing() {
    const ROUNDS: usize = 100;
    for is_http2 in [false, true] {
        let wire = Arc::new(Wire::open(&Kept::default(), &types(), is_http2).await);
        let writers = ["a", "b"].map(|writer| {
            let wire = Arc::clone(&wire);
            tokio::spawn(async move {
                for number in 0..ROUNDS {
                    wire.post("/types/counters/buckets/b/datatypes/k", "1").is(204).await;
                    let add = json!({"add": format!("{writer}{number}")}).to_string();
                    wire.post("/types/sets/buckets/b/datatypes/k", &add).is(204).await;
                    let update =
                        json!({"update": {"n_counter": 1, "s_set": {"add": format!("{writer}{number}")}}});
                    wire.post("/types/maps/buckets/b/datatypes/k", &update.to_string()).is(204).await;
                }
            })
        });
        for writer in writers {
            writer.await.expect("no panic");
        }
        let elements = |set: &Value| set.as_array().map(Vec::len);
        assert_eq!(value(&wire, "/types/counters/buckets/b/datatypes/k").await, json!(2 * ROUNDS));
        assert_eq!(elements(&value(&wire, "/types/sets/buckets/b/datatypes/k").await), Some(2 * ROUNDS));
        let map = value(&wire, "/types/maps/buckets/b/datatypes/k").await;
        assert_eq!((&map["n_counter"], elements(&map["s_set"])), (&json!(2 * ROUNDS), Some(2 * ROUNDS)));
    }
}

/// Riak §13: a restart has another actor, and the shares of both count.
#[tokio::test]
async fn data_types_go_on_after_a_restart() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let path = "/types/maps/buckets/b/datatypes/k";
        for round in 1..=3 {
            let wire = Wire::open(&engine, &types(), is_http2).await;
            wire.post(path, r#"{"update":{"n_counter":2}}"#).is(204).await;
            assert_eq!(value(&wire, path).await, json!({"n_counter": 2 * round}));
        }
    }
}
