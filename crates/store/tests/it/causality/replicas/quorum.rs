//! The replicas that a request needs, by the levels of its terms.

use super::cluster::REPLICAS;
use alula_store::engine::{EngineError, Level, ReadTerms, Shortage, WriteTerms};

/// The counts that a request asked for, level by level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quorum([(Level, u32); 4]);

impl Quorum {
    pub(super) const fn of_read(terms: &ReadTerms) -> Self {
        let primary = (Level::Pr, terms.pr);
        Self([(Level::R, terms.r), primary, primary, (Level::NodeConfirms, terms.node_confirms)])
    }

    pub(super) const fn of_write(terms: &WriteTerms) -> Self {
        Self([
            (Level::W, terms.w),
            (Level::Pw, terms.pw),
            (Level::Dw, terms.dw),
            (Level::NodeConfirms, terms.node_confirms),
        ])
    }

    /// Returns the greatest count, from one to all replicas.
    pub(super) fn replicas(&self) -> usize {
        let counts = self.0.iter().map(|(_, needed)| *needed as usize);
        counts.fold(1, usize::max).min(REPLICAS)
    }
}

/// Tells whether so many replicas are enough. Every replica is primary and a machine of its own.
///
/// # Errors
/// [`EngineError::Unavailable`], with the first level that is not met.
pub(super) fn check(got: usize, quorum: &Quorum) -> Result<(), EngineError> {
    let got = got as u32;
    let needed = |level: Level, needed: u32| match level {
        Level::NodeConfirms => needed,
        _ => needed.min(REPLICAS as u32),
    };
    let levels = quorum.0.iter().map(|(level, count)| (*level, needed(*level, *count)));
    match levels.into_iter().find(|(_, needed)| got < *needed) {
        Some((level, needed)) => Err(EngineError::Unavailable(Shortage { level, got, needed })),
        None => Ok(()),
    }
}
