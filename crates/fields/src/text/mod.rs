//! Text and bytes: their classes, and containers without the heap.

pub mod bytes;
pub(crate) mod decimal;
pub(crate) mod inline;
