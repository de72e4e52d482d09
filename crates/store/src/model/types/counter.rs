//! Counters: the sums that each actor has added and subtracted.

use std::mem::take;

use super::parts::dot_map::{put_dot, read_dot};
use super::parts::pairs::for_each_pair;
use super::{Making, Seen, Unfit};
use crate::model::bytes::{Bytes, put_number};
use crate::model::{Actor, Dot};

/// The fewest bytes of a share in stored form.
const SHARE_BYTES_MIN: usize = 11;

/// A counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter(Vec<CounterShare>);

/// The sums that one actor has added and subtracted up to the change of this dot. The sums of a counter
/// ascend by their actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CounterShare {
    dot: Dot,
    added: u64,
    taken: u64,
}

impl CounterShare {
    const fn actor(&self) -> Actor {
        self.dot.actor()
    }
}

impl Counter {
    /// Returns the number: the sums that were added less those that were subtracted. Changes keep it within
    /// 64 bits with a sign; merged replicas, and counters of older stores, may hold a greater one.
    pub fn value(&self) -> i128 {
        self.0.iter().map(|share| i128::from(share.added) - i128::from(share.taken)).sum()
    }

    pub(super) fn add(&mut self, number: i64, change: &Making<'_>) -> Result<(), Unfit> {
        // Clients read numbers of 64 bits. A counter that an older store let pass them may come back.
        let value = self.value() + i128::from(number);
        if i64::try_from(value).is_err() && (value < 0) == (number < 0) {
            return Err(Unfit::Limit);
        }
        let dot = change.dot;
        let place = self.place(dot.actor()).unwrap_or_else(|place| {
            // Most have one share, and a vector makes room for four at once.
            self.0.reserve_exact(1);
            self.0.insert(place, CounterShare { dot, added: 0, taken: 0 });
            place
        });
        let share = &mut self.0[place];
        let sum = if number < 0 { &mut share.taken } else { &mut share.added };
        *sum = sum.checked_add(number.unsigned_abs()).ok_or(Unfit::Sums)?;
        share.dot = dot;
        Ok(())
    }

    fn place(&self, actor: Actor) -> Result<usize, usize> {
        self.0.binary_search_by_key(&actor, CounterShare::actor)
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.retain(|share| !seen.sees(share.dot));
    }

    /// Merges two counters: the later share of an actor holds all of the earlier one.
    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        let order = |own: &CounterShare, other: &CounterShare| own.actor().cmp(&other.actor());
        let own = take(&mut self.0);
        self.0.reserve_exact(own.len().max(other.0.len()));
        for_each_pair(own, &other.0, order, |own, other| {
            let stays = match (own, other) {
                (Some(own), Some(other)) => Some(if own.dot < other.dot { *other } else { own }),
                (own, None) => own.filter(|own| !theirs.sees(own.dot)),
                (None, other) => other.copied().filter(|other| !ours.sees(other.dot)),
            };
            self.0.extend(stays);
        });
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for share in &self.0 {
            put_dot(share.dot, out);
            put_number(share.added, out);
            put_number(share.taken, out);
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>, reserved: usize) -> Option<Self> {
        let count = bytes.count_of(SHARE_BYTES_MIN, reserved)?;
        let mut shares: Vec<CounterShare> = Vec::with_capacity(count);
        for _ in 0..count {
            let dot = read_dot(bytes)?;
            let (added, taken) = (bytes.number()?, bytes.number()?);
            if shares.last().is_some_and(|last| last.actor() >= dot.actor()) {
                return None;
            }
            shares.push(CounterShare { dot, added, taken });
        }
        Some(Self(shares))
    }
}
