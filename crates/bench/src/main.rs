//! `alula-bench`: the workloads behind every figure in `docs/performance.md`, one at a time.
//!
//! `cargo xtask costs` builds it, runs each workload under callgrind and under the counting allocator, and compares.
//! `run` does a warm-up and N units; what is counted outside at N and at 2N differs by N units. `count` counts itself.
#![forbid(unsafe_code)]

mod answers;
mod client;
mod created;
mod decode;
mod driver;
mod encode;
mod export;
mod fields;
mod frames;
mod http1;
mod part_g;
mod peer;
mod records;
mod server;
mod timed;
mod tls;
mod workload;

use std::process::ExitCode;

use alula_tally::{Counts, Tally, process};

use crate::answers::Answers;
use crate::http1::Heads;
use crate::workload::{Run, Workload};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const USAGE: &str = "\
Usage: alula-bench <COMMAND>

Commands:
  list                 One line per workload: name, units, use of instructions, of allocations, function that counts,
                       what one unit is
  run WORKLOAD UNITS   A warm-up, then so many units
  count WORKLOAD UNITS Prints the allocations and the octets allocated per unit, once warm
  time WORKLOAD UNITS  Prints the nanoseconds of so many units, once warm, and those of the CPU
  export FOLDER        Writes the lists of fields, and the blocks that are decoded, for peers in other languages
  serve                Prints a port and answers GETs with 13 octets there, until the standard input ends
  peer ...             The other side of a connection; started by the workloads that have one
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&args) {
        Some(()) => ExitCode::SUCCESS,
        None => {
            eprint!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// None: the arguments are not understood.
fn dispatch(args: &[&str]) -> Option<()> {
    match args {
        ["list"] => list(),
        ["run", name, units] => {
            let (mut run, units) = started(name, units)?;
            run(units);
        }
        ["count", name, units] => {
            let (run, units) = started(name, units)?;
            count(run, units);
        }
        ["time", name, units] => {
            let (run, units) = started(name, units)?;
            timed::time(run, units);
        }
        ["export", folder] => export::export(folder.as_ref()).expect("the folder can be written to"),
        ["serve"] => server::serve_alone(),
        ["peer", "answers", answers @ ..] => Answers::parse(answers)?.serve(),
        ["peer", "driver", port, control, in_flight] => {
            let (port, control) = (port.parse().ok()?, control.parse().ok()?);
            driver::drive(port, control, in_flight.parse().ok()?).expect("the server is there");
        }
        ["peer", "http1-answers", content] => http1::serve(content.parse().ok()?, Heads::Same),
        ["peer", "http1-varied-answers", content] => http1::serve(content.parse().ok()?, Heads::Varied),
        ["peer", name @ ("http1-driver" | "http1-varied-driver"), port, control, in_flight] => {
            let (port, control) = (port.parse().ok()?, control.parse().ok()?);
            let heads = if *name == "http1-driver" { Heads::Same } else { Heads::Varied };
            http1::drive(port, control, in_flight.parse().ok()?, heads).expect("the server is there");
        }
        _ => return None,
    }
    Some(())
}

fn list() {
    for workload in workload::all() {
        let Workload { name, units, what, counted, within, .. } = workload;
        let (instructions, allocations) = (counted.instructions.name(), counted.allocations.name());
        println!("{name}\t{units}\t{instructions}\t{allocations}\t{within}\t{what}");
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

/// What 2N units allocate less what N do, by N, after as many that settle what a warm-up has left.
fn count(mut run: Run, units: u64) {
    run(units);
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
