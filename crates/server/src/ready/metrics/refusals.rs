//! Counts of requests that reached no handler.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use alula_net::{Error, Phase};

use crate::observe::failure::RequestFailure;

/// The values of the label `reason`: statuses of refusals, then other reasons.
const REASONS: [&str; 9] = ["400", "408", "414", "431", "501", "503", "handshake", "other", "untold"];

/// A count for each reason, in their order.
#[derive(Debug, Default)]
pub(super) struct Refusals([AtomicU64; REASONS.len()]);

impl Refusals {
    pub(super) fn count(&self, failure: &RequestFailure<'_>, error: &Error) {
        let reason = match (failure.status(), error.phase()) {
            (Some(status), _) => status.to_string(),
            (None, Phase::Handshake) => "handshake".to_owned(),
            (None, _) => "other".to_owned(),
        };
        let is_known = REASONS.contains(&&*reason);
        self.add(if is_known { &reason } else { "other" }, 1);
        self.add("untold", failure.left_out());
    }

    fn add(&self, reason: &str, count: u64) {
        let place = REASONS.iter().position(|known| *known == reason);
        if let Some(counter) = place.and_then(|place| self.0.get(place)) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Returns the counts that are not zero in the text format of Prometheus.
    pub(super) fn text(&self) -> String {
        const NAME: &str = "http_requests_refused_total";
        let mut text = format!("# HELP {NAME} Requests that got to no handler, and failed handshakes.\n");
        // To write to a string does not fail.
        let _ = writeln!(text, "# TYPE {NAME} counter");
        for (reason, count) in REASONS.iter().zip(&self.0) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let _ = writeln!(text, "{NAME}{{reason=\"{reason}\"}} {count}");
            }
        }
        text
    }
}
