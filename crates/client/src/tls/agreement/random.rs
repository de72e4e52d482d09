//! Random bytes of the operating system (getrandom(2) and its like), which mixes and guards them for all of
//! its programs.

use rustls::crypto::{GetRandomFailed, SecureRandom};

/// The source of all random bytes in a client's handshakes, except those for its own certificate.
#[derive(Debug)]
pub(crate) struct SystemRandom;

impl SecureRandom for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(bytes).map_err(|_| GetRandomFailed)
    }
}
