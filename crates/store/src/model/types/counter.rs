//! Counters: what each actor has added and taken.

use std::collections::BTreeMap;

use super::dot_map::{put_dot, read_dot};
use super::{Change, Seen, Unfit};
use crate::model::octets::{Octets, put_number};
use crate::model::{Actor, Dot};

/// A counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter(BTreeMap<Actor, Share>);

/// The sums that one actor has added and taken until the change of this dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    dot: Dot,
    added: u64,
    taken: u64,
}

impl Counter {
    /// The number: all that was added less all that was taken.
    pub fn value(&self) -> i128 {
        self.0.values().map(|share| i128::from(share.added) - i128::from(share.taken)).sum()
    }

    pub(super) fn add(&mut self, number: i64, change: &Change<'_>) -> Result<(), Unfit> {
        let dot = change.dot;
        let share = self.0.entry(dot.actor()).or_insert(Share { dot, added: 0, taken: 0 });
        let sum = if number < 0 { &mut share.taken } else { &mut share.added };
        *sum = sum.checked_add(number.unsigned_abs()).ok_or(Unfit::Limit)?;
        share.dot = dot;
        Ok(())
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.retain(|_, share| !seen.sees(share.dot));
    }

    /// Merges two counters: the later share of an actor holds all of the earlier one.
    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.0.retain(|actor, share| other.0.contains_key(actor) || !theirs.sees(share.dot));
        for (actor, share) in &other.0 {
            match self.0.get_mut(actor) {
                Some(own) if own.dot < share.dot => *own = *share,
                Some(_) => {}
                None if ours.sees(share.dot) => {}
                None => drop(self.0.insert(*actor, *share)),
            }
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for share in self.0.values() {
            put_dot(share.dot, out);
            put_number(share.added, out);
            put_number(share.taken, out);
        }
    }

    pub(super) fn read(octets: &mut Octets<'_>) -> Option<Self> {
        let mut shares = BTreeMap::new();
        for _ in 0..octets.number()? {
            let dot = read_dot(octets)?;
            let (added, taken) = (octets.number()?, octets.number()?);
            if shares.last_key_value().is_some_and(|(last, _)| *last >= dot.actor()) {
                return None;
            }
            shares.insert(dot.actor(), Share { dot, added, taken });
        }
        Some(Self(shares))
    }
}
