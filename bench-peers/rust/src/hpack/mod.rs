//! Codecs of HPACK.

pub(crate) mod fluke;
pub(crate) mod h2;
pub(crate) mod httlib;
pub(crate) mod lists;
