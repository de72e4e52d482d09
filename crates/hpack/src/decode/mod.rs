//! Decodes blocks to fields.

pub(crate) mod collect;
pub(crate) mod decoder;
pub(crate) mod literal;
pub(crate) mod memo;
pub(crate) mod visitor;
