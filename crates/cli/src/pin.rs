//! The failure of a server whose certificate has another public key than the one that was pinned.

use std::{error::Error, fmt};

/// The certificate is trusted, but it is not the one that was meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinMismatch;

impl Error for PinMismatch {}

impl fmt::Display for PinMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its public key is not the one of --pinnedpubkey")
    }
}
