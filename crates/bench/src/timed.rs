//! Time: what `cargo xtask bench` compares with others', in one run and on one core.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::workload::Run;

/// Prints wall clock and CPU time of these units, both in nanoseconds.
pub(crate) fn time(mut run: Run, units: u64) {
    let (start, cpu) = (Instant::now(), cpu_time());
    run(units);
    let (wall, cpu) = (start.elapsed(), cpu_time() - cpu);
    println!("{} {}", wall.as_nanos(), cpu.as_nanos());
}

/// User and system time of this process.
fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("this process is known");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.unsigned_abs())
}
