//! Data types: counters, sets, maps and others, whose concurrent changes merge without siblings.
//!
//! A [`State`] is what is kept of one: a clock of the changes it has seen, and a value whose parts carry the
//! dots of the changes that made them. A part that one of two states lacks although its clock has seen the
//! part's dot was removed there; all others stay.

mod counter;
mod distinct;
mod flag;
mod kind;
mod map;
mod operation;
pub(crate) mod parts;
mod register;
mod set;
mod sketch;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub use counter::Counter;
pub use distinct::Distinct;
pub use flag::Flag;
pub use kind::Kind;
pub use map::{FieldName, Map, NESTING_MAX};
pub use operation::{Change, Operation, Unfit};
pub(crate) use operation::{Draft, ElementsDraft, FieldsDraft};
use operation::{Elements, Making, Removed, Steps};
pub use parts::clock::{Clock, Seen};
pub use parts::size::{ELEMENTS_MAX, SKETCHES_MAX};
pub use register::Register;
pub use set::Set;
pub use sketch::Precision;
pub use state::State;
pub use value::Value;
