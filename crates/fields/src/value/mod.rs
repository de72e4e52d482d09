//! Field values: known by number, or text, and as they may be shown.

pub(crate) mod field;
pub(crate) mod known_value;
pub(crate) mod masked;
pub(crate) mod one_line;
