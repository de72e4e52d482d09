//! The checker: what must hold of every history, whatever the engine and the order of its calls.
//!
//! Rule 1: the checker knows what clients asked for and were answered, and nothing else. A call of unknown
//! outcome may have had its effect at any time since it began, or never.
//! Rule 2: a read is held against a write only if it must have seen it: it began after the write had ended,
//! and the replicas that it asked and those that took the write have one in common. The answer to a write is
//! decided on all that was written before, of which a majority of the replicas has each part by then.

mod clocks;
mod conditions;
mod coverage;
mod identity;
mod lists;

use std::collections::BTreeMap;
use std::fmt;

use crate::causality::history::{Action, Call, Put};
use crate::causality::keys::Key;
use crate::causality::rest::Rest;
use crate::causality::seen::{Id, Seen};

/// A rule of the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// A dot names one write, and a write has one dot, one vtag and one time.
    Dots,
    /// Contents that clients are given were written to that object, with these bytes.
    Written,
    /// Refused writes are not stored.
    Refused,
    /// Acknowledged contents remain until a context that names it, a rule of its bucket or a reaping covers
    /// it.
    Remains,
    /// Covered contents do not come back.
    Covered,
    /// A write is later than all writes to its object before it.
    Modified,
    /// The writes of an object have one order in which each is answered as the model answers it.
    Conditions,
    /// Lists and indexes agree with the objects.
    Lists,
}

/// A rule that is broken, and how.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    text: String,
}

/// The contents that somebody was given of an object.
struct Observation<'a> {
    begun: u64,
    ended: u64,
    seen: &'a Seen,
    /// The replicas that were asked.
    r: u32,
}

/// A history in the order in which the rules ask for it.
struct Evidence<'a> {
    calls: &'a [Call],
    /// The writes of contents.
    puts: BTreeMap<Id, (&'a Call, &'a Put)>,
    /// The contents that were given of each object, at rest too.
    observations: Vec<Vec<Observation<'a>>>,
    /// The writes to each object that took effect or may have.
    writes: Vec<Vec<&'a Call>>,
    /// The replicas of the engine.
    replicas: u32,
}

/// Checks a history, and what an engine of so many replicas has at its end.
pub(crate) fn check(calls: &[Call], rest: &Rest, replicas: u32) -> Result<(), Violation> {
    let evidence = Evidence::new(calls, rest, replicas);
    identity::check(&evidence)?;
    coverage::check(&evidence)?;
    clocks::check(&evidence)?;
    conditions::check(&evidence)?;
    lists::check(rest)
}

impl<'a> Evidence<'a> {
    fn new(calls: &'a [Call], rest: &'a Rest, replicas: u32) -> Self {
        let puts = calls.iter().filter_map(|call| call.put().map(|put| (put.id, (call, put))));
        let observed = |key: Key| {
            let calls = calls.iter().filter(move |call| call.key == key);
            let last = Observation::at_rest(&rest.objects[key.number()], replicas);
            calls.filter_map(move |call| Observation::of(call, replicas)).chain([last]).collect()
        };
        let written =
            |key: Key| calls.iter().filter(move |call| call.key == key && call.may_have_effect()).collect();
        Self {
            calls,
            puts: puts.collect(),
            observations: Key::all().map(observed).collect(),
            writes: Key::all().map(written).collect(),
            replicas,
        }
    }

    fn observations(&self, key: Key) -> &[Observation<'a>] {
        &self.observations[key.number()]
    }

    fn writes(&self, key: Key) -> &[&'a Call] {
        &self.writes[key.number()]
    }

    /// The observations of an object that must have seen the effect of a write to it.
    fn observations_after(&self, write: &Call) -> impl Iterator<Item = &Observation<'a>> {
        let (replicas, ended, w) = (self.replicas, write.ended, write.w());
        let sees = move |observation: &&Observation<'_>| {
            observation.begun > ended && (replicas == 1 || observation.r + w > replicas)
        };
        self.observations(write.key).iter().filter(sees)
    }
}

impl<'a> Observation<'a> {
    fn of(call: &'a Call, replicas: u32) -> Option<Self> {
        let r = match call.action {
            Action::Read { r } => r,
            Action::Put(_) | Action::Reap { .. } => replicas,
        };
        Some(Self { begun: call.begun, ended: call.ended, seen: call.seen()?, r })
    }

    const fn at_rest(seen: &'a Seen, replicas: u32) -> Self {
        Self { begun: u64::MAX - 1, ended: u64::MAX, seen, r: replicas }
    }
}

impl Call {
    /// The replicas that a write waited for.
    const fn w(&self) -> u32 {
        match &self.action {
            Action::Read { .. } => 0,
            Action::Put(Put { w, .. }) | Action::Reap { w, .. } => *w,
        }
    }
}

impl Rule {
    fn broken(self, text: impl Into<String>) -> Violation {
        Violation { rule: self, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}
