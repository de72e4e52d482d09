//! Replicas that go wrong, each fault alone.

use std::time::Duration;

use super::*;
use alula_store::engine::{BucketName, KeyRange, Page, Snapshot};
use alula_store::model::{Context, NewContent, Rules, write};

const NAME: ObjectName<'_> = BucketName { bucket_type: b"default", bucket: b"b" }.object(b"k");

/// A write with the context of what is stored, or with none.
struct Put {
    value: u8,
    covers: bool,
}

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let mut bytes = Vec::new();
        let context = match stored.filter(|_| self.covers) {
            Some(stored) => stored.context(&mut bytes),
            None => Context::EMPTY,
        };
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: false,
            attributes: b"",
            value: &[self.value],
        };
        let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
        write(stored, context, &new, &rules, out).expect("few and short contents");
        Verdict::Write
    }
}

struct Remove;

impl Decide for Remove {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        Verdict::Remove
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn at_least(w: u32) -> WriteTerms {
    WriteTerms { n: 3, w, dw: 1, ..alone(soon()) }
}

async fn put(engine: &Replicas, value: u8, covers: bool, w: u32) -> Result<(), EngineError> {
    engine.write(NAME, Put { value, covers }, &at_least(w)).await.map(drop)
}

/// Returns the values that a read of so many replicas gives.
async fn values(engine: &Replicas, r: u32) -> Result<Vec<u8>, EngineError> {
    let bytes = engine.get(NAME, &ReadTerms { r, ..majority(soon()) }).await?;
    let record = bytes.as_deref().map(|bytes| Record::read(bytes).expect("whole"));
    let contents = record.into_iter().flat_map(|record| record.contents());
    let mut values: Vec<_> = contents.map(|content| content.value()[0]).collect();
    values.sort_unstable();
    Ok(values)
}

#[tokio::test]
async fn without_faults_every_read_has_every_write() {
    let engine = Replicas::new(1, FaultRates::NONE);
    put(&engine, 1, false, 3).await.expect("no faults");
    put(&engine, 2, false, 1).await.expect("no faults");
    assert_eq!(values(&engine, 1).await.expect("no faults"), [1, 2]);
    put(&engine, 3, true, 1).await.expect("no faults");
    assert_eq!(values(&engine, 1).await.expect("no faults"), [3]);
    engine.write(NAME, Remove, &at_least(3)).await.expect("no faults");
    assert!(values(&engine, 1).await.expect("no faults").is_empty());
}

#[tokio::test]
async fn one_seed_and_the_same_calls_have_the_same_outcomes() {
    async fn outcomes(seed: u64) -> String {
        let engine = Replicas::new(seed, FaultRates::default());
        let mut outcomes = String::new();
        for call in 0..200 {
            let written = put(&engine, call, call % 3 == 0, u32::from(call % 3) + 1).await;
            let read = engine.get(NAME, &ReadTerms { r: u32::from(call % 3) + 1, ..majority(soon()) }).await;
            outcomes += &format!("{written:?} {read:?}\n");
        }
        outcomes
    }
    assert_eq!(outcomes(1).await, outcomes(1).await);
    assert_ne!(outcomes(1).await, outcomes(2).await);
}

/// A read of one replica is given the second write of an actor and not the first: what maxima for each actor
/// would cover unseen.
#[tokio::test]
async fn a_weak_read_may_miss_an_earlier_write() {
    let mut gaps = 0;
    for seed in 0..50 {
        let engine = Replicas::new(seed, FaultRates { lost: 3, ..FaultRates::NONE });
        let (first, second) = (put(&engine, 1, false, 1).await, put(&engine, 2, false, 1).await);
        let is_gap = values(&engine, 1).await.expect("all replicas answer") == [2];
        gaps += u32::from(is_gap && first.is_ok() && second.is_ok());
        engine.settle();
        for _ in 0..3 {
            assert_eq!(values(&engine, 1).await.expect("all replicas answer"), [1, 2]);
        }
    }
    assert!(gaps > 2, "{gaps}");
}

#[tokio::test]
async fn a_read_of_a_majority_has_what_a_majority_took() {
    for seed in 0..200 {
        let engine = Replicas::new(seed, FaultRates { down: 4, ..FaultRates::MESSAGES });
        let mut taken = Vec::new();
        for value in 0..20 {
            if put(&engine, value, false, 2).await.is_ok() {
                taken.push(value);
            }
            let Ok(read) = values(&engine, 2).await else { continue };
            assert!(taken.iter().all(|value| read.contains(value)), "{seed}: {taken:?} {read:?}");
        }
    }
}

#[tokio::test]
async fn a_write_of_unknown_outcome_is_kept_or_never_seen() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in 0..100 {
        let engine = Replicas::new(seed, FaultRates { unknown: 1, ..FaultRates::NONE });
        let written = put(&engine, 1, false, 2).await;
        assert!(matches!(written, Err(EngineError::Unknown(_))), "{written:?}");
        let before = values(&engine, 3).await.expect("all replicas answer");
        assert!(before.is_empty(), "no replica has taken it");
        engine.settle();
        match &values(&engine, 3).await.expect("all replicas answer")[..] {
            [] => dropped += 1,
            _ => kept += 1,
        }
    }
    assert!(kept > 20 && dropped > 20, "{kept} {dropped}");
}

