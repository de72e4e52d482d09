//! Text and bytes: what they may be part of, and how they are kept without the heap.

pub mod bytes;
pub(crate) mod decimal;
pub(crate) mod inline;
