//! `cargo xtask bench`: Alula and other stacks at the same work, on the same machine, in one interleaved run.
//!
//! Rules: the lists of fields are those of `crates/testkit` for all; what is compared in time runs on one core, in turns; a peer
//! that cannot be built or run is an error with its output, never a gap in a table.

mod behind;
mod build;
mod contest;
mod contests;
mod count;
mod floor;
mod goals;
mod growth;
mod holding;
mod idle;
mod loops;
mod nginx;
mod options;
mod plot;
mod program;
mod results;
mod section;
mod servers;
mod spread;
mod start;
mod store;
mod store_peers;
mod table;
mod versions;
mod works;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use behind::Behind;
use build::Programs;
use contest::Contest;
use loops::Loops;
use options::Options;
use program::Core;
use results::Results;
use section::Report;
use servers::Servers;

use crate::peers;

/// What stands behind `cargo xtask bench`.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let start = Instant::now();
    if options.starts_only {
        whole_programs(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(part) = options.store {
        store::command(part, &options)?;
        return Ok(ExitCode::SUCCESS);
    }
    peers::install_for_bench()?;
    if options.servers_only {
        works::command(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.idle_only {
        idle::command(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.growth_only {
        growth::command(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.stores_only {
        store_peers::command(&options)?;
        return Ok(ExitCode::SUCCESS);
    }
    let programs = Programs::build()?;
    let contests = contest::chosen(&options)?;
    let results = measure(&programs, &contests, &options)?;
    let (mut goals, mut behind) = (Vec::new(), Behind::default());
    if options.rounds > 0 {
        goals = goals::of(&programs, &contests, &results, &options)?;
        behind = behind::of(&programs, &contests, &results, &goals)?;
    }
    let report =
        Report { contests: &contests, results: &results, goals: &goals, behind: &behind, options: &options };
    println!("\n{}", section::markdown(&report)?);
    if options.writes {
        section::write(&report)?;
    }
    // What was counted alone has no times.
    if options.rounds > 0 && options.only.is_none() {
        whole_programs(&options)?;
    }
    println!("{:.0} s in all", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// What a short request takes from the start of a program to its end.
fn whole_programs(options: &Options) -> Result<()> {
    let markdown = start::measure()?;
    println!("\n{markdown}");
    if options.writes { start::write(&markdown) } else { Ok(()) }
}

/// Time first, all in turns; then what does not depend on time.
fn measure(programs: &Programs, contests: &[Contest], options: &Options) -> Result<Results> {
    let mut results = Results::default();
    let loops = Loops::start(programs, contests, Core::last()?)?;
    let mut servers = Servers::start(programs, contests)?;
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        loops.round(options, &mut results)?;
        servers.round(options, &mut results)?;
    }
    servers.stop()?;
    count::allocations(programs, contests, &loops, &mut results)?;
    if options.counts_instructions {
        count::instructions(programs, contests, &loops, &mut results)?;
    }
    Ok(results)
}
