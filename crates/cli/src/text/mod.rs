//! Field values and JSON, taken apart and written.

pub(crate) mod disposition;
pub(crate) mod json;
pub(crate) mod parameters;
