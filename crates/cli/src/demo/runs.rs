//! The runs of the demo: the transport, the number of requests in flight, and the figures of each.

use super::figures::Figures;

/// The numbers of requests in flight.
pub(super) const IN_FLIGHT: [usize; 3] = [1, 10, 100];

/// The transport: clear text, or TLS with a certificate made for the demo.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Transport {
    Clear,
    Tls,
}

impl Transport {
    pub(super) const ALL: [Self; 2] = [Self::Clear, Self::Tls];

    pub(super) const fn scheme(self) -> &'static str {
        match self {
            Self::Clear => "http",
            Self::Tls => "https",
        }
    }

    /// Returns the key in the JSON output.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Tls => "tls",
        }
    }

    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Clear => "clear text",
            Self::Tls => "TLS",
        }
    }
}

/// A run and its result.
pub(super) struct Run {
    pub(super) transport: Transport,
    pub(super) in_flight: usize,
    pub(super) figures: Figures,
}
