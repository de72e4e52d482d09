//! The time of an object never steps back.

use super::{Evidence, Rule, Violation};
use crate::causality::history::{Action, Call, Outcome};
use crate::causality::keys::Key;
use crate::causality::seen::Given;

pub(super) fn check(evidence: &Evidence<'_>) -> Result<(), Violation> {
    for key in Key::all() {
        let writes: Vec<_> =
            evidence.writes(key).iter().filter_map(|call| Some((*call, stored(call)?))).collect();
        for (number, (write, given)) in writes.iter().enumerate() {
            check_latest(write, given)?;
            let earlier = writes[..number].iter().filter(|(earlier, _)| earlier.ended < write.begun);
            for (earlier, before) in earlier.filter(|(_, before)| before.modified >= given.modified) {
                if !is_forgotten(evidence, earlier, write) {
                    return Err(Rule::Modified.broken(format!("{given:?} is not after {before:?}")));
                }
            }
        }
    }
    Ok(())
}

/// The new content is the latest of the object.
fn check_latest(write: &Call, given: &Given) -> Result<(), Violation> {
    let contents = write.seen().into_iter().flat_map(|seen| &seen.contents);
    match contents.filter(|other| other.id != given.id).find(|other| other.modified >= given.modified) {
        Some(other) => Err(Rule::Modified.broken(format!("{given:?} is not after {other:?}, beside it"))),
        None => Ok(()),
    }
}

/// Returns true if the object may have been reaped between two writes: a new object begins at the time of the
/// clock.
fn is_forgotten(evidence: &Evidence<'_>, earlier: &Call, later: &Call) -> bool {
    let mut writes = evidence.writes(later.key).iter();
    writes.any(|reaped| {
        let is_reaping = matches!(reaped.action, Action::Reap { .. });
        is_reaping && reaped.ended > earlier.begun && reaped.begun < later.ended
    })
}

/// The record that an acknowledged write stored.
fn stored(write: &Call) -> Option<&Given> {
    let (Outcome::Stored(seen), Some(put)) = (&write.outcome, write.put()) else { return None };
    seen.contents.iter().find(|given| given.id == put.id)
}
