//! Tests that set what belongs to a process: each runs in one of its own.
#![deny(dead_code)]

#[cfg(unix)]
mod descriptors;

use std::process::ExitCode;

use alula_testkit::{cases, run_alone};

fn main() -> ExitCode {
    run_alone(&cases![
        #[cfg(unix)]
        descriptors::idle_connections_make_room_when_descriptors_run_out,
    ])
}
