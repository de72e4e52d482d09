//! The one source of all targets: the name of a program says which body of `crates/trials` it gives to
//! libFuzzer.
#![no_main]

use alula_tally::Tally;

/// Counts what the parsers of the store hold.
#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

/// A constant, so that a program has the code of its own target only.
const BODY: fn(&[u8]) = alula_trials::body(env!("CARGO_BIN_NAME"));

libfuzzer_sys::fuzz_target!(|data: &[u8]| BODY(data));
