//! Each case runs in a process of its own, and the harness reports as the usual one does.
#![deny(dead_code)]

use std::{
    env,
    process::{Command, ExitCode, Output},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use alula_testkit::{cases, run_alone};

/// Tells the cases of [`told`] to fail.
const FAIL: &str = "ALULA_TESTKIT_FAIL";

fn main() -> ExitCode {
    run_alone(&cases![
        first_finds_a_fresh_process,
        second_finds_a_fresh_process,
        told::panics,
        told::aborts,
        a_filter_runs_what_it_names,
        all_cases_are_listed,
        a_panic_is_reported_with_its_words,
        a_case_that_ends_the_process_fails,
        a_case_that_does_not_exist_fails,
    ])
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

fn first_finds_a_fresh_process() {
    assert_eq!(RUNS.fetch_add(1, Relaxed), 0);
}

fn second_finds_a_fresh_process() {
    assert_eq!(RUNS.fetch_add(1, Relaxed), 0);
}

/// Cases that fail when a variable says so.
mod told {
    use super::{FAIL, env};

    pub(crate) fn panics() {
        assert!(env::var_os(FAIL).is_none(), "told to panic");
    }

    pub(crate) fn aborts() {
        if env::var_os(FAIL).is_some() {
            std::process::abort();
        }
    }
}

fn this_binary(arguments: &[&str]) -> (Output, String) {
    let output = Command::new(env::current_exe().unwrap()).args(arguments).env(FAIL, "yes").output().unwrap();
    let text = String::from_utf8([&*output.stdout, &output.stderr].concat()).unwrap();
    (output, text)
}

fn a_filter_runs_what_it_names() {
    let (output, text) = this_binary(&["finds_a_fresh"]);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("2 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out"), "{text}");
    let (_, text) = this_binary(&["--exact", "finds_a_fresh"]);
    assert!(text.contains("9 filtered out"), "{text}");
}

fn all_cases_are_listed() {
    let (_, text) = this_binary(&["--list"]);
    assert_eq!(text.lines().filter(|line| line.ends_with(": test")).count(), 9, "{text}");
    assert!(text.contains("told::panics: test"), "{text}");
}

fn a_panic_is_reported_with_its_words() {
    let (output, text) = this_binary(&["--exact", "told::panics"]);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("told to panic") && text.contains("1 failed"), "{text}");
}

fn a_case_that_ends_the_process_fails() {
    let (output, text) = this_binary(&["--exact", "told::aborts"]);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("1 failed"), "{text}");
}

fn a_case_that_does_not_exist_fails() {
    let (output, text) = this_binary(&["--in-this-process", "nothing"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
}
