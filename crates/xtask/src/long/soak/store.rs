//! `cargo xtask soak --store`: the tests of the store's engine that kill, lose power and write at once, each
//! many times over.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, run};

/// The numbers of the whole run.
const KILLS: u64 = 500;
const IMAGES: u64 = 1_000;
const CAUSALITY_RUNS: u64 = 2_000;

/// A test that prints one line of what it did, and takes the number of its repetitions from a variable.
struct Long {
    flag: &'static str,
    /// The path of the test, or the room of all of them.
    test: &'static str,
    variable: &'static str,
    count: u64,
}

const ALL: [Long; 3] = [
    Long {
        flag: "--kills",
        test: "fjall::kill::what_was_answered_is_there_after_each_kill",
        variable: "ALULA_STORE_KILLS",
        count: KILLS,
    },
    Long {
        flag: "--images",
        test: "fjall::power::what_was_flushed_is_there_after_each_loss_of_power",
        variable: "ALULA_STORE_IMAGES",
        count: IMAGES,
    },
    Long {
        flag: "--causality",
        test: "causality::",
        variable: "ALULA_CAUSALITY_RUNS",
        count: CAUSALITY_RUNS,
    },
];

/// The command `cargo xtask soak --store`: no arguments for all, or flags with numbers for those alone.
pub(super) fn command(args: &[&str]) -> Result<ExitCode> {
    if args.is_empty() {
        for long in &ALL {
            long.run(long.count)?;
        }
    }
    for pair in args.chunks(2) {
        let (long, count) = read(pair)?;
        long.run(count)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read<'a>(pair: &[&str]) -> Result<(&'a Long, u64)> {
    let [flag, count] = pair else { bail!("`soak --store {}` lacks a number", pair.join(" ")) };
    let long = ALL.iter().find(|long| long.flag == *flag);
    let long = long.with_context(|| format!("`soak --store {flag}` is not a command"))?;
    Ok((long, count.parse().with_context(|| format!("{flag} {count}"))?))
}

impl Long {
    fn run(&self, count: u64) -> Result<()> {
        let mut test =
            cargo(["test", "--quiet", "--release", "--package", "alula-store", "--test", "it", self.test]);
        test.args(["--", "--nocapture"]);
        run(test.env(self.variable, count.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_numbers() {
        let read_one = |pair: &[&str]| read(pair).map(|(long, count)| (long.test, count)).ok();
        assert_eq!(
            read_one(&["--kills", "7"]),
            Some(("fjall::kill::what_was_answered_is_there_after_each_kill", 7))
        );
        assert_eq!(
            read_one(&["--images", "1000"]),
            Some(("fjall::power::what_was_flushed_is_there_after_each_loss_of_power", 1000))
        );
        assert_eq!(read_one(&["--images"]), None);
        assert_eq!(read_one(&["--images", "many"]), None);
        assert_eq!(read_one(&["--others", "7"]), None);
    }
}
