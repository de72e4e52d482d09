//! Allocations of the command: each test runs in a process of its own.
#![deny(dead_code)]

mod store;

use std::process::ExitCode;

use alula_tally::Tally;
use alula_testkit::{cases, run_alone};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

fn main() -> ExitCode {
    run_alone(&cases![store::hooked_reads_of_objects_allocate_nothing])
}
