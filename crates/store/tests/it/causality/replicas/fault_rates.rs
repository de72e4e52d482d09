//! The rates of each kind of fault between replicas.

/// The rates of each kind of fault in a [`Replicas`](super::Replicas): once in so many times, and never for
/// 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultRates {
    /// Calls at which one replica stops answering, for up to ten calls.
    pub(crate) down: u32,
    /// Messages that arrive up to twenty calls later, after others that were sent later.
    pub(crate) delayed: u32,
    /// Messages that do not arrive. Half of them are kept as hints and sent again; the other half is left to
    /// the repair by reads.
    pub(crate) lost: u32,
    /// Calls that end with [`EngineError::TimedOut`](alula_store::engine::EngineError::TimedOut), before
    /// anything was done.
    pub(crate) timed_out: u32,
    /// Writes that end with [`EngineError::Unknown`](alula_store::engine::EngineError::Unknown), since their
    /// coordinator stopped part-way.
    pub(crate) unknown: u32,
    /// Calls at which one coordinator starts anew, and is another actor from then on.
    pub(crate) restarted: u32,
}

impl FaultRates {
    /// The rates without a fault: every message arrives at once.
    pub(crate) const NONE: Self =
        Self { down: 0, delayed: 0, lost: 0, timed_out: 0, unknown: 0, restarted: 0 };

    /// The rates at which messages arrive late, in another order or not at all, and coordinators start anew,
    /// but every call is answered.
    pub(crate) const MESSAGES: Self = Self { delayed: 3, lost: 8, restarted: 60, ..Self::NONE };
}

impl Default for FaultRates {
    /// Returns rates of every kind of fault, each often enough for a test of some hundred calls.
    fn default() -> Self {
        Self { down: 25, timed_out: 40, unknown: 20, ..Self::MESSAGES }
    }
}
