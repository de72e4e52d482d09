//! A pool of decoders between messages.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use alula_net::Decoder;

use crate::{chain::Chain, codings::Codings};

/// Decoders kept for the next messages; each holds about 100 KiB.
const SPARES_MAX: usize = 32;

/// Lends decoders, and keeps up to 32 of them for the next messages in the same codings, about 100 KiB each.
#[derive(Default)]
pub struct DecoderPool {
    #[expect(clippy::vec_box, reason = "they are handed on from hand to hand")]
    chains: Mutex<Vec<Box<Chain>>>,
}

impl DecoderPool {
    /// Returns a decoder of content in these codings, which returns to the pool by itself. Reading fails if
    /// the content has more codings than are decoded.
    ///
    /// Reading fails with [`TooLong`](alula_net::Cause::TooLong) if there are more than `bytes_max` once
    /// they are decoded, or more than [`coded_bytes_max`](crate::coded_bytes_max) of that before; with
    /// [`Growth`](alula_net::Cause::Growth) if they are more than 1 MiB and more than a hundred times what
    /// came; and with [`Coding`](alula_net::Cause::Coding) if they are malformed or end early.
    ///
    /// Allocates about 100 KiB if none is kept for these codings; a used decoder of gzip or deflate allocates
    /// nothing, nor does one of zstd whose windows were below 1 MiB.
    #[must_use]
    pub fn lend(pool: &Arc<Self>, codings: Codings, bytes_max: u64) -> Box<dyn Decoder> {
        let mut chain = pool.used(codings).unwrap_or_else(|| Box::new(Chain::new(codings)));
        chain.begin(pool.clone(), bytes_max);
        chain
    }

    fn used(&self, codings: Codings) -> Option<Box<Chain>> {
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        let at = chains.iter().rposition(|chain| chain.codings == codings)?;
        Some(chains.swap_remove(at))
    }

    /// Keeps a used decoder that was reset.
    pub(crate) fn keep(&self, chain: Box<Chain>) {
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if chains.len() < SPARES_MAX {
            chains.push(chain);
        }
    }
}

impl fmt::Debug for DecoderPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecoderPool").finish_non_exhaustive()
    }
}
