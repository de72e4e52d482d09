#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| alula_trials::h2_server(data));
