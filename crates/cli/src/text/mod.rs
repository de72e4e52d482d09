//! Parsing and writing of field values and JSON.

pub(crate) mod disposition;
pub(crate) mod json;
pub(crate) mod parameters;
