//! The metrics of engine calls: each call and each outcome is counted once, under its own label.

use std::sync::Arc;

use crate::support::broken::{Broken, unreadable};
use crate::support::fjall::{BUCKET, Put, far, read_terms, write_terms};
use alula_store::engine::{
    Decide, Durability, Engine, EngineError, IndexRange, KeyRange, Mark, Measured, Memory, Page, Snapshot,
    Verdict, WriteTerms,
};
use alula_store::model::Record;

/// The lines of a metric, without its name.
fn lines(engine: &Measured<impl Engine>, metric: &str) -> Vec<String> {
    let text = engine.metrics().expect("it measures").text();
    text.lines().filter_map(|line| line.strip_prefix(metric)).map(str::to_owned).collect()
}

/// The calls that were counted, as `call outcome count`.
fn calls(engine: &Measured<impl Engine>) -> Vec<String> {
    let found = lines(engine, "store_engine_calls_total{engine=\"").into_iter().map(|line| {
        let (labels, count) = line.split_once("\"} ").expect("a count");
        let mut labels =
            labels.split("\",").map(|label| label.rsplit('"').next().unwrap_or(label).to_owned());
        let (_, call, outcome) = (labels.next(), labels.next(), labels.next());
        format!("{} {} {count}", call.expect("a call"), outcome.expect("an outcome"))
    });
    found.collect()
}

#[tokio::test]
async fn each_call_is_counted_by_its_outcome() {
    let engine = Measured::on(Broken::after(3, unreadable()));
    let name = BUCKET.object(b"key");
    let buffered = write_terms(Durability::Buffered);
    for terms in [buffered, buffered, WriteTerms { node_confirms: 2, ..buffered }] {
        let _ = engine.write(name, Put::value("value"), &terms).await;
    }
    engine.get(name, &read_terms()).await.expect("a read");
    engine.set(b"name", Some(b"value"), far()).await.expect("a setting");
    engine.settings(far()).await.expect("settings");
    let snapshot = engine.snapshot(far()).await.expect("a snapshot");
    let mut page = Page::new(10);
    let index = IndexRange { bucket: BUCKET, field: b"a_bin", low: b"", high: b"z", after: None };
    snapshot.get(name, far()).await.expect("a read");
    snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await.expect("a page");
    snapshot.entries(index, &mut page, far()).await.expect("a page");
    snapshot.buckets(b"default", None, &mut page, far()).await.expect("a page");
    snapshot.deleted(None, &mut page, far()).await.expect("a page");
    for _ in 0..2 {
        assert!(snapshot.keys(KeyRange::all(BUCKET), &mut page, far()).await.is_err());
    }
    let counted = [
        "get ok 2",
        "write ok 2",
        "write unavailable 1",
        "snapshot ok 1",
        "keys ok 1",
        "keys unreadable 2",
        "entries ok 1",
        "buckets ok 1",
        "deleted ok 1",
        "settings ok 1",
        "set ok 1",
    ];
    assert_eq!(calls(&engine), counted);
    let totals = lines(&engine, "store_engine_call_duration_seconds_count{engine=\"broken\",call=\"");
    assert_eq!(totals[..3], ["get\"} 2", "write\"} 3", "snapshot\"} 1"]);
    let infinite: Vec<_> = lines(&engine, "store_engine_call_duration_seconds_bucket{engine=\"broken\",")
        .into_iter()
        .filter(|line| line.contains("le=\"+Inf\""))
        .collect();
    assert_eq!(infinite[1], "call=\"write\",le=\"+Inf\"} 3");
}

/// A decision that never comes.
struct Panics;

impl Decide for Panics {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        panic!("a test")
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_counted_as_abandoned() {
    let engine = Arc::new(Measured::on(Memory::new()));
    let task = Arc::clone(&engine);
    let write = tokio::spawn(async move {
        let written = task.write(BUCKET.object(b"key"), Panics, &write_terms(Durability::Buffered)).await;
        written.map(drop)
    });
    assert!(write.await.is_err_and(|error| error.is_panic()));
    assert_eq!(calls(&engine), ["write abandoned 1"]);
}

#[tokio::test]
async fn an_engine_that_is_not_measured_has_no_metrics() -> Result<(), EngineError> {
    let engine = Measured::off(Memory::new());
    engine.set(b"name", Some(b"value"), far()).await?;
    assert!(engine.metrics().is_none());
    assert_eq!((engine.label(), engine.takes_writes()), ("memory", true));
    Ok(())
}

#[test]
fn threads_are_added_up() {
    let engine = Measured::on(Memory::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                for _ in 0..1000 {
                    runtime.block_on(engine.get(BUCKET.object(b"key"), &read_terms())).expect("a read");
                }
            });
        }
    });
    assert_eq!(calls(&engine), ["get ok 4000"]);
}
