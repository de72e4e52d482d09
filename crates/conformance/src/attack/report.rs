//! What an attack came to.

use std::time::Duration;

use super::answer::Answer;

/// One attack, played once.
#[derive(Debug)]
pub struct Report {
    /// What the attacker got.
    pub answer: Answer,
    /// The most bytes the server held at once beyond what it held before.
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

impl Bystood {
    /// From the times of requests that were answered, and the number of others.
    pub(super) fn of(mut times: Vec<Duration>, failed: usize) -> Self {
        times.sort_unstable();
        let p99 = times.get(times.len() * 99 / 100).or(times.last()).copied().unwrap_or(Duration::MAX);
        Self { served: times.len(), failed, p99 }
    }
}

impl Report {
    /// Prints the line of the table, and says what is wrong with it.
    pub(super) fn check(&self, row: &str, answer: Answer, memory_max: i64) {
        println!("{}", self.line(row));
        assert_eq!(self.answer, answer, "{row}");
        assert!(self.memory_peak <= memory_max, "{row}: {} bytes held", self.memory_peak);
        assert!(self.bystander.served > 0 && self.bystander.failed == 0, "{row}: {self:?}");
    }

    /// Without the limit the attack must not end as with it, and must end in this way if one is known.
    pub(super) fn check_lifted(&self, row: &str, answer: Answer, through: Option<Answer>) {
        assert_ne!(self.answer, answer, "{row}: it is not this limit that answers");
        assert_eq!(self.answer, through.unwrap_or(self.answer), "{row}: without its limit");
    }

    /// The line of the table: row, answer, peak memory, the bystander's p99.
    #[must_use]
    pub fn line(&self, row: &str) -> String {
        let kib = self.memory_peak.max(0) as f64 / 1024.0;
        let p99 = self.bystander.p99.as_secs_f64() * 1000.0;
        format!("| {row} | {} | {kib:.0} KiB | {p99:.1} ms of {} |", self.answer, self.bystander.served)
    }
}
