//! The cryptography of a client's handshakes, by aws-lc, with its own random bytes or the operating system's.
//!
//! aws-lc measures the jitter of the processor when it is first asked for random bytes, which takes 25 ms
//! once in a process: as long as all else that a short program does. The feature `system-random` leaves that
//! out (docs/decisions/0018).
//!
//! Rule: with that feature, nothing that a client does without a certificate of its own asks aws-lc for
//! random bytes.

#[cfg(feature = "system-random")]
mod elliptic;
#[cfg(feature = "system-random")]
mod hybrid;
#[cfg(feature = "system-random")]
mod ml_kem;
#[cfg(feature = "system-random")]
mod random;
#[cfg(all(test, feature = "system-random"))]
mod tests;

use rustls::crypto::{CryptoProvider, aws_lc_rs};

/// Returns the provider of a client's handshakes. The agreement that stands first is the one whose share is
/// sent unasked, with the share of its curve for servers that know no other.
#[cfg(feature = "system-random")]
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: vec![&hybrid::X25519_ML_KEM_768, &elliptic::X25519, &elliptic::P256, &elliptic::P384],
        secure_random: &random::SystemRandom,
        ..aws_lc_rs::default_provider()
    }
}

/// Returns the provider of a client's handshakes, which agrees on keys in the order of rustls: X25519MLKEM768
/// first.
#[cfg(not(feature = "system-random"))]
pub(crate) fn provider() -> CryptoProvider {
    aws_lc_rs::default_provider()
}
