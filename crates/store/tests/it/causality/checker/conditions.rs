//! The calls to an object have one order in which each is answered as the model answers it, and in which no
//! call that ended stands after one that began later: they are linearizable.
//!
//! Theory of operation: the search puts one call after the other. Candidates for the next place are the calls
//! that began before any of those left has ended. One that changes nothing is put as soon as it fits, since
//! nothing is lost by that. Writes are tried one after the other. Those of unknown outcome come last, since
//! they need no place, and before all others of them those that an answer shows. One that nobody ever saw is
//! left out where no call can depend on it. Each answer names all that is stored, so that a wrong order ends
//! soon: as soon as a call that is left needs a content that has come and gone, or no call can be next. Reads
//! of several replicas are given what those have, and stand in no order with writes: they are left out.

mod before;

use std::collections::{BTreeMap, HashSet};

use self::before::{bears, needs, takes_out};
use super::{Evidence, Rule, Violation};
use crate::causality::history::{Action, Call, Outcome};
use crate::causality::keys::Key;
use crate::causality::reference::{Contents, Names, after};
use crate::causality::seen::Id;

/// The steps of a search, which right engines do not come near.
const STEPS_MAX: usize = 1_000_000;

pub(super) fn check(evidence: &Evidence<'_>) -> Result<(), Violation> {
    let names = Names::of(evidence.calls);
    Key::all().try_for_each(|key| {
        let is_ordered = |call: &&Call| evidence.replicas == 1 || !matches!(call.action, Action::Read { .. });
        let of_key = evidence.calls.iter().filter(|call| call.key == key);
        let matters = |call: &&Call| matters(evidence, call);
        let calls: Vec<_> = of_key.filter(is_ordered).filter(matters).collect();
        let rest = evidence.observations(key).last().map(|last| last.seen.ids()).unwrap_or_default();
        Search::new(&calls, &names, rest).run(key)
    })
}

/// Returns true if the place of a call has a meaning. What nobody saw of unknown writes is only felt as a
/// tombstone in the place of a content: a context cannot name it, so that among siblings it would be there in
/// the end.
fn matters(evidence: &Evidence<'_>, call: &Call) -> bool {
    match (&call.outcome, call.put()) {
        (Outcome::NotDone, _) => false,
        (Outcome::Unknown, Some(put)) => {
            let is_seen = evidence.observations(call.key).iter().any(|read| read.seen.has(put.id));
            is_seen || (put.is_deleted && call.key.has_one_content())
        }
        _ => true,
    }
}

struct Search<'a> {
    /// By their beginnings.
    calls: &'a [&'a Call],
    names: &'a Names,
    /// The contents that are stored in the end.
    rest: Contents,
    /// The contents that must be stored before each call.
    needs: Vec<Contents>,
    /// The place of each write of a content among the calls.
    places: BTreeMap<Id, usize>,
    /// The states from which no order goes on to the end.
    failed: HashSet<State>,
    steps: usize,
    /// The state that most calls led to.
    best: Option<State>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    is_done: Vec<bool>,
    stored: Contents,
}

