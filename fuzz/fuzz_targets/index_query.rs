#![no_main]

/// Counts what the parsers hold.
#[global_allocator]
static ALLOCATOR: alula_tally::Tally = alula_tally::Tally::system();

libfuzzer_sys::fuzz_target!(|data: &[u8]| alula_trials::index_query(data));
