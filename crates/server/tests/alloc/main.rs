//! Allocations of the server: each test runs in a process of its own.
#![deny(dead_code)]

mod routes;

use std::process::ExitCode;

use alula_testkit::{Tally, cases, run_alone};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

fn main() -> ExitCode {
    run_alone(&cases![routes::searches_allocate_nothing, routes::no_option_makes_a_search_allocate])
}
