//! Planted faults: what a wrong engine or a wrong resource does, for tests that the checker finds it.

mod faulty;
mod own_content;
mod snapshot;

use std::collections::BTreeSet;

use alula_store::engine::{Decide, Mark, Verdict};
use alula_store::model::{Context, Dot, Record};

use self::own_content::{OwnContent, rebuild};

pub(crate) use self::faulty::Faulty;

/// A fault. The last five go wrong in the client's place, which stands for a resource; the others in the
/// engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One sibling is lost with a write.
    DropsSibling,
    /// A covered content is there again after another write.
    BringsBack,
    /// A restart begins with counts that were used before it.
    ReusesDots,
    /// A write is acknowledged and not stored.
    StoresNothing,
    /// A write is answered as not begun, and stored.
    StoresWhatItDenies,
    /// The entry of an index is left when the object loses it.
    LeavesEntry,
    /// The time of a write is before that of the one before it.
    StepsBack,
    /// A condition is not met, and the write is stored.
    StoresWhatItRefuses,
    /// A context stands for the greatest count of each actor, and all below it.
    Maxima,
    /// A condition is evaluated before the write and not within it.
    ConditionOutside,
    /// A write has the context that was sent for another key.
    ContextOfAnotherKey,
    /// A context takes out what it names in all objects.
    CoversOtherKeys,
}

/// All dots up to those of a context, for each actor.
pub(crate) fn maxima(context: &BTreeSet<Dot>) -> BTreeSet<Dot> {
    let up_to = |dot: &Dot| {
        let actor = dot.actor();
        (1..=dot.count()).filter_map(move |count| Dot::new(actor, count))
    };
    context.iter().flat_map(up_to).collect()
}

/// Takes what a context names out of an object.
#[derive(Debug)]
pub(crate) struct Cover(Vec<u8>);

impl Cover {
    pub(crate) fn new(context: &BTreeSet<Dot>) -> Self {
        let mut bytes = Vec::new();
        Context::of(context.iter().copied(), &mut bytes);
        Self(bytes)
    }
}

impl Decide for Cover {
    fn decide(&mut self, stored: Option<Record<'_>>, _: Mark, out: &mut Vec<u8>) -> Verdict {
        let context = Context::read(&self.0).expect("a context that was just written");
        let contents = || stored.into_iter().flat_map(|stored| stored.contents());
        let left: Vec<_> =
            contents().filter(|content| !context.covers(content.dot())).map(OwnContent::of).collect();
        match left.len() {
            len if len == contents().count() => Verdict::Keep,
            0 => Verdict::Remove,
            _ => {
                rebuild(left, out);
                Verdict::Write
            }
        }
    }
}
