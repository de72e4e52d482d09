//! Clients are given contents as they were written: under one dot, to that object, and not refused.

use std::collections::BTreeMap;

use alula_store::model::Dot;

use super::{Evidence, Observation, Rule, Violation};
use crate::causality::history::{Outcome, Reason};
use crate::causality::keys::Key;
use crate::causality::seen::{Given, Id};

pub(super) fn check(evidence: &Evidence<'_>) -> Result<(), Violation> {
    check_dots(evidence)?;
    for key in Key::all() {
        for observation in evidence.observations(key) {
            for given in &observation.seen.contents {
                check_written(evidence, key, observation, given)?;
                check_refused(evidence, given)?;
            }
        }
    }
    Ok(())
}

fn check_dots(evidence: &Evidence<'_>) -> Result<(), Violation> {
    let (mut by_dot, mut by_id) = (BTreeMap::<Dot, Id>::new(), BTreeMap::<Id, Given>::new());
    let observations = evidence.observations.iter().flatten();
    for given in observations.flat_map(|observation| &observation.seen.contents) {
        let first = *by_dot.entry(given.dot).or_insert(given.id);
        if first != given.id {
            return Err(Rule::Dots.broken(format!("{:?} names {first} and {}", given.dot, given.id)));
        }
        let first = by_id.entry(given.id).or_insert(*given);
        if first != given {
            return Err(Rule::Dots.broken(format!("one write is given as {first:?} and as {given:?}")));
        }
    }
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused(Reason::Dot, _));
    match evidence.calls.iter().find(|call| refused(&call.outcome)) {
        Some(call) => Err(Rule::Dots.broken(format!("a dot does not follow: {call:?}"))),
        None => Ok(()),
    }
}

fn check_written(
    evidence: &Evidence<'_>,
    key: Key,
    observation: &Observation<'_>,
    given: &Given,
) -> Result<(), Violation> {
    let write = evidence.puts.get(&given.id).filter(|(call, put)| {
        call.key == key && call.begun < observation.ended && put.is_deleted == given.is_deleted
    });
    match write {
        Some(_) if given.is_intact => Ok(()),
        _ => Err(Rule::Written.broken(format!("nobody wrote this to {key:?}: {given:?}"))),
    }
}

fn check_refused(evidence: &Evidence<'_>, given: &Given) -> Result<(), Violation> {
    match evidence.puts.get(&given.id).map(|(call, _)| call) {
        Some(call) if matches!(call.outcome, Outcome::Refused(..) | Outcome::NotDone) => {
            Err(Rule::Refused.broken(format!("it is stored all the same: {call:?}")))
        }
        _ => Ok(()),
    }
}
