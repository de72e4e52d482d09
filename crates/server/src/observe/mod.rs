//! Reports of requests that fail and of those that end.

pub(crate) mod failure;
pub(crate) mod observing;
pub(crate) mod reporting;
