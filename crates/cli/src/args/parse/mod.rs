//! The command line before its flags are parsed.

pub(in crate::args) mod config;
pub(in crate::args) mod curls_words;
pub(in crate::args) mod httpie;
pub(in crate::args) mod once;
pub(in crate::args) mod refused;
pub(in crate::args) mod shared;
pub(in crate::args) mod words;
