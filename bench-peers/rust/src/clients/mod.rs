//! Clients at one request at a time, and at many.

pub(crate) mod asking;
pub(crate) mod curl;
pub(crate) mod h2;
pub(crate) mod hyper;
pub(crate) mod hyper_util;
pub(crate) mod request;
pub(crate) mod reqwest;
pub(crate) mod ureq;
