//! Space on the disk: what is free, the reserve, and the upkeep that gives removed rows back.

pub(in crate::engine::fjall) mod disk;
pub(in crate::engine::fjall) mod free;
pub(in crate::engine::fjall) mod removed;
pub(in crate::engine::fjall) mod reserve;
#[cfg(test)]
pub(in crate::engine::fjall) mod space_tests;
pub(in crate::engine::fjall) mod upkeep;
#[cfg(test)]
pub(in crate::engine::fjall) mod upkeep_tests;
