//! Operations on data types, and the reasons for which one does not fit.

use std::fmt;

use super::{FieldName, Kind};
use crate::model::{Context, Dot, Moment};

/// A change of a data type that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Adds to a counter; a negative number takes from it.
    Add(i64),
    /// Removes elements of a set, then adds others.
    Set {
        /// The elements to add.
        adds: Vec<Vec<u8>>,
        /// The elements to remove; one that is added too stays.
        removes: Vec<Vec<u8>>,
    },
    /// Adds elements to a set that only grows.
    Grow(Vec<Vec<u8>>),
    /// Adds elements to what is counted.
    Count(Vec<Vec<u8>>),
    /// Removes fields of a map, then changes others.
    Map {
        /// The fields to change, with their operations.
        updates: Vec<(FieldName, Operation)>,
        /// The fields to remove; one that is changed too begins anew.
        removes: Vec<FieldName>,
    },
    /// Assigns octets to a register.
    Assign(Vec<u8>),
    /// Turns a flag on or off.
    Turn(bool),
}

impl Operation {
    /// The kind that the operation is for.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Add(_) => Kind::Counter,
            Self::Set { .. } => Kind::Set,
            Self::Grow(_) => Kind::GrowSet,
            Self::Count(_) => Kind::Distinct,
            Self::Map { .. } => Kind::Map,
            Self::Assign(_) => Kind::Register,
            Self::Turn(_) => Kind::Flag,
        }
    }
}

/// The circumstances of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The name of the change, which no other has.
    pub dot: Dot,
    /// The time of the clock.
    pub now: Moment,
    /// The context that the client was given. A removal removes this alone; without it, all that is there.
    pub context: Option<Context<'a>>,
}

/// The reason for which an operation does not fit the state. The state may be changed in part and is of no use then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// An element or a field is to be removed that is not there, without a context.
    Absent,
    /// The counter would pass the numbers of 64 bits with a sign, which clients read.
    Limit,
    /// An actor has added to a counter, or taken from it, as much as 64 bits hold.
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
    /// The dot of the change is not newer than one of its actor that has been seen: the actor was used by two stores.
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
