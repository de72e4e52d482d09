//! The options on the command line.

use anyhow::{Context, Result, bail};

/// The contests that are measured, and how much.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) asked: Asked,
    /// Beside Alula and the floor; all of them unless one is named.
    pub(super) only: Option<String>,
    /// Each measures everything once; with none, only what does not depend on time is counted.
    pub(super) rounds: usize,
    /// Timed units are divided by this.
    pub(super) divisor: u64,
    pub(super) counts_instructions: bool,
    /// True if data and plots are written: by a whole run, and by any other when it is told to.
    pub(super) writes: bool,
}

/// The suites of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    /// Work in memory, clients and servers, then whole programs.
    Stacks,
    Start,
    Works,
    Idle,
    Growth,
    Store,
    Million,
    StorePeers,
    /// Nothing is measured: the plots are drawn from the data.
    Draw,
}

/// The flag of each, its rounds, and those of a quick run.
const SUITES: [(&str, Asked, usize, usize); 8] = [
    ("--start", Asked::Start, 30, 30),
    ("--servers", Asked::Works, 5, 5),
    ("--idle", Asked::Idle, 1, 1),
    ("--growth", Asked::Growth, 3, 3),
    ("--store", Asked::Store, 5, 3),
    ("--store-million", Asked::Million, 1, 1),
    ("--store-peers", Asked::StorePeers, 5, 5),
    ("--draw", Asked::Draw, 0, 0),
];

/// The rounds of stacks, and those of a quick run.
const ROUNDS: [usize; 2] = [9, 3];

impl Options {
    pub(super) fn parse(args: &[&str]) -> Result<Self> {
        let (mut asked, mut only, mut rounds, mut is_quick) = (Asked::Stacks, None, None, false);
        let (mut counts_instructions, mut writes) = (true, args.is_empty());
        let mut defaults = ROUNDS;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--only" => only = Some((*args.next().context("--only names a peer")?).to_owned()),
                "--quick" => is_quick = true,
                "--counts" => rounds = Some(0),
                "--no-instructions" => counts_instructions = false,
                "--rounds" => {
                    let number = args.next().context("--rounds wants a number")?;
                    rounds = Some(number.parse().with_context(|| format!("--rounds {number}"))?);
                }
                "--write" => writes = true,
                other => match SUITES.iter().find(|(flag, ..)| *flag == other) {
                    Some((_, suite, whole, quick)) => (asked, defaults) = (*suite, [*whole, *quick]),
                    None => bail!("`bench` has no option {other}"),
                },
            }
        }
        let rounds = rounds.unwrap_or(defaults[usize::from(is_quick)]);
        let divisor = if is_quick { 4 } else { 1 };
        Ok(Self { asked, only, rounds, divisor, counts_instructions, writes })
    }

    pub(super) fn is_quick(&self) -> bool {
        self.divisor > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_run_writes_by_itself() {
        let writes = |args: &[&str]| Options::parse(args).expect("valid options").writes;
        assert!(writes(&[]) && writes(&["--quick", "--write"]));
        assert!(!writes(&["--counts"]) && !writes(&["--start"]) && !writes(&["--only", "hyper"]));
        assert!(!writes(&["--servers"]) && writes(&["--servers", "--quick", "--write"]));
        assert!(!writes(&["--store"]) && writes(&["--store-million", "--write"]));
    }

    #[test]
    fn a_suite_has_rounds_of_its_own() {
        let rounds = |args: &[&str]| Options::parse(args).expect("valid options").rounds;
        assert_eq!(rounds(&[]), 9);
        assert_eq!([rounds(&["--quick"]), rounds(&["--servers", "--quick"])], [3, 5]);
        assert_eq!(rounds(&["--rounds", "2", "--store"]), 2);
        assert_eq!(rounds(&["--store", "--counts"]), 0);
    }

    #[test]
    fn an_unknown_option_is_refused() {
        assert!(Options::parse(&["--only"]).is_err());
        assert!(Options::parse(&["--slow"]).is_err());
        assert!(Options::parse(&["--rounds", "few"]).is_err());
    }
}
