//! `alula-bench`: the workloads behind every figure in `docs/performance.md`, one at a time.
//!
//! `cargo xtask costs` builds it, runs each workload under callgrind and under the counting allocator, and compares.
//! `run` does a warm-up and N units; what is counted outside at N and at 2N differs by N units. `count` counts itself.
#![forbid(unsafe_code)]

mod created;
mod decode;
mod encode;
mod fields;
mod lists;
mod part_g;
mod workload;

use std::process::ExitCode;

use alula_tally::{Counts, Tally, process};

use crate::workload::{Run, Workload};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const USAGE: &str = "\
Usage: alula-bench <COMMAND>

Commands:
  list                 One line per workload: name, units, what can be counted, what one unit is
  run WORKLOAD UNITS   A warm-up, then so many units
  count WORKLOAD UNITS Prints the allocations and the octets allocated per unit, once warm
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["list"] => Some(list()),
        ["run", name, units] => started(name, units).map(|(mut run, units)| run(units)),
        ["count", name, units] => started(name, units).map(|(run, units)| count(run, units)),
        _ => None,
    };
    if done.is_none() {
        eprint!("{USAGE}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn list() {
    for workload in workload::all() {
        let Workload { name, units, what, has_instructions, .. } = workload;
        let counted = if *has_instructions { "instructions" } else { "allocations" };
        println!("{name}\t{units}\t{counted}\t{what}");
    }
}

/// The workload of that name, warm.
fn started(name: &str, units: &str) -> Option<(Run, u64)> {
    let workload = workload::all().find(|workload| workload.name == name)?;
    let units = units.parse().ok()?;
    let mut run = (workload.prepare)();
    run(warm_up(workload));
    Some((run, units))
}

/// As many units as fill every table, slot and buffer; large units need few.
fn warm_up(workload: &Workload) -> u64 {
    workload.units / 4 + 2
}

/// What 2N units allocate less what N do, by N; the first N also settle what a warm-up has left.
fn count(mut run: Run, units: u64) {
    let once = counted(|| run(units));
    let twice = counted(|| run(2 * units));
    let per_unit = |twice: u64, once: u64| (twice as f64 - once as f64) / units as f64;
    println!("{} {}", per_unit(twice.allocations, once.allocations), per_unit(twice.bytes, once.bytes));
}

/// What all threads allocate meanwhile.
fn counted(work: impl FnOnce()) -> Counts {
    let before = process();
    work();
    process() - before
}
