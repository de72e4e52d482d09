//! Peers and proxies that are written out by hand.

pub(crate) mod peer;
pub(crate) mod relay;
