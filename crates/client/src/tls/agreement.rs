//! What a client's handshakes are made with: the cryptography of aws-lc, and random octets of the operating system.
//!
//! The first random octets that aws-lc itself is asked for cost 25 ms of computing, since it measures the jitter of the processor
//! beside asking the operating system: as long as all else that a short program does. docs/decisions/0018 weighs it.
//!
//! Rule: nothing that a client does without a certificate of its own asks aws-lc for random octets.

mod elliptic;
mod hybrid;
mod ml_kem;
mod random;
#[cfg(test)]
mod tests;

use rustls::crypto::{CryptoProvider, aws_lc_rs};

/// Returns the provider of a client's handshakes. The agreement that stands first is the one whose share is sent unasked, with the
/// share of its curve for servers that know no other.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: vec![&hybrid::X25519_ML_KEM_768, &elliptic::X25519, &elliptic::P256, &elliptic::P384],
        secure_random: &random::SystemRandom,
        ..aws_lc_rs::default_provider()
    }
}
