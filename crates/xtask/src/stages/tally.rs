//! The sum of what the test runners said: `test result: ok. 12 passed; 0 failed; 1 ignored; …`.

use std::fmt;

/// Tests counted over all runners so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    /// Counts the line if it is a closing line of `cargo test`; other lines change nothing.
    pub(crate) fn read(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        self.passed += number_before(result, " passed");
        self.failed += number_before(result, " failed");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

fn number_before(text: &str, unit: &str) -> u64 {
    let Some(end) = text.find(unit) else { return 0 };
    let digits = text[..end].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_closing_lines_and_nothing_else() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        tally.read("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read("test section::says_9 passed ... ok");
        assert_eq!(tally, Tally { passed: 15, failed: 2 });
        assert_eq!(tally.to_string(), "15 passed, 2 failed");
    }
}
