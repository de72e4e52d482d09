//! Encodes fields to blocks.

pub(crate) mod block;
pub(crate) mod class;
pub(crate) mod config;
pub(crate) mod encoder;
pub(crate) mod field;
pub(crate) mod plan;
pub(crate) mod prepared;
pub(crate) mod treatment;
