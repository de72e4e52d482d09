//! A warm-up, then so many units between two readings of the clocks.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::clients::asking::Asking;

/// Work that is set up: does so many units.
pub(crate) type Run = Box<dyn FnMut(u64)>;

/// Always the same, so that what 2N units take less what N take is N units. Of many in flight each has had
/// some.
fn warm_up(work: &str) -> u64 {
    match work.split_once('-').unwrap_or((work, "")) {
        ("client", case) => 102 * Asking::parse(case).in_flight.min(6),
        _ => 502,
    }
}

/// Prints wall clock and CPU time of these units, both in nanoseconds. Allocations are counted from outside.
pub(crate) fn measured(mut run: Run, work: &str, units: u64) {
    run(warm_up(work));
    let (start, cpu) = (Instant::now(), cpu_time());
    run(units);
    let (wall, cpu) = (start.elapsed(), cpu_time() - cpu);
    println!("{} {}", wall.as_nanos(), cpu.as_nanos());
}

/// User and system time of this process.
pub(crate) fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("this process is known");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}

/// A runtime on the calling thread.
pub(crate) fn one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Ends this process with its standard input, so with the process that started it.
pub(crate) fn end_with_input() {
    std::thread::spawn(|| {
        for _ in std::io::stdin().lines() {}
        std::process::exit(0);
    });
}
