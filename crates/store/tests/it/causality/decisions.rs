//! The decisions that clients hand to an engine, as the resource of an object makes them.

use alula_store::engine::{Decide, Mark, Verdict};
use alula_store::model::{Context, Dot, NewContent, Record, Refused, Rules, Vtag, write};

use crate::causality::history::{self, Condition, Reason};
use crate::causality::keys::Key;
use crate::causality::planted::Fault;
use crate::causality::seen::{Seen, value, write_attributes};

/// The decision that was made last.
#[derive(Debug)]
pub(crate) enum Decision {
    Undecided,
    Stored,
    Removed,
    Refused(Reason, Seen),
}

/// The condition on the stored record.
#[derive(Debug)]
enum Check {
    Always,
    Missing,
    Vtag(Option<Vtag>),
    Context(Vec<u8>),
}

/// Stores a content if a condition holds.
#[derive(Debug)]
pub(crate) struct Put {
    rules: Rules,
    attributes: Vec<u8>,
    value: Vec<u8>,
    is_deleted: bool,
    /// The text that the client sends.
    context: Vec<u8>,
    check: Check,
    fault: Option<Fault>,
    pub(crate) decision: Decision,
}

impl Put {
    pub(crate) fn new(key: Key, put: &history::Put, fault: Option<Fault>) -> Self {
        let mut attributes = Vec::new();
        write_attributes(put.id, put.is_deleted, &mut attributes);
        Self {
            rules: key.bucket().rules,
            attributes,
            value: value(put.id, put.is_deleted),
            is_deleted: put.is_deleted,
            context: context_text(put.context.iter().copied()),
            check: Check::of(&put.condition),
            fault,
            decision: Decision::Undecided,
        }
    }

    /// Sends another context.
    pub(crate) fn with_context(self, dots: impl IntoIterator<Item = Dot>) -> Self {
        Self { context: context_text(dots), ..self }
    }

    /// Evaluates the condition now, and never again.
    pub(crate) fn check_before(&mut self, stored: Option<Record<'_>>) -> Result<(), Seen> {
        if !self.check.holds(stored) {
            return Err(Seen::of(stored));
        }
        self.check = Check::Always;
        Ok(())
    }

    fn write(&self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Result<(), Refused> {
        let mut bytes = Vec::new();
        let context = Context::from_text(&self.context, &mut bytes).expect("a context that was given");
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: self.is_deleted,
            attributes: &self.attributes,
            value: &self.value,
        };
        write(stored, context, &new, &self.rules, out)
    }
}

impl Decide for Put {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        let reason = match (self.check.holds(stored), self.write(stored, mark, out)) {
            (false, Ok(())) if self.fault == Some(Fault::StoresWhatItRefuses) => {
                self.decision = Decision::Refused(Reason::Condition, Seen::of(stored));
                return Verdict::Write;
            }
            (false, _) => Reason::Condition,
            (true, Ok(())) => {
                self.decision = Decision::Stored;
                return Verdict::Write;
            }
            (true, Err(Refused::Siblings { .. })) => Reason::Siblings,
            (true, Err(Refused::Dot)) => Reason::Dot,
            (true, Err(refused)) => panic!("values are short: {refused}"),
        };
        self.decision = Decision::Refused(reason, Seen::of(stored));
        Verdict::Keep
    }
}

/// Removes an object that is as a client saw it.
#[derive(Debug)]
pub(crate) struct Reap {
    vtag: Option<Vtag>,
    pub(crate) decision: Decision,
}

impl Reap {
    pub(crate) const fn new(seen: &Seen) -> Self {
        Self { vtag: seen.vtag, decision: Decision::Undecided }
    }
}

impl Decide for Reap {
    fn decide(&mut self, stored: Option<Record<'_>>, _: Mark, _: &mut Vec<u8>) -> Verdict {
        let is_same = stored.is_some_and(|stored| stored.is_deleted() && Some(stored.vtag()) == self.vtag);
        if is_same {
            self.decision = Decision::Removed;
            return Verdict::Remove;
        }
        self.decision = Decision::Refused(Reason::Condition, Seen::of(stored));
        Verdict::Keep
    }
}

impl Check {
    fn of(condition: &Condition) -> Self {
        match condition {
            Condition::Always => Self::Always,
            Condition::Missing => Self::Missing,
            Condition::SameVtag(seen) => Self::Vtag(seen.vtag),
            Condition::SameContext(seen) => Self::Context(context_text(seen.dots())),
        }
    }

    fn holds(&self, stored: Option<Record<'_>>) -> bool {
        match self {
            Self::Always => true,
            Self::Missing => stored.is_none_or(|stored| stored.is_deleted()),
            Self::Vtag(vtag) => stored.is_some_and(|stored| Some(stored.vtag()) == *vtag),
            Self::Context(text) => stored.is_some_and(|stored| {
                let (mut bytes, mut stored_text) = (Vec::new(), Vec::new());
                stored.context(&mut bytes).write_text(&mut stored_text);
                stored_text == *text
            }),
        }
    }
}

/// The text of a context of these dots, which ascend.
fn context_text(dots: impl IntoIterator<Item = Dot>) -> Vec<u8> {
    let (mut bytes, mut text) = (Vec::new(), Vec::new());
    Context::of(dots, &mut bytes).write_text(&mut text);
    text
}
