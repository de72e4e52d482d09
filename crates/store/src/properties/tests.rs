//! The table beside an engine in memory: what is set, what is kept, and what a later start makes of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::engine::Memory;

fn list(value: Value) -> List {
    let Value::Object(list) = value else { panic!("{value} is no list") };
    list
}

fn types(types: &[(&str, Value)]) -> Vec<(String, List)> {
    types.iter().map(|(name, properties)| ((*name).to_owned(), list(properties.clone()))).collect()
}

fn bucket<'a>(bucket_type: &'a str, bucket: &'a str) -> BucketName<'a> {
    BucketName { bucket_type: bucket_type.as_bytes(), bucket: bucket.as_bytes() }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Starts a table of what the engine has kept, and keeps its new settings.
async fn start(engine: &Memory, configured: &[(&str, Value)]) -> Result<PropertyTable, PropertyError> {
    let settings = engine.settings(deadline()).await.expect("settings");
    let table = PropertyTable::new(&types(configured), &settings, Unheeded::default())?;
    for (name, value) in table.new_settings() {
        engine.set(name, Some(value), deadline()).await.expect("kept");
    }
    Ok(table)
}

#[tokio::test]
async fn what_is_set_is_there_after_a_start() {
    let engine = Memory::new();
    let configured = [("maps", json!({"datatype": "map", "n_val": 2}))];
    let table = start(&engine, &configured).await.expect("a new type");
    let set = |asked| list(asked);
    table
        .set_bucket(&engine, bucket("default", "b"), &set(json!({"w": 1, "x": [1]})), deadline())
        .await
        .expect("set");
    table.set_type(&engine, b"maps", &set(json!({"r": "one"})), deadline()).await.expect("set");
    table.set_bucket(&engine, bucket("maps", "m"), &set(json!({"n_val": 7})), deadline()).await.expect("set");
    let again = start(&engine, &configured).await.expect("the same type");
    for bucket in [bucket("default", "b"), bucket("default", "c"), bucket("maps", "m"), bucket("maps", "n")] {
        assert_eq!(again.of(bucket), table.of(bucket));
        assert_eq!(again.bucket_list(bucket), table.bucket_list(bucket));
    }
    assert_eq!(again.type_list(b"maps"), table.type_list(b"maps"));
    assert_eq!(again.of(bucket("maps", "m")).map(|it| (it.n_val, it.r)), Some((7, Quorum::One)));
    table.reset_bucket(&engine, bucket("maps", "m"), deadline()).await.expect("reset");
    let again = start(&engine, &configured).await.expect("the same type");
    assert_eq!(again.of(bucket("maps", "m")).map(|it| it.n_val), Some(2));
}

#[tokio::test]
async fn a_datatype_stays_over_starts() {
    let engine = Memory::new();
    start(&engine, &[("t", json!({"datatype": "set"})), ("plain", json!({}))]).await.expect("new types");
    start(&engine, &[]).await.expect("types may go");
    let error = start(&engine, &[("t", json!({"datatype": "map"}))]).await.expect_err("another");
    assert_eq!(error.to_string(), "the datatype of the bucket type t was set and cannot become map");
    start(&engine, &[("t", json!({}))]).await.expect_err("none");
    start(&engine, &[("plain", json!({"datatype": "set"}))]).await.expect_err("one where there was none");
    start(&engine, &[("t", json!({"datatype": "set", "n_val": 1}))]).await.expect("the same");
}

#[tokio::test]
async fn types_that_cannot_be_are_named() {
    let engine = Memory::new();
    for (configured, text) in [
        (vec![("", json!({}))], "no name"),
        (vec![("default", json!({"datatype": "set"}))], "default"),
        (vec![("a", json!({})), ("a", json!({}))], "a is there twice"),
        (vec![("odd", json!({"n_val": 0}))], "odd cannot be: {\"n_val\":\"not_integer\"}"),
    ] {
        let error = start(&engine, &configured).await.expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_list_is_named() {
    let engine = Memory::new();
    let name = setting::bucket_name(bucket("default", "orders"));
    for value in [&b"{"[..], b"[]", b"{\"n_val\":0}"] {
        engine.set(&name, Some(value), deadline()).await.expect("kept");
        let error = start(&engine, &[]).await.expect_err("damaged");
        assert!(error.to_string().contains("orders"), "{error}");
    }
}

#[tokio::test]
async fn untyped_buckets_and_types_have_the_defaults() {
    let table = start(&Memory::new(), &[("t", json!({}))]).await.expect("a plain type");
    let untyped = table.of(bucket("default", "b")).expect("it is always there");
    let typed = table.of(bucket("t", "b")).expect("it was made");
    assert!(!untyped.allow_mult && typed.allow_mult && !typed.last_write_wins);
    assert_eq!((untyped.n_val, untyped.w, untyped.pw), (3, Quorum::Quorum, Quorum::Count(0)));
    assert_eq!((untyped.sync_on_write, untyped.notfound_ok), (SyncOnWrite::Backend, true));
    assert_eq!(table.of(bucket("unknown", "b")), None);
}
