//! The processes that carry writes out, each an actor with a clock of its own.

use super::chance::Chance;
use alula_store::engine::Mark;
use alula_store::model::{Actor, Dots, Moment, Vtag};

const COORDINATORS: usize = 3;

/// The time of tick 0, in the middle of November 2023.
const START: u64 = 1_700_000_000_000_000;

/// The microseconds between two ticks.
const TICK: u64 = 1_000;

/// The microseconds by which clocks differ, which is more than many ticks: the time of a later write may be
/// an earlier one.
const SKEW: u64 = 50_000;

/// Three processes, of which any may carry out the next write.
#[derive(Debug)]
pub(super) struct Coordinators([Dots; COORDINATORS]);

impl Coordinators {
    pub(super) fn new(chance: &mut Chance) -> Self {
        Self(std::array::from_fn(|_| actor(chance)))
    }

    /// Starts one process anew: it is another actor.
    pub(super) fn restart_one(&mut self, chance: &mut Chance) {
        let place = chance.below(COORDINATORS as u64) as usize;
        self.0[place] = actor(chance);
    }

    /// Returns the mark of the next write.
    ///
    /// # Panics
    /// After 2^64 - 2 writes.
    pub(super) fn mark(&self, tick: u64, chance: &mut Chance) -> Mark {
        let dots = &self.0[chance.below(COORDINATORS as u64) as usize];
        let token = u128::from(chance.number()) << 64 | u128::from(chance.number());
        Mark {
            dot: dots.next().expect("no process makes 2^64 writes"),
            vtag: Vtag::from_bits(token),
            now: Moment::from_micros(START + tick * TICK + chance.below(SKEW)),
        }
    }
}

fn actor(chance: &mut Chance) -> Dots {
    Dots::new(Actor::new(chance.number()))
}
