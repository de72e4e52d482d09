//! Acknowledged contents remain until they are covered, and do not come back afterwards.

use super::{Evidence, Observation, Rule, Violation};
use crate::causality::history::{Action, Call, Outcome};
use crate::causality::keys::Key;
use crate::causality::seen::Given;

pub(super) fn check(evidence: &Evidence<'_>) -> Result<(), Violation> {
    for write in Key::all().flat_map(|key| evidence.writes(key)) {
        check_remains(evidence, write)?;
        check_covered(evidence, write)?;
    }
    Ok(())
}

fn check_remains(evidence: &Evidence<'_>, write: &Call) -> Result<(), Violation> {
    let (Outcome::Stored(seen), Some(put)) = (&write.outcome, write.put()) else { return Ok(()) };
    let Some(given) = seen.contents.iter().find(|given| given.id == put.id) else {
        return Err(Rule::Remains.broken(format!("what is answered lacks what was written: {write:?}")));
    };
    let writes = evidence.writes(write.key);
    for observation in evidence.observations_after(write).filter(|observation| !observation.seen.has(put.id))
    {
        let may_have_covered = |other: &&Call| {
            other.begun < observation.ended && other.ended > write.begun && may_cover(other, given)
        };
        if !writes.iter().copied().any(|other| may_have_covered(&other)) {
            let seen = observation.seen.ids();
            return Err(Rule::Remains.broken(format!("{seen:?} lacks {write:?}, which nothing covered")));
        }
    }
    Ok(())
}

fn check_covered(evidence: &Evidence<'_>, write: &Call) -> Result<(), Violation> {
    if !write.is_acknowledged() {
        return Ok(());
    }
    let answered = write.seen().into_iter().flat_map(|seen| &seen.contents);
    let after = evidence.observations_after(write).flat_map(|observation| {
        let contents = observation.seen.contents.iter();
        contents.filter(move |given| must_see_removal(evidence, observation, write, given))
    });
    match answered.chain(after).find(|given| has_covered(evidence, write, given)) {
        Some(given) => Err(Rule::Covered.broken(format!("{given:?} is given although covered by {write:?}"))),
        None => Ok(()),
    }
}

/// Returns true if a read that must have seen a write must have seen the removal of a content that it covers
/// as well. Another write may have removed it before, of which a majority of the replicas knows, and not all
/// that took this one.
fn must_see_removal(evidence: &Evidence<'_>, read: &Observation<'_>, write: &Call, given: &Given) -> bool {
    let mut others = evidence.writes(write.key).iter().filter(|other| other.begun != write.begun);
    2 * read.r > evidence.replicas
        || !others.any(|other| other.begun < write.ended && may_cover(other, given))
}

/// Returns true if the write took the content out, provided that it was carried out after it.
fn may_cover(write: &Call, given: &Given) -> bool {
    let is_other = write.put().is_none_or(|put| put.id != given.id);
    is_other && (write.key.has_one_content() || names(write, given))
}

/// Returns true if the write, which was carried out, certainly took the content out.
fn has_covered(evidence: &Evidence<'_>, write: &Call, given: &Given) -> bool {
    let is_before = evidence
        .puts
        .get(&given.id)
        .is_some_and(|(call, _)| matches!(call.outcome, Outcome::Stored(_)) && call.ended < write.begun);
    names(write, given) || (is_before && write.put().is_some() && write.key.has_one_content())
}

/// Returns true if the client named the content, which it can only have been given before.
fn names(write: &Call, given: &Given) -> bool {
    match &write.action {
        Action::Read { .. } => false,
        Action::Put(put) => put.context.contains(&given.dot),
        Action::Reap { seen, .. } => seen.contents.iter().any(|reaped| reaped.dot == given.dot),
    }
}
