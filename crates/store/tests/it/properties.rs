//! Properties of buckets and types over HTTP/1.1 and HTTP/2: what the cases of `wire` cannot say.

use std::time::Duration;

use crate::support::resources::{Kept, Wire, config, over_both};
use alula_store::engine::Engine;
use serde_json::{Value, json};
use tokio::time::Instant;

fn types() -> Vec<(&'static str, Value)> {
    vec![
        ("plain", json!({})),
        ("no_siblings", json!({"allow_mult": false})),
        ("sets", json!({"datatype": "set"})),
        ("hlls", json!({"datatype": "hll", "hll_precision": 14})),
        ("write_once", json!({"write_once": true})),
    ]
}

async fn props(wire: &Wire, path: &str) -> Value {
    wire.get(path).is(200).await.has_field("content-type", "application/json").json()["props"].take()
}

/// A content of 256 KiB once took 80 MB: an object of JSON takes some hundred times its bytes, and was
/// copied three times.
#[tokio::test]
async fn contents_have_a_bounded_number_of_values() {
    over_both(&types(), async |wire| {
        let many = |count: usize| json!({"props": {"other": vec![json!({"a": 1}); count]}}).to_string();
        let answer = wire.put("/buckets/b/props", &many(10_000)).is(400).await;
        answer.has_text("The content has more than 1024 values\n");
        wire.put("/buckets/b/props", &many(100)).is(204).await;
        let unknown: String = (0..33).map(|number| format!("\"x{number}\":1,")).collect();
        let unknown = format!("{{\"props\":{{{unknown}\"n_val\":1}}}}");
        let reasons = wire.put("/buckets/many/props", &unknown).is(400).await.json();
        assert_eq!(reasons.as_object().map(serde_json::Map::len), Some(33));
    })
    .await;
}

/// Riak §9.4: types that others share in the cases of `wire`.
#[tokio::test]
async fn a_change_of_the_type_default_shows_through() {
    over_both(&types(), async |wire| {
        wire.put("/types/default/props", r#"{"props":{"n_val":1}}"#).is(204).await;
        assert_eq!(props(&wire, "/buckets/b/props").await["n_val"], json!(1));
        wire.put("/types/plain/props", r#"{"props":{"allow_mult":false}}"#).is(204).await;
        wire.put("/types/hlls/props", r#"{"props":{"hll_precision":4}}"#).is(204).await;
    })
    .await;
}

/// Riak §9.2: clients send back what they were given.
#[tokio::test]
async fn a_whole_list_can_be_sent_back() {
    over_both(&types(), async |wire| {
        for path in [
            "/buckets/b/props",
            "/types/sets/buckets/b/props",
            "/types/hlls/props",
            "/types/write_once/props",
        ] {
            let list = wire.get(path).is(200).await.json();
            wire.put(path, &list.to_string()).is(204).await;
            wire.get(path).is(200).await.has_json(&list);
        }
    })
    .await;
}

/// Riak §9.1: what is set outlives the process.
#[tokio::test]
async fn properties_are_there_after_a_restart() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let wire = Wire::open(&engine, &types(), is_http2).await;
        wire.put("/buckets/b%00/props", r#"{"props":{"n_val":1,"x":{"y":[]}}}"#).is(204).await;
        wire.put("/types/plain/props", r#"{"props":{"r":"one"}}"#).is(204).await;
        wire.put("/types/plain/buckets/c/props", r#"{"props":{"w":2}}"#).is(204).await;
        wire.put("/buckets/gone/props", r#"{"props":{"w":2}}"#).is(204).await;
        wire.delete("/buckets/gone/props").is(204).await;
        let again = Wire::open(&engine, &types(), is_http2).await;
        for path in [
            "/buckets/b%00/props",
            "/types/plain/props",
            "/types/plain/buckets/c/props",
            "/buckets/gone/props",
        ] {
            assert_eq!(props(&again, path).await, props(&wire, path).await, "{path}");
        }
        assert_eq!(props(&again, "/buckets/b%00/props").await["x"], json!({"y": []}));
        assert_eq!(props(&again, "/types/plain/buckets/c/props").await["r"], json!("one"));
    }
}

/// Riak §9.4, §19: the data type of a type is what it was first.
#[tokio::test]
async fn a_store_does_not_open_with_another_datatype() {
    let engine = Kept::default();
    Wire::open(&engine, &types(), false).await;
    let other = config(&[("sets", json!({"datatype": "counter"}))]);
    let error = alula_store::Store::open(engine, other).await.expect_err("another data type");
    assert_eq!(error.to_string(), "the datatype of the bucket type sets was set and cannot become counter");
}

/// Riak §9.2: members that are set at once are all there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_lose_nothing() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let wire = std::sync::Arc::new(Wire::open(&engine, &types(), is_http2).await);
        let writers = ["a", "b"].map(|writer| {
            let wire = std::sync::Arc::clone(&wire);
            tokio::spawn(async move {
                for number in 0..15 {
                    let body = format!("{{\"props\":{{\"{writer}{number}\":{number}}}}}");
                    wire.put("/buckets/b/props", &body).is(204).await;
                }
            })
        });
        for writer in writers {
            writer.await.expect("no panic");
        }
        for wire in [&*wire, &Wire::open(&engine, &types(), is_http2).await] {
            let props = props(wire, "/buckets/b/props").await;
            assert!((0..15).all(|number| props[format!("a{number}")] == json!(number)));
            assert!((0..15).all(|number| props[format!("b{number}")] == json!(number)));
        }
    }
}

/// Riak §9.2: the number of buckets with properties of their own is bounded.
#[tokio::test]
async fn buckets_with_properties_of_their_own_are_bounded() {
    for is_http2 in [false, true] {
        let engine = Kept::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        for number in 0..10_000_u32 {
            let name = [b"\x02\x07default\x04", &number.to_be_bytes()[..]].concat();
            engine.set(&name, Some(b"{\"n_val\":1}"), deadline).await.expect("kept");
        }
        let wire = Wire::open(&engine, &types(), is_http2).await;
        wire.put("/buckets/one-more/props", r#"{"props":{"n_val":2}}"#).is(507).await;
        wire.put("/buckets/%00%00%00%01/props", r#"{"props":{"n_val":2}}"#).is(204).await;
        wire.delete("/buckets/%00%00%00%01/props").is(204).await;
        wire.put("/buckets/one-more/props", r#"{"props":{"n_val":2}}"#).is(204).await;
        assert_eq!(props(&wire, "/buckets/one-more/props").await["n_val"], json!(2));
    }
}
