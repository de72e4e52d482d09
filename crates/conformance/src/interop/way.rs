//! The two ways in which a peer is reached.

use crate::alula::Reach;
use crate::certificates::Certificates;

/// The way in which a peer is reached; every cell is checked both ways.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// In clear text, with prior knowledge (RFC 9113 §3.3).
    Clear,
    /// Over TLS, agreed on by ALPN (RFC 9113 §3.2).
    Tls,
}

impl Way {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Clear, Self::Tls];

    /// The way, with what it takes to trust the server.
    #[must_use]
    pub fn reach(self, certificates: &Certificates) -> Reach<'_> {
        match self {
            Self::Clear => Reach::Clear,
            Self::Tls => Reach::Tls(certificates),
        }
    }
}
