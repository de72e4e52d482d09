//! How a client finds its way to an origin, against peers that are written out by hand.

mod peer;
mod secure;
mod ways;
