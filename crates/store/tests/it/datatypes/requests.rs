//! Requests for data types over HTTP/1.1 and HTTP/2: what is missing or refused, keys that are made, limits,
//! and writers at once.

use std::sync::Arc;
use std::time::Duration;

use crate::support::resources::typed::{context, types, value};
use crate::support::resources::{Kept, Wire, over_both};
use alula_store::engine::{BucketName, Decide, Durability, Engine, Mark, Verdict, WriteTerms};
use alula_store::model::{self, Context, NewContent, Record, Rules};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Stores that an object was deleted, as the resource of objects does.
struct Deletion;

impl Decide for Deletion {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let Mark { dot, vtag, now } = mark;
        let new = NewContent { dot, vtag, now, is_deleted: true, attributes: b"", value: b"" };
        let rules = Rules { allow_mult: false, last_write_wins: false, siblings_max: 1, bytes_max: 0 };
        model::write(stored, Context::EMPTY, &new, &rules, out).expect("one content without bytes");
        Verdict::Write
    }
}

async fn delete(wire: &Wire, bucket_type: &str, bucket: &str, key: &str) {
    let bucket = BucketName { bucket_type: bucket_type.as_bytes(), bucket: bucket.as_bytes() };
    let deadline = Instant::now() + Duration::from_secs(60);
    let terms =
        WriteTerms { n: 3, w: 2, pw: 0, dw: 2, node_confirms: 0, durability: Durability::Flushed, deadline };
    wire.store.engine().write(bucket.object(key.as_bytes()), Deletion, &terms).await.expect("written");
}

/// Riak §13
#[tokio::test]
async fn what_is_missing_is_told_in_json() {
    over_both(&types(), async |wire| {
        for (name, kind) in
            [("counters", "counter"), ("sets", "set"), ("gsets", "gset"), ("maps", "map"), ("hlls", "hll")]
        {
            let path = format!("/types/{name}/buckets/b/datatypes/k");
            let expected = json!({"type": kind, "error": "notfound"});
            let answered = wire.get(&path).is(404).await.has_json(&expected);
            answered.has_field("content-type", "application/json").lacks_field("x-riak-deleted");
            delete(&wire, name, "b", "k").await;
            wire.get(&path).is(404).await.has_json(&expected).has_field("x-riak-deleted", "true");
        }
        wire.ask("HEAD", "/types/sets/buckets/b/datatypes/k").is(404).await.has_text("");
        wire.get("/types/sets/buckets/b/datatypes").is(404).await;
        wire.ask("HEAD", "/types/sets/buckets/b/datatypes").is(404).await;
    })
    .await;
}

/// Riak §3.5, §13: after a deletion a data type begins anew.
#[tokio::test]
async fn a_deleted_data_type_begins_anew() {
    over_both(&types(), async |wire| {
        let path = "/types/counters/buckets/b/datatypes/k";
        wire.post(path, "41").is(204).await;
        delete(&wire, "counters", "b", "k").await;
        wire.get(path).is(404).await;
        wire.post(path, "1").is(204).await;
        assert_eq!(value(&wire, path).await, json!(1));
        let path = "/types/sets/buckets/b/datatypes/k";
        wire.post(path, r#"{"add_all":["a","b"]}"#).is(204).await;
        let seen = context(&wire, path).await;
        delete(&wire, "sets", "b", "k").await;
        wire.post(path, r#"{"add":"c"}"#).is(204).await;
        wire.post(path, &json!({"remove_all": ["a", "c"], "context": seen}).to_string()).is(204).await;
        assert_eq!(value(&wire, path).await, json!(["c"]));
    })
    .await;
}

/// Riak §13: 403 for types without a data type, 404 for unknown ones.
#[tokio::test]
async fn types_without_a_data_type_are_refused() {
    over_both(&types(), async |wire| {
        let plain = "/types/plain/buckets/b/datatypes/k";
        wire.get(plain).is(403).await.has_field("content-type", "text/plain");
        wire.post(plain, "1").is(403).await.has_field("content-type", "text/plain");
        wire.post("/types/plain/buckets/b/datatypes", "1").is(403).await;
        wire.post("/types/default/buckets/b/datatypes", "1").is(403).await;
        let text = "Unknown bucket type: none\n";
        wire.get("/types/none/buckets/b/datatypes/k").is(404).await.has_text(text);
        wire.post("/types/none/buckets/b/datatypes/k", "1").is(404).await.has_text(text);
        wire.post("/types/none/buckets/b/datatypes", "1").is(404).await.has_text(text);
    })
    .await;
}

/// Riak §12: data types of the default type are counters elsewhere.
#[tokio::test]
async fn the_default_type_has_counters_at_another_path() {
    over_both(&types(), async |wire| {
        let path = "/types/default/buckets/my%20b/datatypes/a%2Fk";
        let location = "/buckets/my%20b/counters/a%2Fk";
        wire.post(path, "1").is(301).await.has_field("location", location);
        wire.get(path).is(301).await.has_field("location", location);
        wire.post("/types/default/buckets/my+b/datatypes/a%2fk?w=x", "1").is(400).await;
    })
    .await;
}

/// Riak §13: other content types are 406, as is an `accept` without JSON; nothing is stored then.
#[tokio::test]
async fn content_and_answers_are_json() {
    let path = "/types/counters/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
            let text = "A change of a data type must be of the type application/json\n";
            wire.ask("POST", path).content(media_type, "1").is(406).await.has_text(text);
        }
        wire.ask("POST", path).content("text/plain", "not JSON").is(406).await;
        wire.post(path, "1").field("accept", "text/plain").is(406).await;
        wire.post(path, "1").field("accept", "application/json;q=0").is(406).await;
        wire.get(path).field("accept", "text/plain").is(404).await;
        wire.ask("POST", path).content("application/json; charset=utf-8", "1").is(204).await;
        wire.get(path).field("accept", "text/plain").is(406).await;
        wire.get(path).field("accept", "text/plain, */*;q=0.1").is(200).await;
        assert_eq!(value(&wire, path).await, json!(1));
        wire.ask("PUT", path).content("application/json", "1").is(405).await;
        wire.delete(path).is(405).await;
    })
    .await;
}

/// Riak §4: counts are those of the bucket, bad ones are told.
#[tokio::test]
async fn parameters_are_checked() {
    let path = "/types/counters/buckets/b/datatypes/k";
    over_both(&types(), async |wire| {
        for query in [
            "w=x",
            "dw=-1",
            "pw=QUORUM",
            "w=4",
            "dw=4",
            "r=4",
            "returnbody=x",
            "include_context=2",
            "timeout=soon",
        ] {
            wire.post(&format!("{path}?{query}"), "1").is(400).await.has_field("content-type", "text/plain");
        }
        wire.get(&format!("{path}?r=4")).is(400).await;
        wire.get(&format!("{path}?pr=some")).is(400).await;
        wire.post(&format!("{path}?node_confirms=2"), "1")
            .is(503)
            .await
            .has_text("node_confirms-value unsatisfied: 1/2\n");
        wire.get(path).is(404).await;
        for query in ["w=1", "dw=all&pw=one&w=quorum", "timeout=1000", "w=default", "unknown=1"] {
            wire.post(&format!("{path}?{query}"), "1").is(204).await;
        }
        wire.get(&format!("{path}?r=1&pr=3&basic_quorum=true&notfound_ok=false")).is(200).await;
    })
    .await;
}

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
