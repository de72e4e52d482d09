//! How connections are opened: to whom, by which way, and whom they trust.

use std::time::Duration;

use super::ClientBuilder;
#[cfg(feature = "tls")]
use crate::{Error, trust::Trust};

/// What opening a connection needs to know.
#[derive(Clone)]
pub(crate) struct Connecting {
    pub(crate) deadline: Duration,
    #[cfg(feature = "tls")]
    pub(crate) trust: Trust,
}

impl Default for Connecting {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(10),
            #[cfg(feature = "tls")]
            trust: Trust::default(),
        }
    }
}

impl ClientBuilder {
    /// How long opening a connection may take, TLS included; 10 seconds unless set.
    #[must_use]
    pub fn connect_deadline(mut self, after: Duration) -> Self {
        self.settings.connect.deadline = after;
        self
    }
}

#[cfg(feature = "tls")]
impl ClientBuilder {
    /// Trusts these certificates (PEM) beside the platform's.
    ///
    /// # Errors
    /// The text holds no certificate, or one that cannot be read.
    pub fn add_roots_pem(mut self, pem: &[u8]) -> Result<Self, Error> {
        self.settings.connect.trust.add_pem(pem)?;
        Ok(self)
    }

    /// Trusts any certificate: what is sent can be read and changed by anyone on the way. For tests only.
    #[must_use]
    pub fn trust_anything(mut self) -> Self {
        self.settings.connect.trust.trust_anything();
        self
    }
}
