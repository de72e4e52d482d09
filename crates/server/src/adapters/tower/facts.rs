//! Extensions: facts about a request for a service, and about its response for the server.

use std::net::SocketAddr;

/// The address of the peer, an extension of each request that a service of `tower` gets from
/// [`from_tower`](crate::from_tower).
///
/// Over TLS, `TlsFacts` is another.
///
/// ```
/// fn peer(request: &http::Request<alula::Body>) -> Option<std::net::SocketAddr> {
///     request.extensions().get::<alula::PeerAddress>().map(|peer| peer.address())
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PeerAddress(SocketAddr);

impl PeerAddress {
    pub(super) const fn new(address: SocketAddr) -> Self {
        Self(address)
    }

    /// Returns the address.
    pub const fn address(self) -> SocketAddr {
        self.0
    }
}

/// An extension of a response that exempts the peer from the limits on slow peers, as
/// [`Exchange::allow_slow_peer`](crate::Exchange::allow_slow_peer) does; it has no effect unless the status
/// is 2xx.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowSlowPeer;
