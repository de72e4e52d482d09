//! How a client finds its way to an origin, against peers that are written out by hand.

mod agreement;
mod elsewhere;
mod environment;
mod proxies;
mod secure;
mod socks;
mod trusting;
mod ways;
