#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| alula_trials::object_fields(data));
