//! Objects: reading, storing and deleting them.

pub(in crate::http) mod arriving;
mod delete;
mod entries;
mod incoming;
pub(in crate::http) mod loading;
pub(in crate::http) mod new_key;
mod one;
mod put;
pub(in crate::http) mod random;
mod read;
mod same_name;
mod shown;
mod siblings;
pub(in crate::http) mod vclock;

pub(super) use delete::delete;
#[cfg(feature = "fuzzing")]
pub(super) use incoming::attributes;
pub(super) use put::{create, put};
pub(super) use read::read;
pub(super) use siblings::{put_boundary, put_head};
