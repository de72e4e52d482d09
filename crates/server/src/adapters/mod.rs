//! Handlers made of the types of other crates.

#[cfg(feature = "tower")]
pub(crate) mod tower;
