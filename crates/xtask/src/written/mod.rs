//! Files and tables that are made of the sources: the public API, the matrix of interop, the suffixes, the
//! lines of code.

pub(crate) mod api;
pub(crate) mod interop;
pub(crate) mod limits;
pub(crate) mod lines;
pub(crate) mod suffixes;
