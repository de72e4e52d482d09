//! The metrics of an engine, and the measurement of one call.

use std::sync::Arc;
use std::time::Instant;

use super::call::{Call, CallOutcome};
use super::counts::{CallSum, Counts};
use super::text;
use crate::engine::EngineError;
use crate::statistics::shards::Shards;

const CALLS: usize = Call::LABELS.len();

/// Counts and durations of the calls of an engine, for Prometheus.
///
/// | metric | labels |
/// | --- | --- |
/// | `store_engine_calls_total` | `engine`, `call`, `outcome` |
/// | `store_engine_call_duration_seconds` (histogram, 10 µs to 10 s) | `engine`, `call` |
///
/// `call` is `get`, `write`, `snapshot`, `keys`, `entries`, `buckets` or `deleted` (a page of each),
/// `settings` or `set`. `outcome` is `ok`, `busy`, `timed_out`, `unavailable`, `refused`, `unknown` or
/// `unreadable`, as [`EngineError`] has them, or `abandoned` where the request was gone before.
///
/// Clones are handles of the same counts. These lie in a part for each thread; a call takes no lock and
/// allocates nothing.
#[derive(Clone, Debug)]
pub struct EngineMetrics(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    engine: &'static str,
    parts: Shards<[Counts; CALLS]>,
}

impl EngineMetrics {
    pub(super) fn new(engine: &'static str) -> Self {
        Self(Arc::new(Shared { engine, parts: Shards::default() }))
    }

    /// Writes the counts in the text format 0.0.4 of Prometheus. Allocates.
    pub fn text(&self) -> String {
        let sum = |at: usize| CallSum::of(self.0.parts.iter().map(move |part| &part[at]));
        text::write(self.0.engine, &std::array::from_fn(sum))
    }
}

/// A call that has begun. It is counted when it ends, or when it is dropped before.
pub(super) struct Measurement<'a>(Option<Begun<'a>>);

struct Begun<'a> {
    metrics: &'a EngineMetrics,
    call: Call,
    at: Instant,
}

impl<'a> Measurement<'a> {
    /// Begins to measure, if there are metrics.
    pub(super) fn begin(metrics: Option<&'a EngineMetrics>, call: Call) -> Self {
        Self(metrics.map(|metrics| Begun { metrics, call, at: Instant::now() }))
    }

    /// Counts the call and returns its result.
    pub(super) fn end<T>(mut self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        self.count(CallOutcome::of(&result));
        result
    }

    fn count(&mut self, outcome: CallOutcome) {
        if let Some(Begun { metrics, call, at }) = self.0.take() {
            metrics.0.parts.mine()[call as usize].count(outcome, at.elapsed());
        }
    }
}

impl Drop for Measurement<'_> {
    fn drop(&mut self) {
        self.count(CallOutcome::Abandoned);
    }
}
