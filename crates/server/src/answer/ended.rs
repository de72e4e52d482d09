//! The facts of a request whose handler has ended.

use std::{net::SocketAddr, time::Duration};

use alula_net::{Tally, Version};

use crate::observe::failure::RequestFacts;

/// A request that has ended, as a connection knows it. Times are from the opening of the connection.
pub(crate) struct EndedRequest<'a> {
    /// The number of its route.
    pub(crate) entry: u32,
    pub(crate) facts: &'a RequestFacts,
    pub(crate) peer: SocketAddr,
    pub(crate) version: Version,
    pub(crate) began: Duration,
    pub(crate) ended: Duration,
    pub(crate) tally: Tally,
}
