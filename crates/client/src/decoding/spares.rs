//! Decoders between two responses.

use std::sync::{Arc, Mutex, PoisonError};

use super::{chain::Chain, coding::Coded};

/// Decoders kept for the next responses; each holds about 100 KiB.
const SPARES_MAX: usize = 32;

/// Decoders that wait for the next response in the same codings.
#[derive(Default)]
pub(crate) struct Spares {
    #[expect(clippy::vec_box, reason = "they are handed on from hand to hand")]
    chains: Mutex<Vec<Box<Chain>>>,
}

impl Spares {
    /// A decoder for these codings, a used one if there is any; it comes back by itself.
    pub(super) fn lend(spares: &Arc<Self>, codings: Coded, octets_max: u64) -> Box<Chain> {
        let mut chain = spares.used(codings).unwrap_or_else(|| Box::new(Chain::new(codings)));
        chain.begin(spares.clone(), octets_max);
        chain
    }

    fn used(&self, codings: Coded) -> Option<Box<Chain>> {
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        let at = chains.iter().rposition(|chain| chain.codings == codings)?;
        Some(chains.swap_remove(at))
    }

    /// Keeps a decoder that was used and is ready again.
    pub(super) fn keep(&self, chain: Box<Chain>) {
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if chains.len() < SPARES_MAX {
            chains.push(chain);
        }
    }
}
