//! Requests that cost a server no allocation once warm.

pub(crate) mod answers;
pub(crate) mod crowded;
pub(crate) mod decoding;
pub(crate) mod filters;
pub(crate) mod forms;
pub(crate) mod hooks;
pub(crate) mod routed;
pub(crate) mod served;
