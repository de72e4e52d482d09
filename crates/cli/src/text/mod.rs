//! Writing of JSON.

pub(crate) mod json;
