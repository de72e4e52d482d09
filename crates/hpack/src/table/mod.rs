//! The static and the dynamic table, and lookups in them.

pub(crate) mod dynamic;
pub(crate) mod hash;
pub(crate) mod lookup;
pub(crate) mod same;
pub(crate) mod seen;
pub(crate) mod static_table;
pub(crate) mod view;
