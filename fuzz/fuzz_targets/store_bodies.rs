#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| alula_trials::store_bodies(data));