#[tokio::test]
async fn too_few_replicas_are_unavailable_and_say_how_many() {
    let mut refused = Vec::new();
    for seed in 0..50 {
        let engine = Replicas::new(seed, FaultRates { down: 2, ..FaultRates::NONE });
        for call in 0..20 {
            match put(&engine, call, false, 3).await {
                Err(EngineError::Unavailable(shortage)) => refused.push(shortage.to_string()),
                outcome => outcome.expect("replicas go down and nothing else"),
            }
        }
    }
    refused.sort_unstable();
    refused.dedup();
    assert_eq!(refused, ["W-value unsatisfied: 0/3", "W-value unsatisfied: 1/3", "W-value unsatisfied: 2/3"]);
}

#[tokio::test]
async fn more_machines_than_there_are_never_confirm() {
    let engine = Replicas::new(1, FaultRates::NONE);
    let terms = WriteTerms { node_confirms: 4, ..at_least(1) };
    let written = engine.write(NAME, Put { value: 1, covers: false }, &terms).await.map(drop);
    let text = written.expect_err("there are three").to_string();
    assert_eq!(text, "node_confirms-value unsatisfied: 3/4");
    assert!(values(&engine, 3).await.expect("no faults").is_empty());
}

/// Riak §4: a miss that does not count as an answer is asked for at all replicas.
#[tokio::test]
async fn a_miss_that_is_no_answer_is_read_from_all() {
    let (mut misses, mut found) = (0, 0);
    for seed in 0..50 {
        let engine = Replicas::new(seed, FaultRates { lost: 2, ..FaultRates::NONE });
        if put(&engine, 1, false, 1).await.is_err() {
            continue;
        }
        let is_miss = values(&engine, 1).await.expect("all replicas answer").is_empty();
        let terms = ReadTerms { r: 1, notfound_ok: false, ..majority(soon()) };
        let read = engine.get(NAME, &terms).await.expect("all replicas answer");
        misses += u32::from(is_miss);
        found += u32::from(read.is_some());
        assert!(read.is_some(), "{seed}");
    }
    assert!(misses > 5 && found > 20, "{misses} {found}");
}

#[tokio::test]
async fn a_deadline_that_has_passed_ends_every_call() {
    let engine = Replicas::new(1, FaultRates::NONE);
    let terms = WriteTerms { deadline: Instant::now(), ..at_least(1) };
    let written = engine.write(NAME, Put { value: 1, covers: false }, &terms).await.map(drop);
    assert!(matches!(written, Err(EngineError::TimedOut)));
    let read = engine.get(NAME, &majority(Instant::now())).await;
    assert!(matches!(read, Err(EngineError::TimedOut)));
    assert!(matches!(engine.snapshot(Instant::now()).await, Err(EngineError::TimedOut)));
}

#[tokio::test]
async fn lists_are_those_of_what_replicas_have_together() {
    let engine = Replicas::new(3, FaultRates { lost: 3, ..FaultRates::NONE });
    let bucket = NAME.bucket;
    for key in 0..30 {
        let put = Put { value: key, covers: false };
        // Writes that fewer replicas took than were asked for are kept as well.
        drop(engine.write(bucket.object(&[key]), put, &at_least(2)).await);
    }
    engine.settle();
    let snapshot = engine.snapshot(soon()).await.expect("all replicas answer");
    let mut page = Page::new(100);
    snapshot.keys(KeyRange::all(bucket), &mut page, soon()).await.expect("in memory");
    assert!(page.items().map(|item| item.key[0]).eq(0..30) && page.is_last());
}

#[tokio::test]
async fn settings_are_kept() {
    let engine = Replicas::new(1, FaultRates::default());
    engine.set(b"a", Some(b"1"), soon()).await.expect("settings never fail");
    engine.set(b"b", Some(b"2"), soon()).await.expect("settings never fail");
    engine.set(b"a", None, soon()).await.expect("settings never fail");
    let settings = engine.settings(soon()).await.expect("settings never fail");
    assert_eq!(settings, [(b"b".to_vec(), b"2".to_vec())]);
}
