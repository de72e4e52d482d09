//! Adapters from types of other crates to handlers.

#[cfg(feature = "tower")]
pub(crate) mod tower;
