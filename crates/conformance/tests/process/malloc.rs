//! A malloc counter preloaded into `alula echo` agrees that a warm request allocates nothing.
//!
//! The counter sees every call of every thread, whoever makes it. What connections cost falls out: all of
//! them are there in the second half of the load, which is the half that is looked at.

use alula_conformance::alula::{Echo, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::folder::Folder;
use alula_conformance::load::{self, Counts, Load};
use alula_conformance::malloc::MallocCounter;
use alula_conformance::site::bytes;

/// A connection's output grows when more answers than ever before leave at once, which may happen late: so a
/// load may show a few calls, while a call per request would show in each. One load without any call is
/// wanted.
const TRIES: usize = 5;

pub(crate) fn a_warm_request_allocates_nothing() {
    if environment::no_peers() {
        return;
    }
    let counter = MallocCounter::build();
    let echo = Echo::start_with(&Certificates::new(), |command| counter.watch(command));
    assert!(counter.calls() > 0, "the counter is not loaded");

    let folder = Folder::new();
    let body = folder.write("body", bytes(2, 1024));
    let load = Load { requests: 100_000, connections: 8, streams: 32, body: None };
    allocates_nothing(&counter, &echo, load);
    allocates_nothing(&counter, &echo, Load { body: Some(&body), streams: 1, ..load });
    allocates_nothing(&counter, &echo, Load { requests: 20_000, connections: 1, streams: 1, body: None });
}

fn allocates_nothing(counter: &MallocCounter, echo: &Echo, load: Load<'_>) {
    let mut calls = Vec::new();
    while calls.len() < TRIES && !calls.contains(&0) {
        calls.push(calls_within(counter, echo, load));
    }
    println!("{load:?}: {calls:?} calls in the second half of the requests");
    assert!(calls.contains(&0), "{load:?}: {calls:?} calls in the second half of the requests");
}

/// Calls from the middle of the load to its last tenth.
fn calls_within(counter: &MallocCounter, echo: &Echo, load: Load<'_>) -> u64 {
    let (mut early, mut late) = (None, None);
    let counts = load::run_watched(load, &echo.url(&Reach::Clear, ""), |percent| match percent {
        50 => early = Some(counter.calls()),
        90 => late = Some(counter.calls()),
        _ => {}
    });
    assert_eq!(counts, Counts::all_succeeded(load));
    late.zip(early).map(|(late, early)| late - early).expect("h2load says how far it is")
}
