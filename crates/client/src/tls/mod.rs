//! Trust in servers, identities, and the key agreement.

#[cfg(feature = "tls")]
pub(crate) mod agreement;
#[cfg(feature = "tls")]
pub(crate) mod trust;
