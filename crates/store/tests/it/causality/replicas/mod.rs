//! An engine of three replicas in memory, which go wrong as those of a cluster do. It is made for tests.
//!
//! A content is a row, and so is the removal of a content that a write covered. Replicas receive rows each
//! for itself: late, in another order, or not at all until a read or a hint repairs them. A read merges the
//! rows of the replicas that it asks, so that a read of one replica may be given the fifth write of an actor
//! and not the fourth. A write is decided on what a majority has, in one piece, as a light-weight transaction
//! of a cluster decides: see `cluster`.
//!
//! Rule 1: everything follows from the seed and the order of calls. Time is a count of calls, and nothing
//! sleeps.
//! Rule 2: a write whose outcome is `Unknown` or `Unavailable` may be kept. One that timed out was not begun.
//! Rule 3: between its steps a call lets others go on. A write waits only before its decision and before its
//! answer.

mod chance;
mod cluster;
mod coordinators;
mod fault_rates;
mod network;
mod quorum;
mod rows;
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{error, fmt};

use tokio::time::Instant;

use self::cluster::{Cluster, MAJORITY, REPLICAS};
use self::quorum::Quorum;
use self::rows::Rows;
use alula_store::engine::{
    Decide, Durability, Engine, EngineError, Level, Mark, Memory, ObjectName, ReadTerms, Shortage, Verdict,
    WriteTerms, Written,
};
use alula_store::model::Record;

pub(crate) use fault_rates::FaultRates;

/// Three replicas in memory that go wrong by a seed, for tests of what is built on a cluster.
///
/// The same seed and the same calls in the same order have the same outcomes.
#[derive(Debug)]
pub(crate) struct Replicas {
    cluster: Mutex<Cluster>,
    /// Settings of buckets are kept by no replica and never go wrong.
    settings: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
}

/// The coordinator of a write stopped before enough replicas had answered it.
#[derive(Debug)]
struct Stopped;

impl Replicas {
    /// Creates three empty replicas, whose faults follow from the seed.
    pub(crate) fn new(seed: u64, rates: FaultRates) -> Self {
        Self { cluster: Mutex::new(Cluster::new(seed, rates)), settings: Mutex::default() }
    }

    /// Brings the replicas to rest, as a repair does: all of them answer, all messages have arrived, writes
    /// of unknown outcome are finished or dropped, and each replica has what the others have. Faults go on
    /// with the next call.
    pub(crate) fn settle(&self) {
        self.cluster().settle();
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// Lets other calls go on, a few times.
    async fn pause(&self) {
        let turns = self.cluster().chance.below(3);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    /// Begins a read: the replicas that it asks.
    fn asked(&self, quorum: &Quorum) -> Result<Vec<usize>, EngineError> {
        let mut up = self.cluster().begin()?;
        quorum::check(up.len(), quorum)?;
        up.truncate(quorum.replicas());
        Ok(up)
    }

    /// Asks one replica after the other, each at a moment of its own.
    async fn ask(&self, asked: &[usize], name: &[u8]) -> Rows {
        let mut merged = Rows::default();
        for replica in asked {
            self.pause().await;
            if let Some(rows) = self.cluster().rows(*replica, name) {
                merged.merge(rows);
            }
        }
        merged
    }

    /// Asks all replicas for an object that was not found: a miss is no answer for this read.
    async fn ask_all(&self, name: &[u8], terms: &ReadTerms) -> Result<Rows, EngineError> {
        let up = self.cluster().begin()?;
        let needed = if terms.basic_quorum { MAJORITY } else { REPLICAS };
        if up.len() < needed {
            let (got, needed) = (up.len() as u32, needed as u32);
            return Err(EngineError::Unavailable(Shortage { level: Level::R, got, needed }));
        }
        Ok(self.ask(&up, name).await)
    }
}

impl Engine for Replicas {
    type Bytes = Arc<[u8]>;
    type Snapshot = <Memory as Engine>::Snapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Arc<[u8]>>, EngineError> {
        check_deadline(terms.deadline)?;
        let name = encoded(name);
        let asked = self.asked(&Quorum::of_read(terms))?;
        let rows = self.ask(&asked, &name).await;
        self.cluster().repair(&asked, &name, &rows);
        match rows.record()? {
            None if !terms.notfound_ok => Ok(self.ask_all(&name, terms).await?.record()?),
            record => Ok(record),
        }
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Arc<[u8]>>, EngineError> {
        check_deadline(terms.deadline)?;
        let name = encoded(name);
        self.pause().await;
        let written = {
            let mut cluster = self.cluster();
            let up = cluster.begin();
            up.and_then(|up| cluster.transact(&up, &name, decide, terms))
        };
        self.pause().await;
        written
    }

    /// Merges what a majority has now.
    async fn snapshot(&self, deadline: Instant) -> Result<Self::Snapshot, EngineError> {
        check_deadline(deadline)?;
        let asked = self.asked(&Quorum::of_read(&majority(deadline)))?;
        let objects = self.cluster().objects(&asked)?;
        let view = Memory::new();
        for (name, bytes) in objects {
            let name = ObjectName::read(&name).expect("a name that this engine encoded");
            view.write(name, Kept(bytes), &alone(deadline)).await?;
        }
        view.snapshot(deadline).await
    }

    async fn settings(&self, _: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        Ok(lock(&self.settings).iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, _: Instant) -> Result<(), EngineError> {
        let mut settings = lock(&self.settings);
        match value {
            Some(value) => settings.insert(name.to_vec(), value.to_vec()),
            None => settings.remove(name),
        };
        Ok(())
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn label(&self) -> &'static str {
        "replicas"
    }
}

/// A write of a record that is there already.
struct Kept(Arc<[u8]>);

impl Decide for Kept {
    fn decide(&mut self, _: Option<Record<'_>>, _: Mark, out: &mut Vec<u8>) -> Verdict {
        out.clear();
        out.extend_from_slice(&self.0);
        Verdict::Write
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process that carried the write out stopped")
    }
}

impl error::Error for Stopped {}

fn check_deadline(deadline: Instant) -> Result<(), EngineError> {
    if deadline <= Instant::now() { Err(EngineError::TimedOut) } else { Ok(()) }
}

fn encoded(name: ObjectName<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    name.write(&mut out);
    out
}

/// Returns the terms of a read of a majority.
fn majority(deadline: Instant) -> ReadTerms {
    ReadTerms {
        n: REPLICAS as u32,
        r: MAJORITY as u32,
        pr: 0,
        node_confirms: 0,
        notfound_ok: true,
        basic_quorum: false,
        deadline,
    }
}

/// Returns the terms of a write to an engine of one process.
fn alone(deadline: Instant) -> WriteTerms {
    WriteTerms { n: 1, w: 1, pw: 0, dw: 0, node_confirms: 0, durability: Durability::Buffered, deadline }
}

/// Locks the state; a call that panicked is a failed test, and what others read is still whole.
fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
