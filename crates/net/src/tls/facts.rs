//! The facts of a TLS session: what the two peers agreed on.

/// The TLS version, cipher and names of a connection, and the certificate of the peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsFacts {
    pub(crate) protocol: &'static str,
    pub(crate) cipher_suite: &'static str,
    pub(crate) key_agreement: Option<&'static str>,
    pub(crate) alpn: Option<Vec<u8>>,
    pub(crate) certificates: Vec<Vec<u8>>,
    pub(crate) is_resumed: bool,
}

impl TlsFacts {
    /// Returns the version of TLS, such as `TLSv1_3`.
    pub fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// Returns the cipher suite, by its name at IANA but for `TLS13_` where that says `TLS_`, such as
    /// `TLS13_AES_256_GCM_SHA384`.
    pub fn cipher_suite(&self) -> &'static str {
        self.cipher_suite
    }

    /// Returns the group of the key agreement, by its name at IANA without punctuation, such as
    /// `X25519MLKEM768`; none if an earlier session was resumed without a new agreement.
    pub fn key_agreement(&self) -> Option<&'static str> {
        self.key_agreement
    }

    /// Returns the protocol agreed on by ALPN (RFC 7301), such as `h2`; none if the peer chose none.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.alpn.as_deref()
    }

    /// Returns the certificates of the peer, its own first, in DER; none from a client that showed none.
    pub fn certificates(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.certificates.iter().map(Vec::as_slice)
    }

    /// Returns true if an earlier session was resumed, so that no certificate was sent (RFC 8446 §2.2).
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }
}
