//! What h2spec and h2specd print: a summary line, and the failed cases again under `Failures:`.

use std::fmt;

/// `146 tests, 146 passed, 0 skipped, 0 failed`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// Cases that gave the expected answer.
    pub passed: u32,
    /// Cases that could not be tried.
    pub skipped: u32,
    /// Cases that gave another answer, or none.
    pub failed: u32,
}

impl Summary {
    /// So many cases, all passed.
    #[must_use]
    pub const fn all_passed(cases: u32) -> Self {
        Self { passed: cases, skipped: 0, failed: 0 }
    }

    /// Reads the summary line; `None` when the suite did not come to it.
    #[must_use]
    pub fn read(output: &str) -> Option<Self> {
        output.lines().find_map(|line| {
            let mut counts = line.split(", ").map(|part| part.split_once(' '));
            let mut count = |unit| counts.next()?.filter(|(_, found)| *found == unit)?.0.parse().ok();
            let total: u32 = count("tests")?;
            let summary =
                Self { passed: count("passed")?, skipped: count("skipped")?, failed: count("failed")? };
            (total == summary.passed + summary.skipped + summary.failed).then_some(summary)
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} skipped, {} failed", self.passed, self.skipped, self.failed)
    }
}

/// The failed cases with what was expected; when the suite broke off, all it said.
#[must_use]
pub fn failures(output: &str) -> String {
    let shown = output.split_once("Failures:").map_or(output, |(_, failures)| failures);
    // h2specd says this without end once it is done, and h2spec writes each title twice, the first time to be
    // overwritten.
    let lines = shown.lines().filter(|line| !line.contains("use of closed network connection"));
    lines.map(|line| line.rsplit('\r').next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Generic\n  1: a\r  \u{2714} 1: a\nFailures: \n\nGeneric\n  \u{d7} 2: b\n\
        Finished in 0.2 seconds\n3 tests, 1 passed, 1 skipped, 1 failed\n\
        accept tcp 127.0.0.1:31030: use of closed network connection\n";

    #[test]
    fn reads_the_summary() {
        assert_eq!(Summary::read(OUTPUT), Some(Summary { passed: 1, skipped: 1, failed: 1 }));
        assert_eq!(Summary::read("4 tests, 1 passed, 1 skipped, 1 failed"), None, "the sum is wrong");
        assert_eq!(Summary::read("Error: Timeout"), None);
    }

    #[test]
    fn shows_failed_cases_only() {
        let shown = failures(OUTPUT);
        assert!(shown.contains("2: b") && !shown.contains("1: a") && !shown.contains("closed"), "{shown}");
        assert_eq!(failures("Error: Timeout"), "Error: Timeout");
    }
}
