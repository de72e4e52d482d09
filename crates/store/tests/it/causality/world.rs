//! An engine with the history of all calls to it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use alula_store::engine::{Decide, Durability, Engine, EngineError, ReadTerms, WriteTerms, Written};
use alula_store::model::Record;
use tokio::time::Instant;

use crate::causality::decisions::{self, Decision, Reap};
use crate::causality::history::{Action, Call, Condition, Outcome, Put, Reason};
use crate::causality::keys::Key;
use crate::causality::planted::{self, Fault};
use crate::causality::seen::{Id, Seen};

pub(crate) struct World<E> {
    pub(crate) engine: E,
    clock: AtomicU64,
    ids: AtomicU64,
    calls: Mutex<Vec<Call>>,
    fault: Option<Fault>,
    /// The last context and its key, for a fault that mixes keys up.
    last_context: Mutex<Option<(Key, Put)>>,
}

impl<E: Engine> World<E> {
    pub(crate) fn new(engine: E, fault: Option<Fault>) -> Self {
        Self {
            engine,
            clock: AtomicU64::new(0),
            ids: AtomicU64::new(1),
            calls: Mutex::default(),
            fault,
            last_context: Mutex::default(),
        }
    }

    pub(crate) fn next_id(&self) -> Id {
        self.ids.fetch_add(1, SeqCst)
    }

    /// Carries a call out and writes down when it began, when it ended and what it was answered.
    pub(crate) async fn call(&self, key: Key, action: Action) -> Outcome {
        let begun = self.clock.fetch_add(1, SeqCst);
        let outcome = match &action {
            Action::Read { r } => self.read(key, *r).await,
            Action::Put(put) => self.put(key, put).await,
            Action::Reap { seen, w } => self.reap(key, seen, *w).await,
        };
        let ended = match outcome {
            Outcome::Unknown => u64::MAX,
            _ => self.clock.fetch_add(1, SeqCst),
        };
        let call = Call { key, begun, ended, action, outcome: outcome.clone() };
        self.calls.lock().expect("no client panics").push(call);
        outcome
    }

    /// All calls, by their beginnings.
    pub(crate) fn history(&self) -> Vec<Call> {
        let mut calls = self.calls.lock().expect("no client panics").clone();
        calls.sort_by_key(|call| call.begun);
        calls
    }

    async fn read(&self, key: Key, r: u32) -> Outcome {
        match self.engine.get(key.name(), &read_terms(r)).await {
            Ok(bytes) => Outcome::Given(Seen::read(bytes.as_ref().map(AsRef::as_ref))),
            Err(error) => failed_read(&error),
        }
    }

    async fn put(&self, key: Key, put: &Put) -> Outcome {
        let mut decide = decisions::Put::new(key, put, self.fault);
        match self.fault {
            Some(Fault::Maxima) => decide = decide.with_context(planted::maxima(&put.context)),
            Some(Fault::ContextOfAnotherKey) => {
                let last = self.last_context.lock().expect("no client panics").replace((key, put.clone()));
                if let Some((_, put)) = last.filter(|(other, _)| *other != key) {
                    decide = decide.with_context(put.context);
                }
            }
            Some(Fault::ConditionOutside) if put.condition != Condition::Always => {
                if let Err(refused) = self.check_outside(key, &mut decide).await {
                    return refused;
                }
            }
            _ => {}
        }
        let write = self.write(key, decide, put.w, |decide| decide.decision);
        let outcome = match put.is_abandoned {
            true => once(write).await.unwrap_or(Outcome::Unknown),
            false => write.await,
        };
        if self.fault == Some(Fault::CoversOtherKeys) {
            self.cover_other_keys(key, put).await;
        }
        outcome
    }

    async fn reap(&self, key: Key, seen: &Seen, w: u32) -> Outcome {
        self.write(key, Reap::new(seen), w, |decide| decide.decision).await
    }

    async fn write<D: Decide>(
        &self,
        key: Key,
        decide: D,
        w: u32,
        decision: impl FnOnce(D) -> Decision,
    ) -> Outcome {
        match self.engine.write(key.name(), decide, &write_terms(w)).await {
            Ok(Written { decide, record }) => match decision(decide) {
                Decision::Stored => Outcome::Stored(Seen::read(record.as_ref().map(AsRef::as_ref))),
                Decision::Removed => Outcome::Removed,
                Decision::Refused(reason, seen) => Outcome::Refused(reason, seen),
                Decision::Undecided => panic!("an engine answers a write that it did not decide"),
            },
            Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => Outcome::Unknown,
            Err(EngineError::TimedOut | EngineError::Busy | EngineError::WritesRefused) => Outcome::NotDone,
            Err(error) => panic!("{error}"),
        }
    }

    /// Plants a fault: the condition is evaluated by a read, and others write before the write.
    async fn check_outside(&self, key: Key, decide: &mut decisions::Put) -> Result<(), Outcome> {
        let bytes = match self.engine.get(key.name(), &read_terms(3)).await {
            Ok(bytes) => bytes,
            Err(error) => return Err(failed_read(&error)),
        };
        let stored = bytes.as_ref().map(AsRef::as_ref).map(|bytes| Record::read(bytes).expect("whole"));
        decide.check_before(stored).map_err(|seen| Outcome::Refused(Reason::Condition, seen))?;
        tokio::task::yield_now().await;
        Ok(())
    }

    /// Plants a fault: a context removes what it names, whatever the key.
    async fn cover_other_keys(&self, key: Key, put: &Put) {
        for other in Key::all().filter(|other| *other != key) {
            let cover = planted::Cover::new(&put.context);
            self.engine.write(other.name(), cover, &write_terms(1)).await.expect("memory does not fail");
        }
    }
}

/// Polls a call once and drops it unless it has ended.
async fn once<T>(call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

pub(crate) fn read_terms(r: u32) -> ReadTerms {
    let deadline = Instant::now() + Duration::from_secs(600);
    ReadTerms { n: 3, r, pr: 0, node_confirms: 0, notfound_ok: true, basic_quorum: false, deadline }
}

pub(crate) fn write_terms(w: u32) -> WriteTerms {
    let deadline = Instant::now() + Duration::from_secs(600);
    WriteTerms { n: 3, w, pw: 0, dw: 0, node_confirms: 0, durability: Durability::Buffered, deadline }
}

fn failed_read(error: &EngineError) -> Outcome {
    match error {
        EngineError::Unavailable(_) | EngineError::TimedOut | EngineError::Busy => Outcome::NotDone,
        error => panic!("a read fails: {error}"),
    }
}
