//! Facts about a connection that its transport does not know: the code that opened it supplies them.

use std::net::SocketAddr;

use crate::establish::version::Version;

/// Facts about a transport that the program supplies: the address of the peer, and what was agreed on below
/// it.
///
/// The default knows nothing: the peer is `0.0.0.0:0`, the transport is in clear text, and the first bytes
/// say which version is spoken. Facts are believed as given, so take them from your own code only.
///
/// ```
/// use alula::{TransportFacts, Version};
///
/// // TLS was terminated by the program, which has agreed on HTTP/2 by ALPN.
/// let facts = TransportFacts::new().peer(([192, 0, 2, 7], 49152)).secure().version(Version::Http2);
/// assert!(facts.is_secure());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TransportFacts {
    pub(crate) peer: Option<SocketAddr>,
    is_secure: bool,
    pub(crate) version: Option<Version>,
}

impl TransportFacts {
    /// Returns facts that say nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { peer: None, is_secure: false, version: None }
    }

    /// Sets the address of the peer: handlers see it, and limits per address count by it.
    #[must_use]
    pub fn peer(mut self, address: impl Into<SocketAddr>) -> Self {
        self.peer = Some(address.into());
        self
    }

    /// Marks the transport as secured already, such as by a TLS session that the program holds: the scheme of
    /// its requests is `https`, and no TLS is looked for in its bytes.
    #[must_use]
    pub const fn secure(mut self) -> Self {
        self.is_secure = true;
        self
    }

    /// Sets the version to speak, such as one agreed on by ALPN (RFC 7301); without it the first bytes decide
    /// (RFC 9113 §3.3).
    #[must_use]
    pub const fn version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// Returns the address of the peer, if it is known.
    pub const fn peer_address(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns true if the transport is secured already.
    pub const fn is_secure(&self) -> bool {
        self.is_secure
    }
}
