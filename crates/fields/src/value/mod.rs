//! Field values: known ones by number, others as text, their parameters, and their displayed form.

pub(crate) mod field;
pub(crate) mod known_value;
pub(crate) mod masked;
pub(crate) mod one_line;
pub mod parameters;
