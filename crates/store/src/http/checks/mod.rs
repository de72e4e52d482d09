//! Checks of a request before it is carried out: who sends it, from which page, under which conditions.

pub(in crate::http) mod authorization;
pub(in crate::http) mod conditions;
pub(in crate::http) mod negotiation;
pub(in crate::http) mod options;
pub(in crate::http) mod page_check;
pub(in crate::http) mod peer;
pub(in crate::http) mod query;
