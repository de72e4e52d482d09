//! Three replicas, the messages between them, and the writes that have been proposed to them.
//!
//! Theory of operation: a write is a light-weight transaction on one object. A majority of the replicas
//! promises to take no older proposal; what they have is merged, and the write is decided on it. The change
//! is *proposed*: from the moment at which a majority has accepted it, it is kept, and nobody can know
//! otherwise. Then it is *sent* to all replicas, each of which takes it now, late or not at all. A proposal
//! that was not taken by a majority is found by the next write to the object, since any two majorities have a
//! replica in common. That write finishes it, or drops it for good if none of the replicas that it asks has
//! accepted it. Reads see only what their replicas have taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::chance::Chance;
use super::coordinators::Coordinators;
use super::fault_rates::FaultRates;
use super::network::{Fate, Message, Network};
use super::quorum::Quorum;
use super::rows::Rows;
use super::{Stopped, quorum};
use alula_store::engine::{Decide, EngineError, Verdict, WriteTerms, Written};
use alula_store::model::{Damaged, Record};

pub(super) const REPLICAS: usize = 3;
pub(super) const MAJORITY: usize = REPLICAS / 2 + 1;

/// Records of objects with their encoded names.
pub(super) type Objects = Vec<(Vec<u8>, Arc<[u8]>)>;

/// The whole state of the engine. Each of its functions is one moment.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) chance: Chance,
    rates: FaultRates,
    tick: u64,
    replicas: [Replica; REPLICAS],
    network: Network,
    proposals: BTreeMap<Vec<u8>, Proposal>,
    coordinators: Coordinators,
}

#[derive(Debug, Default)]
struct Replica {
    objects: BTreeMap<Vec<u8>, Rows>,
    /// The first tick at which it answers again.
    up_at: u64,
}

/// A change that some replicas have accepted and that no majority has taken.
#[derive(Debug)]
struct Proposal {
    rows: Rows,
    acceptors: Vec<usize>,
}

impl Cluster {
    pub(super) fn new(seed: u64, rates: FaultRates) -> Self {
        let mut chance = Chance::new(seed);
        let coordinators = Coordinators::new(&mut chance);
        Self {
            chance,
            rates,
            tick: 0,
            replicas: Default::default(),
            network: Network::default(),
            proposals: BTreeMap::new(),
            coordinators,
        }
    }

    /// Begins a call: the time goes on, replicas go down and messages arrive. Returns the replicas that
    /// answer, the quickest first.
    pub(super) fn begin(&mut self) -> Result<Vec<usize>, EngineError> {
        self.tick += 1;
        if self.chance.once_in(self.rates.down) {
            let replica = self.chance.below(REPLICAS as u64) as usize;
            self.replicas[replica].up_at = self.tick + 1 + self.chance.below(10);
        }
        if self.chance.once_in(self.rates.restarted) {
            self.coordinators.restart_one(&mut self.chance);
        }
        for message in self.network.arrivals(self.tick, &mut self.chance) {
            self.arrive(message);
        }
        if self.chance.once_in(self.rates.timed_out) {
            return Err(EngineError::TimedOut);
        }
        let mut up: Vec<_> = (0..REPLICAS).filter(|replica| self.is_up(*replica)).collect();
        self.chance.shuffle(&mut up);
        Ok(up)
    }

    /// Returns the rows of an object that a replica has.
    pub(super) fn rows(&self, replica: usize, name: &[u8]) -> Option<&Rows> {
        self.replicas[replica].objects.get(name)
    }

    /// Returns the rows of an object that these replicas have together.
    pub(super) fn merged(&self, replicas: &[usize], name: &[u8]) -> Rows {
        let mut merged = Rows::default();
        replicas.iter().filter_map(|replica| self.rows(*replica, name)).for_each(|rows| merged.merge(rows));
        merged
    }

    /// Returns the objects that these replicas have together.
    pub(super) fn objects(&self, replicas: &[usize]) -> Result<Objects, Damaged> {
        let names = replicas.iter().flat_map(|replica| self.replicas[*replica].objects.keys());
        let names: BTreeSet<_> = names.collect();
        let object =
            |name: &Vec<u8>| Ok(self.merged(replicas, name).record()?.map(|bytes| (name.clone(), bytes)));
        names.into_iter().map(object).filter_map(Result::transpose).collect()
    }

    /// Sends what a read has merged to the replicas that it asked.
    pub(super) fn repair(&mut self, asked: &[usize], name: &[u8], merged: &Rows) {
        for replica in asked {
            if self.rows(*replica, name).is_none_or(|rows| rows != merged) {
                self.send(*replica, name, merged);
            }
        }
    }

