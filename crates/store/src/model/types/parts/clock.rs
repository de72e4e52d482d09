//! Clocks: the number of changes of each actor that a state has seen.

use std::collections::BTreeMap;

use crate::model::bytes::{Bytes, put_number};
use crate::model::{Actor, Context, Covered, Dot};

/// A record of the changes that have been seen.
pub trait Seen {
    /// Returns true if the change of this dot has been seen.
    fn sees(&self, dot: Dot) -> bool;
}

impl Seen for Context<'_> {
    fn sees(&self, dot: Dot) -> bool {
        self.covers(dot)
    }
}

impl Seen for Covered<'_> {
    fn sees(&self, dot: Dot) -> bool {
        self.covers(dot)
    }
}

/// The greatest count that has been seen of each actor, and with it all lower ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(BTreeMap<Actor, u64>);

impl Clock {
    /// Adds a dot and those before it.
    pub(in crate::model::types) fn add(&mut self, dot: Dot) {
        let count = self.0.entry(dot.actor()).or_default();
        *count = dot.count().max(*count);
    }

    pub(in crate::model::types) fn merge(&mut self, other: &Self) {
        other.dots().for_each(|dot| self.add(dot));
    }

    /// Returns the greatest dot of each actor.
    pub(in crate::model::types) fn dots(&self) -> impl Iterator<Item = Dot> {
        self.0.iter().filter_map(|(actor, count)| Dot::new(*actor, *count))
    }

    pub(in crate::model::types) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for (actor, count) in &self.0 {
            out.extend_from_slice(&actor.number().to_be_bytes());
            put_number(*count, out);
        }
    }

    pub(in crate::model::types) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let mut clock = Self::default();
        for _ in 0..bytes.number()? {
            let actor = Actor::new(u64::from_be_bytes(bytes.array()?));
            let dot = Dot::new(actor, bytes.number()?)?;
            if clock.0.last_key_value().is_some_and(|(last, _)| *last >= actor) {
                return None;
            }
            clock.add(dot);
        }
        Some(clock)
    }
}

impl Seen for Clock {
    fn sees(&self, dot: Dot) -> bool {
        self.0.get(&dot.actor()).is_some_and(|count| *count >= dot.count())
    }
}
