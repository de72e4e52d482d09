//! What an attack came to.

use std::time::Duration;

use super::attacker::Answer;

/// One attack, played once.
#[derive(Debug)]
pub struct Report {
    /// What the attacker got.
    pub answer: Answer,
    /// The most octets the server held at once beyond what it held before.
    pub memory_peak: i64,
    /// The client that behaved.
    pub bystander: Bystood,
}

/// How the well-behaved client fared.
#[derive(Clone, Copy, Debug)]
pub struct Bystood {
    /// Requests that were answered.
    pub served: usize,
    /// Requests that were not.
    pub failed: usize,
    /// What 99 of 100 answers were faster than.
    pub p99: Duration,
}

impl Report {
    /// The line of the table: row, answer, peak memory, the bystander's p99.
    #[must_use]
    pub fn line(&self, row: &str) -> String {
        let kib = self.memory_peak.max(0) as f64 / 1024.0;
        let p99 = self.bystander.p99.as_secs_f64() * 1000.0;
        format!("| {row} | {} | {kib:.0} KiB | {p99:.1} ms of {} |", self.answer, self.bystander.served)
    }
}
