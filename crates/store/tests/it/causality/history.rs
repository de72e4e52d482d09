//! Histories: what each client asked for, when, and what it was answered.

use std::collections::BTreeSet;

use alula_store::model::Dot;

use crate::causality::keys::Key;
use crate::causality::seen::{Id, Seen};

/// One call of a client. Times are counts of all beginnings and ends.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) key: Key,
    pub(crate) begun: u64,
    /// The end of the call. A call of unknown outcome has none: it may take effect at any later time.
    pub(crate) ended: u64,
    pub(crate) action: Action,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A read that so many replicas answer.
    Read {
        r: u32,
    },
    Put(Put),
    /// Removes an object whose contents are these, all of them tombstones.
    Reap {
        seen: Seen,
        w: u32,
    },
}

/// A write of a content.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) id: Id,
    pub(crate) is_deleted: bool,
    pub(crate) context: BTreeSet<Dot>,
    pub(crate) condition: Condition,
    /// The replicas that it waits for.
    pub(crate) w: u32,
    /// The client goes away before it is answered.
    pub(crate) is_abandoned: bool,
}

/// The condition for a write to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    /// `if-none-match: *`: nothing, or tombstones.
    Missing,
    /// `if-match`: the object with the vtag of this one.
    SameVtag(Seen),
    /// `x-riak-if-not-modified`: the object with the context of this one.
    SameContext(Seen),
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The contents that a read was given.
    Given(Seen),
    /// The contents after a write, its own among them.
    Stored(Seen),
    /// The contents that are stored instead.
    Refused(Reason, Seen),
    /// The object was reaped.
    Removed,
    /// The engine says that nothing was done.
    NotDone,
    /// The engine does not know.
    Unknown,
}

/// The reason for which a write is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its condition, or that of reaping.
    Condition,
    /// The limit of siblings.
    Siblings,
    /// Its dot does not follow.
    Dot,
}

impl Call {
    /// The contents that the call was given of the object.
    pub(crate) const fn seen(&self) -> Option<&Seen> {
        match &self.outcome {
            Outcome::Given(seen) | Outcome::Stored(seen) | Outcome::Refused(_, seen) => Some(seen),
            Outcome::Removed | Outcome::NotDone | Outcome::Unknown => None,
        }
    }

    /// The write of a content, if it is one.
    pub(crate) const fn put(&self) -> Option<&Put> {
        match &self.action {
            Action::Put(put) => Some(put),
            Action::Read { .. } | Action::Reap { .. } => None,
        }
    }

    /// Returns true if the client was told that its write took effect.
    pub(crate) const fn is_acknowledged(&self) -> bool {
        matches!(self.outcome, Outcome::Stored(_) | Outcome::Removed)
    }

    /// Returns true if the call is a write that took effect or may have.
    pub(crate) const fn may_have_effect(&self) -> bool {
        let is_write = !matches!(self.action, Action::Read { .. });
        is_write && (self.is_acknowledged() || matches!(self.outcome, Outcome::Unknown))
    }
}
