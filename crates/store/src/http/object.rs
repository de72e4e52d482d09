//! Objects: reading, storing and deleting them.

mod delete;
mod entries;
mod incoming;
mod one;
mod put;
mod read;
mod same_name;
mod shown;
mod siblings;

pub(super) use delete::delete;
#[cfg(feature = "fuzzing")]
pub(super) use incoming::attributes;
pub(super) use put::{create, put};
pub(super) use read::read;
pub(super) use siblings::{put_boundary, put_head};
