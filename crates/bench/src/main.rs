//! `alula-bench`: the workloads behind every figure of `cargo xtask costs`, one at a time.
//!
//! `cargo xtask costs` builds it, runs each workload under callgrind and under the counting allocator, and
//! compares. `run` does a warm-up and N units; what is counted outside at N and at 2N differs by N units.
//! `count` counts itself.
#![forbid(unsafe_code)]

mod export;
mod hpack;
mod memory;
mod peers;
mod timed;
mod whole;
mod workload;
mod workloads;

use std::process::ExitCode;

use alula_tally::{Counts, Tally, process};

use crate::peers::answers::Answers;
use crate::peers::driver::Load;
use crate::peers::http1;
use crate::whole::{connections, server, store};
use crate::workload::{Run, Workload};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const USAGE: &str = "\
Usage: alula-bench <COMMAND>

Commands:
  list                 One line per workload: name, units, use of instructions, of allocations, function that counts,
                       load that peers share, what one unit is
  run WORKLOAD UNITS   A warm-up, then so many units
  count WORKLOAD UNITS Prints the allocations and the bytes allocated per unit, once warm
  time WORKLOAD UNITS  Prints the nanoseconds of so many units, once warm, and those of the CPU
  export FOLDER        Writes the lists of fields, and the blocks that are decoded, for peers in other languages
  serve [split]        Prints a port and answers GETs there until the standard input ends: with 13 bytes, or by a handler
                       that splits the exchange with the path and the request id
  load h1|h2 repeated|varied|proxied IN_FLIGHT PORT REQUESTS
                       Makes so many requests of the server on that port and prints how many were answered in a second
  connect h1|h2 close|hold PORT COUNT
                       Opens so many connections to a server, each for one GET; closes each, or holds all until the standard
                       input ends
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
            let is_resident = workloads::all().any(|workload| workload.name == *name && workload.is_resident);
            let (run, units) = started(name, units)?;
            if is_resident { resident(run, units) } else { count(run, units) }
        }
        ["time", name, units] => {
            let (run, units) = started(name, units)?;
            timed::time(run, units);
        }
        ["export", folder] => export::export(folder.as_ref()).expect("the folder can be written to"),
        ["serve"] => server::serve_alone(false),
        ["serve", "split"] => server::serve_alone(true),
        ["load", version, asked, in_flight, port, requests] => {
            let load = Load::parse([version, asked, in_flight])?;
            load.once(port.parse().ok()?, requests.parse().ok()?).expect("the server answers");
        }
        ["peer", "answers", answers @ ..] => Answers::parse(answers)?.serve(),
        ["peer", "driver", version, asked, in_flight, port, control] => {
            let load = Load::parse([version, asked, in_flight])?;
            load.drive(port.parse().ok()?, control.parse().ok()?).expect("the server is there");
        }
        ["peer", "objects", method, port, control] => {
            store::drive(method, port.parse().ok()?, control.parse().ok()?).expect("the store answers");
        }
        ["connect", version, then, port, count] => {
            let (port, count) = (port.parse().ok()?, count.parse().ok()?);
            connections::connect_all(version, then, port, count).expect("the server answers");
        }
        ["peer", "connections", version, then, port, control] => {
            let (port, control) = (port.parse().ok()?, control.parse().ok()?);
            connections::drive(version, then, port, control).expect("the server is there");
        }
        ["peer", "http1-answers", content] => http1::serve(content.parse().ok()?, false),
        ["peer", "http1-varied-answers", content] => http1::serve(content.parse().ok()?, true),
        _ => return None,
    }
    Some(())
}

fn list() {
    for workload in workloads::all() {
        let Workload { name, units, what, counted, within, load, is_resident, .. } = workload;
        let (instructions, allocations) = (counted.instructions.name(), counted.allocations.name());
        let allocations = if *is_resident { "resident" } else { allocations };
        println!("{name}\t{units}\t{instructions}\t{allocations}\t{within}\t{load}\t{what}");
    }
}

/// The workload of that name, warm.
fn started(name: &str, units: &str) -> Option<(Run, u64)> {
    let workload = workloads::all().find(|workload| workload.name == name)?;
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

/// What so many units more leave in the resident set, per unit; nothing is said of allocations.
fn resident(mut run: Run, units: u64) {
    let before = resident_bytes();
    run(units);
    let after = resident_bytes();
    println!("0 {}", (after as f64 - before as f64) / units as f64);
}

/// The resident set of this process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel tells");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1024
}

/// What all threads allocate meanwhile.
fn counted(work: impl FnOnce()) -> Counts {
    let before = process();
    work();
    process() - before
}
