//! What is asked for on the command line.

use anyhow::{Context, Result, bail};

/// How much is measured.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    /// Beside Alula and the floor; all of them unless one is named.
    pub(super) only: Option<String>,
    /// Each measures everything once; with none, only what does not depend on time is counted.
    pub(super) rounds: usize,
    /// Timed units are divided by this.
    pub(super) divisor: u64,
    pub(super) counts_instructions: bool,
    /// Only whole programs are measured, from their start to their end.
    pub(super) starts_only: bool,
    /// Only the works of servers are measured, under h2load and wrk.
    pub(super) servers_only: bool,
    /// Only the memory of connections that wait is measured.
    pub(super) idle_only: bool,
    /// Only growth with connections and streams is measured.
    pub(super) growth_only: bool,
    /// Only this of the object store is measured.
    pub(super) store: Option<StorePart>,
    /// Only stores are measured.
    pub(super) stores_only: bool,
    /// True if documents are written: by a whole run, and by any other when it is told to.
    pub(super) writes: bool,
}

/// A part of what is measured of the object store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum StorePart {
    /// The workload, in rounds; without rounds, what does not depend on time.
    Load,
    /// Many objects on disk.
    Million,
    /// Reads from a cold disk, on the worker and in a pool.
    Reads,
}

impl Options {
    pub(super) fn parse(args: &[&str]) -> Result<Self> {
        let mut options = Self {
            only: None,
            rounds: 9,
            divisor: 1,
            counts_instructions: true,
            starts_only: false,
            servers_only: false,
            idle_only: false,
            growth_only: false,
            store: None,
            stores_only: false,
            writes: args.is_empty(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--only" => options.only = Some((*args.next().context("--only names a peer")?).to_owned()),
                "--quick" => {
                    // Fewer rounds of few cells would say nothing of servers.
                    if !options.servers_only && !options.stores_only {
                        options.rounds = 3;
                    }
                    options.divisor = 4;
                }
                "--counts" => options.rounds = 0,
                "--no-instructions" => options.counts_instructions = false,
                "--rounds" => {
                    let rounds = args.next().context("--rounds wants a number")?;
                    options.rounds = rounds.parse().with_context(|| format!("--rounds {rounds}"))?;
                }
                "--servers" => (options.servers_only, options.rounds) = (true, 5),
                "--idle" => options.idle_only = true,
                "--growth" => (options.growth_only, options.rounds) = (true, 3),
                "--store" => (options.store, options.rounds) = (Some(StorePart::Load), 5),
                "--store-million" => options.store = Some(StorePart::Million),
                "--store-reads" => (options.store, options.rounds) = (Some(StorePart::Reads), 3),
                "--store-peers" => (options.stores_only, options.rounds) = (true, 5),
                "--start" => options.starts_only = true,
                "--write" => options.writes = true,
                other => bail!("`bench` has no option {other}"),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_run_writes_by_itself() {
        let writes = |args: &[&str]| Options::parse(args).expect("valid options").writes;
        assert!(writes(&[]) && writes(&["--quick", "--write"]));
        assert!(!writes(&["--counts"]) && !writes(&["--start"]));
        assert!(!writes(&["--servers"]) && writes(&["--servers", "--quick", "--write"]));
        assert!(!writes(&["--idle"]) && writes(&["--growth", "--write"]));
        assert!(!writes(&["--store"]) && writes(&["--store-million", "--write"]));
        assert!(!writes(&["--quick"]) && !writes(&["--only", "hyper"]));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(Options::parse(&["--only"]).is_err());
        assert!(Options::parse(&["--slow"]).is_err());
        assert!(Options::parse(&["--rounds", "few"]).is_err());
    }
}
