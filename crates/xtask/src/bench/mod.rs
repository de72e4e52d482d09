//! `cargo xtask bench`: Alula and other stacks at the same work, on the same machine, in one interleaved run.
//!
//! Rules: a contest is data, and one runner and one printer serve all. The lists of fields are those of
//! `crates/testkit` for all; what is compared in time runs on one core, in turns. A peer that cannot be built
//! or run is an error with its output.

mod build;
mod configuration;
mod holding;
mod load;
mod machine;
mod options;
mod program;
mod report;
mod stacks;
mod start;
mod store;
mod suite;
mod works;

use std::process::ExitCode;

use anyhow::Result;

use build::Programs;
use holding::{Growth, Idle};
use options::{Asked, Options};
use stacks::{Group, Stacks};
use start::Start;
use store::{Counts, Million, Store, StorePeers};
use suite::{has_peer, run};
use works::Works;

use crate::peers;

/// Runs `cargo xtask bench`.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if options.asked == Asked::Draw {
        report::draw_all()?;
        return Ok(ExitCode::SUCCESS);
    }
    if needs_peers(options.asked) {
        peers::install_for_bench()?;
    }
    let programs = Programs::new()?;
    match options.asked {
        Asked::Stacks => stacks(&programs, &options)?,
        Asked::Start => run(&mut Start::new(&programs)?, &options)?,
        Asked::Works => run(&mut Works::new(&programs, &options)?, &options)?,
        Asked::Idle => run(&mut Idle::new(&programs)?, &options)?,
        Asked::Growth => run(&mut Growth::new(&programs, &options)?, &options)?,
        Asked::Store if options.rounds == 0 => run(&mut Counts::new(&programs)?, &options)?,
        Asked::Store => run(&mut Store::new(&programs, &options), &options)?,
        Asked::Million => run(&mut Million::new(&programs, &options), &options)?,
        Asked::StorePeers => run(&mut StorePeers::new(&programs, &options)?, &options)?,
        Asked::Draw => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The store by itself and whole programs need nothing that is not there.
const fn needs_peers(asked: Asked) -> bool {
    !matches!(asked, Asked::Start | Asked::Store | Asked::Million)
}

/// Work in memory, clients and servers; of a whole run, the start of programs as well.
fn stacks(programs: &Programs, options: &Options) -> Result<()> {
    // A peer takes part in some of the groups.
    let is_wanted = |group| {
        let only = options.only.as_deref();
        only.is_none_or(|only| has_peer(&stacks::contests(group), only))
    };
    let groups: Vec<Group> = Group::ALL.into_iter().filter(|group| is_wanted(*group)).collect();
    anyhow::ensure!(!groups.is_empty(), "no peer {}", options.only.as_deref().unwrap_or_default());
    for group in groups {
        run(&mut Stacks::new(group, programs, options)?, options)?;
    }
    // What was counted alone has no times.
    if options.rounds > 0 && options.only.is_none() {
        let options = Options { rounds: start::RUNS, only: None, ..*options };
        run(&mut Start::new(programs)?, &options)?;
    }
    Ok(())
}
