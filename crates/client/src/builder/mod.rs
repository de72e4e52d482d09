//! The builder of a client; each group of settings has a file of its own.

mod connect;
mod credentials;
mod deadlines;
mod decoding;
mod policy;
mod pool;
mod protocol;
#[cfg(feature = "tls")]
mod tls;

pub(crate) use connect::Connecting;
pub(crate) use deadlines::Deadlines;
pub(crate) use decoding::Decoding;
pub(crate) use policy::Policy;
pub(crate) use pool::Pooling;
pub(crate) use protocol::Protocol;

use std::fmt;

use alula_net::Error;

/// Settings of a [`Client`](crate::Client), each with a safe default.
#[derive(Clone, Default)]
pub struct ClientBuilder {
    pub(crate) settings: Settings,
    /// The first mistake among the settings.
    mistake: Option<Error>,
}

/// The settings of every connection and call of a client.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) connect: Connecting,
    pub(crate) deadlines: Deadlines,
    #[cfg(feature = "decoding")]
    pub(crate) decoding: Decoding,
    pub(crate) policy: Policy,
    pub(crate) pool: Pooling,
    pub(crate) protocol: Protocol,
}

impl ClientBuilder {
    /// Returns the settings, completed from the environment.
    ///
    /// # Errors
    /// A setting was a mistake, or a proxy that the environment names cannot be used.
    pub(crate) fn settled(mut self) -> Result<Settings, Error> {
        if let Some(mistake) = self.mistake.take() {
            return Err(mistake);
        }
        self.settings.connect.settle()?;
        Ok(self.settings)
    }

    /// Keeps the first mistake for [`build`](Self::build).
    pub(crate) fn note(&mut self, mistake: impl Into<Error>) {
        if self.mistake.is_none() {
            self.mistake = Some(mistake.into());
        }
    }
}

impl fmt::Debug for ClientBuilder {
    /// Shows the fields that are sent with every call, the proxies, the deadline and the limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.show(f.debug_struct("ClientBuilder"))
    }
}

impl Settings {
    /// Shows what is no secret.
    pub(crate) fn show(&self, mut shown: fmt::DebugStruct<'_, '_>) -> fmt::Result {
        shown
            .field("fields", &self.policy.fields)
            .field("proxies", &self.connect.proxies)
            .field("timeout", &self.deadlines.total)
            .field("limits", &self.protocol.config.limits)
            .finish_non_exhaustive()
    }
}