impl<'a> Search<'a> {
    fn new(calls: &'a [&'a Call], names: &'a Names, rest: Contents) -> Self {
        let puts = calls.iter().enumerate().filter_map(|(place, call)| Some((call.put()?.id, place)));
        Self {
            calls,
            names,
            rest,
            needs: calls.iter().map(|call| needs(call)).collect(),
            places: puts.collect(),
            failed: HashSet::new(),
            steps: 0,
            best: None,
        }
    }

    fn run(mut self, key: Key) -> Result<(), Violation> {
        let state = State { is_done: vec![false; self.calls.len()], stored: Contents::new() };
        if self.has_order(state) {
            return Ok(());
        }
        let best = self.best.expect("the first state is one");
        let left = |number: &usize| !best.is_done[*number];
        let next: Vec<_> =
            (0..self.calls.len()).filter(left).take(4).map(|number| self.calls[number]).collect();
        let stored = &best.stored;
        Err(Rule::Conditions.broken(format!("{key:?} has {stored:?}, and none can be next: {next:#?}")))
    }

    /// Returns true if the calls that are left have an order from this state on.
    fn has_order(&mut self, mut state: State) -> bool {
        self.put_without_effect(&mut state);
        if self.is_end(&state) {
            return true;
        }
        self.note(&state);
        if self.is_dead(&state) || !self.has_next(&state) || self.failed.contains(&state) {
            return false;
        }
        self.steps += 1;
        assert!(self.steps < STEPS_MAX, "the search for an order takes too long");
        for number in self.ordered_candidates(&state) {
            if let Some(stored) = after(&state.stored, self.calls[number], self.names) {
                let mut next = State { is_done: state.is_done.clone(), stored };
                next.is_done[number] = true;
                if self.has_order(next) {
                    return true;
                }
            }
        }
        self.failed.insert(state);
        false
    }

    /// Returns true if a call that is left, or the end, needs a content that has come and gone.
    fn is_dead(&self, state: &State) -> bool {
        let is_gone = |id: &Id| {
            !state.stored.contains(id) && self.places.get(id).is_none_or(|place| state.is_done[*place])
        };
        let mut left = self.needs.iter().zip(&state.is_done).filter(|(_, is_done)| !**is_done);
        left.any(|(needs, _)| needs.iter().any(is_gone)) || self.rest.iter().any(is_gone)
    }

    /// Returns true if a call that was answered, or the end, may be next but for calls of unknown outcome:
    /// these have what it needs and is not stored, and take out what is stored and it does not bear.
    fn has_next(&self, state: &State) -> bool {
        let candidates = self.candidates(state);
        let is_unknown = |number: &usize| matches!(self.calls[*number].outcome, Outcome::Unknown);
        let (unknown, answered): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_unknown);
        let comes = |id: &Id| {
            let mut puts = unknown.iter().filter_map(|number| self.calls[*number].put());
            state.stored.contains(id) || puts.any(|put| put.id == *id)
        };
        let goes = |id: Id| unknown.iter().any(|number| takes_out(self.calls[*number], id, self.names));
        let fits = |needs: &Contents, bears: &dyn Fn(Id) -> bool| {
            needs.iter().all(comes) && state.stored.iter().all(|id| bears(*id) || goes(*id))
        };
        if answered.is_empty() {
            return fits(&self.rest, &|id| self.rest.contains(&id));
        }
        answered
            .into_iter()
            .any(|number| fits(&self.needs[number], &|id| bears(self.calls[number], id, self.names)))
    }

    /// Puts reads and refused writes that fit now.
    fn put_without_effect(&self, state: &mut State) {
        loop {
            let fits = |number: &usize| {
                let call = self.calls[*number];
                !call.may_have_effect() && after(&state.stored, call, self.names).is_some()
            };
            let fitting: Vec<_> = self.candidates(state).into_iter().filter(fits).collect();
            if fitting.is_empty() {
                return;
            }
            fitting.into_iter().for_each(|number| state.is_done[number] = true);
        }
    }

    /// The calls that may be next: no other that is left ended before they began.
    fn candidates(&self, state: &State) -> Vec<usize> {
        let left = (0..self.calls.len()).filter(|number| !state.is_done[*number]);
        let end = left.clone().map(|number| self.calls[number].ended).min().unwrap_or_default();
        left.take_while(|number| self.calls[*number].begun < end).collect()
    }

    /// The candidates, those first that are likely to be next.
    fn ordered_candidates(&self, state: &State) -> Vec<usize> {
        let mut candidates = self.candidates(state);
        let shown = |call: &Call| call.put().is_some_and(|put| self.is_shown(put.id, &candidates));
        let order = |number: &usize| {
            let call = self.calls[*number];
            (call.ended, !shown(call))
        };
        let mut ordered: Vec<_> = candidates.iter().map(|number| (order(number), *number)).collect();
        ordered.sort_unstable();
        candidates.clear();
        candidates.extend(ordered.into_iter().map(|(_, number)| number));
        candidates
    }

    /// Returns true if one of the next answers, or what is there in the end, shows a write.
    fn is_shown(&self, id: Id, candidates: &[usize]) -> bool {
        let mut answers = candidates.iter().filter_map(|number| self.calls[*number].seen());
        answers.any(|seen| seen.has(id)) || self.rest.contains(&id)
    }

    fn is_end(&self, state: &State) -> bool {
        let mut left = self.calls.iter().zip(&state.is_done).filter(|(_, is_done)| !**is_done);
        state.stored == self.rest && left.all(|(call, _)| matches!(call.outcome, Outcome::Unknown))
    }

    fn note(&mut self, state: &State) {
        let done = |state: &State| state.is_done.iter().filter(|is_done| **is_done).count();
        if self.best.as_ref().is_none_or(|best| done(best) < done(state)) {
            self.best = Some(state.clone());
        }
    }
}
