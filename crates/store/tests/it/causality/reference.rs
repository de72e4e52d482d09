//! The model that engines are compared with: an object is a plain set of contents, and a write takes out
//! those whose dots its context names.
//!
//! Riak §3.2 says what a write leaves, and `docs/decisions/0023-contexts-name-dots.md` that contexts name
//! dots and not maxima.

use std::collections::{BTreeMap, BTreeSet};

use alula_store::model::Dot;

use crate::causality::history::{Action, Call, Condition, Outcome, Put, Reason};
use crate::causality::keys::Key;
use crate::causality::seen::Id;

/// The contents of an object, by the writes that made them.
pub(crate) type Contents = BTreeSet<Id>;

/// The dots of the writes that anybody was given, and which writes are deletions.
#[derive(Debug, Default)]
pub(crate) struct Names {
    dots: BTreeMap<Id, Dot>,
    deletions: BTreeSet<Id>,
}

enum Effect {
    Stored(Contents),
    Removed,
    Refused(Reason),
}

impl Names {
    pub(crate) fn of(history: &[Call]) -> Self {
        let given = history.iter().filter_map(Call::seen).flat_map(|seen| &seen.contents);
        let deletions = history.iter().filter_map(Call::put).filter(|put| put.is_deleted);
        Self {
            dots: given.map(|given| (given.id, given.dot)).collect(),
            deletions: deletions.map(|put| put.id).collect(),
        }
    }

    fn is_deleted(&self, contents: &Contents) -> bool {
        contents.is_subset(&self.deletions)
    }

    /// Returns true if the context names the write. One that nobody was given is named by none.
    pub(crate) fn is_covered(&self, id: Id, context: &BTreeSet<Dot>) -> bool {
        self.dots.get(&id).is_some_and(|dot| context.contains(dot))
    }
}

/// Returns what is stored after a call if its answer is that of the model, and `None` otherwise.
pub(crate) fn after(stored: &Contents, call: &Call, names: &Names) -> Option<Contents> {
    let is_stored = |contents: &BTreeSet<Id>| (contents == stored).then(|| stored.clone());
    let effect = match &call.action {
        Action::Read { .. } => {
            return call.seen().map_or(Some(stored.clone()), |seen| is_stored(&seen.ids()));
        }
        _ if matches!(call.outcome, Outcome::NotDone) => return Some(stored.clone()),
        Action::Put(put) => effect_of_put(stored, call.key, put, names),
        Action::Reap { seen, .. } => {
            match seen.ids() == *stored && !stored.is_empty() && names.is_deleted(stored) {
                true => Effect::Removed,
                false => Effect::Refused(Reason::Condition),
            }
        }
    };
    match (effect, &call.outcome) {
        (Effect::Stored(contents), Outcome::Stored(seen)) => (seen.ids() == contents).then_some(contents),
        (Effect::Stored(contents), Outcome::Unknown) => Some(contents),
        (Effect::Removed, Outcome::Removed | Outcome::Unknown) => Some(Contents::new()),
        (Effect::Refused(reason), Outcome::Refused(told, seen)) if reason == *told => is_stored(&seen.ids()),
        _ => None,
    }
}

fn effect_of_put(stored: &Contents, key: Key, put: &Put, names: &Names) -> Effect {
    let is_met = match &put.condition {
        Condition::Always => true,
        Condition::Missing => names.is_deleted(stored),
        Condition::SameVtag(seen) | Condition::SameContext(seen) => {
            !stored.is_empty() && seen.ids() == *stored
        }
    };
    if !is_met {
        return Effect::Refused(Reason::Condition);
    }
    let is_kept = |id: &Id| !key.has_one_content() && !names.is_covered(*id, &put.context);
    let mut contents: Contents = stored.iter().copied().filter(is_kept).collect();
    contents.insert(put.id);
    match contents.len() > key.bucket().rules.siblings_max {
        true => Effect::Refused(Reason::Siblings),
        false => Effect::Stored(contents),
    }
}

/// Follows a history of calls that came one after the other, with reads that miss nothing.
///
/// # Panics
/// An answer is not that of the model.
pub(crate) fn follow(history: &[Call]) {
    let names = Names::of(history);
    let mut objects = vec![Contents::new(); Key::COUNT];
    for call in history {
        let stored = &mut objects[call.key.number()];
        *stored = after(stored, call, &names).unwrap_or_else(|| panic!("stored is {stored:?}\n{call:#?}"));
    }
}
