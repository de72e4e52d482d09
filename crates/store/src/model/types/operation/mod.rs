//! Operations on data types, and the reasons for which one does not fit.

mod draft;
mod steps;

use std::fmt;

pub(crate) use self::draft::{Draft, ElementsDraft, FieldsDraft};
pub(super) use self::steps::{Elements, Removed, Steps};
use super::{FieldName, Kind};
use crate::model::{Context, Covered, Dot, Moment};

/// A change of a data type that a client asks for, in one run of bytes: it takes no more memory than its
/// JSON.
///
/// ```
/// use alula_store::model::types::{FieldName, Kind, Operation};
///
/// let tags = Operation::set(["new", "green"], ["old"]);
/// let draft = FieldName { name: b"draft".to_vec(), kind: Kind::Flag };
/// let change = Operation::map([("tags", tags), ("reads", Operation::add(1))], [draft]);
/// assert_eq!(change.kind(), Kind::Map);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    kind: Kind,
    bytes: Vec<u8>,
}

impl Operation {
    /// Returns the operation that adds to a counter; a negative number takes from it.
    pub fn add(number: i64) -> Self {
        Self::of(Kind::Counter, |draft| draft.add(number))
    }

    /// Returns the operation that removes elements of a set, then adds others. One that is removed and added
    /// stays.
    pub fn set<E: AsRef<[u8]>>(
        adds: impl IntoIterator<Item = E>,
        removes: impl IntoIterator<Item = E>,
    ) -> Self {
        Self::of_elements(Kind::Set, adds, removes)
    }

    /// Returns the operation that adds elements to a set that only grows.
    pub fn grow<E: AsRef<[u8]>>(elements: impl IntoIterator<Item = E>) -> Self {
        Self::of_elements(Kind::GrowSet, elements, [])
    }

    /// Returns the operation that adds elements to what is counted.
    pub fn count<E: AsRef<[u8]>>(elements: impl IntoIterator<Item = E>) -> Self {
        Self::of_elements(Kind::Distinct, elements, [])
    }

    /// Returns the operation that removes fields of a map, then changes others. Of several operations on one
    /// field the last counts; a field that is removed and changed begins anew.
    pub fn map<N: AsRef<[u8]>>(
        updates: impl IntoIterator<Item = (N, Self)>,
        removes: impl IntoIterator<Item = FieldName>,
    ) -> Self {
        Self::of(Kind::Map, |draft| {
            let mut fields = draft.begin_fields();
            for (name, operation) in updates {
                draft.begin_field(&mut fields, name.as_ref(), operation.kind);
                draft.put(&operation);
            }
            removes.into_iter().for_each(|FieldName { name, kind }| draft.remove_field(&name, kind));
            draft.end_fields(&fields);
        })
    }

    /// Returns the operation that assigns bytes to a register.
    pub fn assign(bytes: impl AsRef<[u8]>) -> Self {
        Self::of(Kind::Register, |draft| draft.assign(bytes.as_ref()))
    }

    /// Returns the operation that turns a flag on or off.
    pub fn turn(on: bool) -> Self {
        Self::of(Kind::Flag, |draft| draft.turn(on))
    }

    /// Returns the kind that the operation is for.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns how many bytes it holds.
    pub const fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn steps(&self) -> Steps<'_> {
        Steps::of(&self.bytes)
    }

    fn of(kind: Kind, write: impl FnOnce(&mut Draft)) -> Self {
        let mut draft = Draft::default();
        write(&mut draft);
        draft.end(kind)
    }

    fn of_elements<E: AsRef<[u8]>>(
        kind: Kind,
        adds: impl IntoIterator<Item = E>,
        removes: impl IntoIterator<Item = E>,
    ) -> Self {
        Self::of(kind, |draft| {
            let mut elements = draft.begin_elements();
            adds.into_iter().for_each(|element| draft.add_element(&mut elements, element.as_ref()));
            removes.into_iter().for_each(|element| draft.remove_element(element.as_ref()));
            draft.end_elements(&elements);
        })
    }
}

/// The circumstances in which an operation is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The name of the change, which no other has.
    pub dot: Dot,
    /// The time of the clock.
    pub now: Moment,
    /// The context that the client sent. A removal removes this alone; without it, all that is there.
    pub context: Option<Context<'a>>,
}

/// A change that is being made; its context is unpacked once for all dots that are searched for.
#[derive(Debug)]
pub(super) struct Making<'a> {
    pub(super) dot: Dot,
    pub(super) now: Moment,
    pub(super) context: Option<Covered<'a>>,
}

impl<'a> Making<'a> {
    pub(super) fn of(change: &Change<'a>) -> Self {
        let &Change { dot, now, context } = change;
        Self { dot, now, context: context.map(Covered::of) }
    }
}

/// The reason for which an operation does not fit the state. The state may be changed in part and is of no
/// use then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// An element or a field that is not there is to be removed, without a context.
    Absent,
    /// The counter would leave the range of signed numbers of 64 bits, which clients read.
    Limit,
    /// The sums of an actor would leave the range of 64 bits.
    Sums,
    /// The data type would hold more than [`ELEMENTS_MAX`](super::ELEMENTS_MAX) elements and fields.
    Elements,
    /// The map would hold more than [`SKETCHES_MAX`](super::SKETCHES_MAX) counts of different elements.
    Sketches,
    /// The operation is for another kind.
    Kind {
        /// The kind that is there.
        kind: Kind,
    },
    /// Maps lie in maps more than [`NESTING_MAX`](super::NESTING_MAX) deep.
    Nesting,
    /// The dot of the change is not newer than one of its actor that was seen: two stores have used the
    /// actor.
    Dot,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => {
                f.write_str("what is to be removed is not there, and no context says that it was")
            }
            Self::Limit => f.write_str("the counter would pass a number of 64 bits with a sign"),
            Self::Sums => f.write_str("the counter has been changed as often as it can be"),
            Self::Elements => {
                write!(f, "there would be more than {} elements and fields", super::ELEMENTS_MAX)
            }
            Self::Sketches => write!(f, "the map would hold more than {} hlls", super::SKETCHES_MAX),
            Self::Kind { kind } => write!(f, "the operation is for another kind than {}", kind.name()),
            Self::Nesting => write!(f, "the maps lie more than {} deep", super::NESTING_MAX),
            Self::Dot => f.write_str("the actor of this store has been used by another one"),
        }
    }
}

impl std::error::Error for Unfit {}