    /// Carries a write out as one light-weight transaction. `up` are the replicas that answer.
    pub(super) fn transact<D: Decide>(
        &mut self,
        up: &[usize],
        name: &[u8],
        mut decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Arc<[u8]>>, EngineError> {
        let promised = self.promised(up, terms)?;
        self.end_proposal(&promised, name);
        let stored = self.merged(&promised, name).record()?;
        let before = stored.as_deref().map(Record::read).transpose()?;
        let mark = self.coordinators.mark(self.tick, &mut self.chance);
        let mut out = Vec::new();
        let record: Option<Arc<[u8]>> = match decide.decide(before, mark, &mut out) {
            Verdict::Keep => return Ok(Written { decide, record: stored }),
            Verdict::Remove => None,
            Verdict::Write => Some(out.into()),
        };
        let after = record.as_deref().map(Record::read).transpose()?;
        self.propose(&promised, name, Rows::of_change(before, after))?;
        quorum::check(self.send_proposal(name), &Quorum::of_write(terms))?;
        Ok(Written { decide, record })
    }

    /// Ends all faults: messages that are on their way arrive, proposals end, and each replica takes over
    /// what the others have.
    pub(super) fn settle(&mut self) {
        self.replicas.iter_mut().for_each(|replica| replica.up_at = 0);
        for message in self.network.arrivals(u64::MAX, &mut self.chance) {
            self.arrive(message);
        }
        let all: Vec<_> = (0..REPLICAS).collect();
        let proposed: Vec<_> = self.proposals.keys().cloned().collect();
        proposed.iter().for_each(|name| self.end_proposal(&all, name));
        let names: BTreeSet<_> =
            self.replicas.iter().flat_map(|replica| replica.objects.keys()).cloned().collect();
        for name in names {
            let merged = self.merged(&all, &name);
            all.iter().for_each(|replica| self.take(*replica, &name, &merged));
        }
    }

    /// Returns the replicas that the write is decided with: a majority, or all that answer.
    fn promised(&mut self, up: &[usize], terms: &WriteTerms) -> Result<Vec<usize>, EngineError> {
        quorum::check(
            up.len(),
            &Quorum::of_write(&WriteTerms { w: terms.w.max(MAJORITY as u32), ..*terms }),
        )?;
        let more = self.chance.below((up.len() - MAJORITY) as u64 + 1) as usize;
        Ok(up[..MAJORITY + more].to_vec())
    }

    /// Finishes the last proposal to an object if one of these replicas has accepted it; otherwise it never
    /// comes to be.
    fn end_proposal(&mut self, promised: &[usize], name: &[u8]) {
        let Some(proposal) = self.proposals.remove(name) else { return };
        if promised.iter().any(|replica| proposal.acceptors.contains(replica)) {
            promised.iter().for_each(|replica| self.take(*replica, name, &proposal.rows));
        }
    }

    /// Lets the replicas accept a change. The coordinator may stop meanwhile: none, some or all of them have
    /// accepted it then.
    fn propose(&mut self, promised: &[usize], name: &[u8], rows: Rows) -> Result<(), EngineError> {
        let is_stopped = self.chance.once_in(self.rates.unknown);
        let accepted = match is_stopped {
            true => self.chance.below(promised.len() as u64 + 1) as usize,
            false => promised.len(),
        };
        self.proposals.insert(name.to_vec(), Proposal { rows, acceptors: promised[..accepted].to_vec() });
        match is_stopped {
            true => Err(EngineError::Unknown(Arc::new(Stopped))),
            false => Ok(()),
        }
    }

    /// Sends the change that was accepted to all replicas and returns the number of those that took it.
    fn send_proposal(&mut self, name: &[u8]) -> usize {
        let Some(proposal) = self.proposals.remove(name) else { return 0 };
        let taken = (0..REPLICAS).filter(|replica| self.send(*replica, name, &proposal.rows)).count();
        if taken < MAJORITY {
            self.proposals.insert(name.to_vec(), proposal);
        }
        taken
    }

    /// Sends rows to a replica. Returns true if it took them at once.
    fn send(&mut self, replica: usize, name: &[u8], rows: &Rows) -> bool {
        let fate = match self.is_up(replica) {
            true => Fate::of(self.tick, &self.rates, &mut self.chance),
            false => Fate::of_missed(self.tick, &mut self.chance),
        };
        match fate {
            Fate::Arrives => self.take(replica, name, rows),
            Fate::ArrivesAt(tick) => {
                self.network.send(tick, Message { replica, name: name.to_vec(), rows: rows.clone() })
            }
            Fate::Lost => {}
        }
        fate == Fate::Arrives
    }

    /// Delivers a message, unless its replica is down and misses it.
    fn arrive(&mut self, message: Message) {
        if self.is_up(message.replica) {
            self.take(message.replica, &message.name, &message.rows);
        } else if let Fate::ArrivesAt(tick) = Fate::of_missed(self.tick, &mut self.chance) {
            self.network.send(tick, message);
        }
    }

    fn take(&mut self, replica: usize, name: &[u8], rows: &Rows) {
        self.replicas[replica].objects.entry(name.to_vec()).or_default().merge(rows);
    }

    const fn is_up(&self, replica: usize) -> bool {
        self.replicas[replica].up_at <= self.tick
    }
}
