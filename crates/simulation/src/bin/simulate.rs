//! Many runs of the simulation: `alula-simulate [--runs N] [--seed N] [--http1 | --http2] [--trace]`.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Instant;

use alula::Version;
use alula_simulation::simulated::{Outcome, run};
use alula_tally::Tally;

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

/// The number of runs unless it is said.
const RUNS: u64 = 10_000;
/// How many runs that fail are told of.
const FAILURES_MAX: usize = 20;

struct Plan {
    first: u64,
    runs: u64,
    /// Each seed decides it unless it is named.
    version: Option<Version>,
    tells: bool,
}

fn main() -> ExitCode {
    let Some(plan) = plan() else {
        eprintln!("Usage: alula-simulate [--runs N] [--seed N] [--http1 | --http2] [--trace]");
        return ExitCode::FAILURE;
    };
    let began = Instant::now();
    let (sum, failures) = run_all(&plan);
    let last = plan.first + plan.runs - 1;
    println!("seeds {} to {last}: {:.1} s", plan.first, began.elapsed().as_secs_f64());
    println!("  {} calls answered and found right, {} bytes compared", sum.answered, sum.bytes);
    println!("  {} calls failed, each for a reason; {} were given up", sum.failed, sum.given_up);
    println!("  {} connections, {} blows", sum.connections, sum.blows);
    println!("  {} connections at rest, whose ends agreed on windows and held nothing", sum.at_rest);
    println!("  {} looks at the pools between two instants of the clock", sum.steps);
    println!("  {} runs with findings; {} s simulated", failures, sum.simulated.as_secs());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn plan() -> Option<Plan> {
    let mut plan = Plan { first: 1, runs: 0, version: None, tells: false };
    let mut is_one = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match &*arg {
            "--runs" => plan.runs = args.next()?.parse().ok()?,
            "--seed" => (plan.first, is_one) = (args.next()?.parse().ok()?, true),
            "--http1" => plan.version = Some(Version::Http1),
            "--http2" => plan.version = Some(Version::Http2),
            "--trace" => plan.tells = true,
            _ => return None,
        }
    }
    if plan.runs == 0 {
        plan.runs = if is_one { 1 } else { RUNS };
    }
    Some(plan)
}

/// On every core; the runs of a thread do not know of those of another.
fn run_all(plan: &Plan) -> (Outcome, usize) {
    let (next, sum) = (AtomicU64::new(plan.first), Mutex::new((Outcome::default(), 0)));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= plan.first + plan.runs {
                break;
            }
            let outcome = run(seed, plan.version, plan.tells);
            let (sum, failures) = &mut *sum.lock().expect("no thread panics");
            add(sum, &outcome);
            if !outcome.findings.is_empty() {
                *failures += 1;
                tell(&outcome, *failures);
            }
            if plan.runs == 1 {
                println!("course {:016x}", outcome.course);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(plan.runs as usize);
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    sum.into_inner().expect("no thread panics")
}

fn add(sum: &mut Outcome, one: &Outcome) {
    sum.answered += one.answered;
    sum.failed += one.failed;
    sum.given_up += one.given_up;
    sum.bytes += one.bytes;
    sum.connections += one.connections;
    sum.blows += one.blows;
    sum.at_rest += one.at_rest;
    sum.steps += one.steps;
    sum.simulated += one.simulated;
}

fn tell(outcome: &Outcome, failures: usize) {
    if failures > FAILURES_MAX {
        return;
    }
    println!("seed {}:", outcome.seed);
    outcome.findings.iter().for_each(|finding| println!("  {finding}"));
    println!("  again: cargo xtask soak --simulation {} --trace", outcome.again());
}
