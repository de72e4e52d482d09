#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| alula_trials::users_file(data));
