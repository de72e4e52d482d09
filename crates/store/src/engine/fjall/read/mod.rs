//! The way of a read and of a list: snapshots, rows, and gaps between rows.

#[cfg(test)]
pub(in crate::engine::fjall) mod damage_tests;
pub(in crate::engine::fjall) mod gaps;
#[cfg(test)]
pub(in crate::engine::fjall) mod gaps_tests;
pub(in crate::engine::fjall) mod least;
pub(in crate::engine::fjall) mod list_memory;
pub(in crate::engine::fjall) mod passing;
pub(in crate::engine::fjall) mod rows;
pub(in crate::engine::fjall) mod snapshot;
pub(in crate::engine::fjall) mod sorted_group;
