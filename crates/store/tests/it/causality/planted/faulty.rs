//! An engine with a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use alula_store::engine::{
    Decide, Engine, EngineError, Mark, Memory, ObjectName, ReadTerms, Verdict, WriteTerms, Written,
};
use alula_store::model::{Actor, Attribute, Content, Dot, Moment, Record, term};
use alula_testkit::Rng;
use tokio::time::Instant;

use super::Fault;
use super::own_content::{OwnContent, rebuild};
use super::snapshot::FaultySnapshot;

/// An engine in memory with a fault that shows now and then.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: Memory,
    shared: Arc<Shared>,
}

/// The state of the fault from one write to the next.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) fault: Fault,
    rng: Mutex<Rng>,
    /// The count of the last dot.
    count: AtomicU64,
    /// Covered contents, by their objects.
    covered: Mutex<BTreeMap<Vec<u8>, Vec<OwnContent>>>,
    /// Entries of indexes that objects have lost.
    pub(super) left: Mutex<Vec<LeftEntry>>,
}

/// An entry of an index: bucket, index, term and key.
pub(super) type LeftEntry = (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>);

impl Faulty {
    pub(crate) fn new(fault: Fault, seed: u64) -> Self {
        let shared = Shared {
            fault,
            rng: Mutex::new(Rng::new(seed)),
            count: AtomicU64::new(0),
            covered: Mutex::default(),
            left: Mutex::default(),
        };
        Self { inner: Memory::new(), shared: Arc::new(shared) }
    }
}

impl Engine for Faulty {
    type Bytes = Arc<[u8]>;
    type Snapshot = FaultySnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Arc<[u8]>>, EngineError> {
        self.inner.get(name, terms).await
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Arc<[u8]>>, EngineError> {
        let tampered =
            Tampered { inner: decide, name: encoded(name), shared: Arc::clone(&self.shared), denied: None };
        let Written { decide, record } = self.inner.write(name, tampered, terms).await?;
        if self.shared.fault == Fault::StoresWhatItDenies && self.shared.once_in(20) {
            return Err(EngineError::Busy);
        }
        Ok(Written { decide: decide.inner, record: decide.denied.map(Arc::from).or(record) })
    }

    async fn snapshot(&self, deadline: Instant) -> Result<FaultySnapshot, EngineError> {
        let inner = self.inner.snapshot(deadline).await?;
        Ok(FaultySnapshot::new(inner, Arc::clone(&self.shared)))
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        self.inner.settings(deadline).await
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        self.inner.set(name, value, deadline).await
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn label(&self) -> &'static str {
        "faulty"
    }
}

impl Shared {
    fn once_in(&self, times: usize) -> bool {
        self.rng.lock().expect("no writer panics").one_in(times)
    }

    /// A count that goes back every thirtieth time, as if the last writes before a restart had been lost.
    fn count(&self) -> u64 {
        if self.once_in(30) {
            self.count
                .fetch_update(SeqCst, SeqCst, |count| Some(count.saturating_sub(5)))
                .expect("an update");
        }
        self.count.fetch_add(1, SeqCst) + 1
    }

    /// Notes the entries that an object has lost.
    fn note_entries(&self, name: &[u8], before: Option<Record<'_>>, after: Record<'_>) {
        let name = ObjectName::read(name).expect("the name of an object");
        let (before, after) = (entries(before), entries(Some(after)));
        let lost = before.into_iter().filter(|entry| !after.contains(entry));
        let lost = lost.map(|(field, term)| (name.bucket.bucket.to_vec(), field, term, name.key.to_vec()));
        self.left.lock().expect("no writer panics").extend(lost);
    }
}

/// A decision whose result is changed.
struct Tampered<D> {
    inner: D,
    name: Vec<u8>,
    shared: Arc<Shared>,
    /// A record that is answered and not stored.
    denied: Option<Vec<u8>>,
}

impl<D: Decide> Decide for Tampered<D> {
    fn decide(&mut self, stored: Option<Record<'_>>, mut mark: Mark, out: &mut Vec<u8>) -> Verdict {
        if self.shared.fault == Fault::ReusesDots {
            mark.dot = Dot::new(Actor::new(7), self.shared.count()).expect("a small count");
        }
        match self.inner.decide(stored, mark, out) {
            Verdict::Write => self.tamper(stored, mark, out),
            verdict => verdict,
        }
    }
}

impl<D> Tampered<D> {
    fn tamper(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let record = Record::read(out).expect("a record that was just written");
        let mut contents: Vec<_> = record.contents().map(OwnContent::of).collect();
        match self.shared.fault {
            Fault::StoresNothing if self.shared.once_in(20) => {
                self.denied = Some(out.clone());
                return Verdict::Keep;
            }
            Fault::LeavesEntry => self.shared.note_entries(&self.name, stored, record),
            Fault::DropsSibling if contents.len() > 1 && self.shared.once_in(5) => {
                let place =
                    contents.iter().position(|content| content.dot != mark.dot).expect("an older one");
                contents.remove(place);
                rebuild(contents, out);
            }
            Fault::StepsBack if contents.len() == 1 && self.shared.once_in(5) => {
                contents[0].modified = Moment::from_micros(contents[0].modified.micros() - 10_000_000);
                rebuild(contents, out);
            }
            Fault::BringsBack => {
                let mut kept = self.shared.covered.lock().expect("no writer panics");
                let covered = kept.entry(self.name.clone()).or_default();
                if self.shared.once_in(10) {
                    contents.extend(covered.pop());
                }
                let is_gone = |content: &Content<'_>| contents.iter().all(|kept| kept.dot != content.dot());
                let gone = stored.into_iter().flat_map(|stored| stored.contents()).filter(is_gone);
                covered.extend(gone.map(OwnContent::of));
                rebuild(contents, out);
            }
            _ => {}
        }
        Verdict::Write
    }
}

/// Fields and terms of the entries that a record stands for.
fn entries(record: Option<Record<'_>>) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
    let contents = record.into_iter().flat_map(|record| record.contents());
    let attributes = contents.flat_map(|content| content.attributes()).map_while(Result::ok);
    let entry = |attribute: Attribute<'_>| {
        let mut out = Vec::new();
        Some((term::of(attribute, &mut out)?.to_vec(), out))
    };
    attributes.filter_map(entry).collect()
}

fn encoded(name: ObjectName<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    name.write(&mut out);
    out
}
