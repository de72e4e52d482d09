//! Counts of calls in the text format 0.0.4 of Prometheus.

use std::fmt::{self, Write as _};

use super::call::{Call, CallOutcome};
use super::counts::{BOUNDS, CallSum};

const CALLS: &str = "store_engine_calls_total";
const DURATION: &str = "store_engine_call_duration_seconds";

/// Writes the calls that happened at least once. To write to memory does not fail.
pub(super) fn write(engine: &str, sums: &[CallSum; Call::LABELS.len()]) -> String {
    let mut text = String::new();
    let _ = write_all(&mut text, engine, sums);
    text
}

fn write_all(text: &mut String, engine: &str, sums: &[CallSum]) -> fmt::Result {
    writeln!(text, "# HELP {CALLS} Calls of the storage engine that have ended.\n# TYPE {CALLS} counter")?;
    for (call, sum) in seen(sums) {
        for (outcome, count) in CallOutcome::LABELS.iter().zip(sum.outcomes).filter(|(_, count)| *count > 0) {
            let labels = format_args!("engine=\"{engine}\",call=\"{call}\",outcome=\"{outcome}\"");
            writeln!(text, "{CALLS}{{{labels}}} {count}")?;
        }
    }
    writeln!(text, "# HELP {DURATION} Time from a call of the storage engine to its end.")?;
    writeln!(text, "# TYPE {DURATION} histogram")?;
    seen(sums).try_for_each(|(call, sum)| histogram(text, engine, call, sum))
}

fn seen(sums: &[CallSum]) -> impl Iterator<Item = (&'static str, &CallSum)> {
    Call::LABELS.into_iter().zip(sums).filter(|(_, sum)| sum.total() > 0)
}

fn histogram(text: &mut String, engine: &str, call: &str, sum: &CallSum) -> fmt::Result {
    let mut below = 0;
    for ((_, bound), count) in BOUNDS.iter().zip(sum.buckets) {
        below += count;
        writeln!(text, "{DURATION}_bucket{{engine=\"{engine}\",call=\"{call}\",le=\"{bound}\"}} {below}")?;
    }
    let (total, nanos) = (sum.total(), sum.nanos);
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    writeln!(text, "{DURATION}_bucket{{engine=\"{engine}\",call=\"{call}\",le=\"+Inf\"}} {total}")?;
    writeln!(text, "{DURATION}_sum{{engine=\"{engine}\",call=\"{call}\"}} {seconds}.{nanos:09}")?;
    writeln!(text, "{DURATION}_count{{engine=\"{engine}\",call=\"{call}\"}} {total}")
}
