//! The evidence that a call gives of the contents before it.

use crate::causality::history::{Action, Call, Condition, Outcome};
use crate::causality::reference::{Contents, Names};
use crate::causality::seen::Id;

/// The contents that were stored before a call that was answered.
pub(super) fn needs(call: &Call) -> Contents {
    match (&call.action, &call.outcome) {
        (_, Outcome::Given(seen) | Outcome::Refused(_, seen)) => seen.ids(),
        (Action::Reap { seen, .. }, Outcome::Removed) => seen.ids(),
        (Action::Put(put), Outcome::Stored(seen)) => {
            let mut needs = seen.ids();
            needs.remove(&put.id);
            if let Condition::SameVtag(seen) | Condition::SameContext(seen) = &put.condition {
                needs.extend(seen.ids());
            }
            needs
        }
        _ => Contents::new(),
    }
}

/// Returns true if a content may have been stored before a call that was answered.
pub(super) fn bears(call: &Call, id: Id, names: &Names) -> bool {
    match &call.outcome {
        Outcome::Stored(seen) => seen.has(id) || takes_out(call, id, names),
        _ => needs(call).contains(&id),
    }
}

/// Returns true if a write takes a content out when it takes effect.
pub(super) fn takes_out(call: &Call, id: Id, names: &Names) -> bool {
    match &call.action {
        Action::Read { .. } => false,
        Action::Put(put) => call.key.has_one_content() || names.is_covered(id, &put.context),
        Action::Reap { seen, .. } => seen.has(id),
    }
}
