//! A malloc counter preloaded into `alula serve` agrees that a request for a file that is held allocates
//! nothing, with its flags for logs and counts too.
//!
//! As in `malloc.rs`, and with the same allowance: once a second the file is looked at by another thread,
//! which allocates; so a load may show the calls of that, while a call per request would show in each. One
//! load without any is wanted.

use alula_conformance::alula::Reach;
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::folder::Folder;
use alula_conformance::load::{self, Counts, Load};
use alula_conformance::malloc::MallocCounter;
use alula_conformance::served::Served;
use alula_conformance::site::Site;

/// A tenth of a load takes far less than the second between two looks.
const LOAD: Load<'_> = Load { requests: 20_000, connections: 4, streams: 16, body: None };
const TRIES: usize = 30;

pub(crate) fn a_request_for_a_held_file_allocates_nothing() {
    if environment::no_peers() {
        return;
    }
    let (site, log) = (Site::new(), Folder::new());
    let log = format!("--access-log={}", log.join("log").display());
    allocates_nothing(&site, &[]);
    allocates_nothing(&site, &[&log, "--metrics", "--header", "x-content-type-options: nosniff", "--cors"]);
    allocates_nothing(
        &site,
        &[&log, "--access-log-format=json", "--spa", "--log", "--request-id", "--health"],
    );
}

fn allocates_nothing(site: &Site, flags: &[&str]) {
    let counter = MallocCounter::build();
    let served = Served::start_with(site.folder().path(), &Certificates::new(), flags, |command| {
        counter.watch(command);
    });
    assert!(counter.calls() > 0, "the counter is not loaded");
    let mut calls = Vec::new();
    while calls.len() < TRIES && !calls.contains(&0) {
        calls.push(calls_within(&counter, &served));
    }
    // Were it dropped by a panic, all its lines would be shown.
    drop(served);
    println!("{flags:?} {LOAD:?}: {calls:?} calls in the second half of the requests");
    assert!(calls.contains(&0), "{flags:?} {LOAD:?}: {calls:?} calls in the second half of the requests");
}

/// Calls from the middle of the load to its last tenth.
fn calls_within(counter: &MallocCounter, served: &Served) -> u64 {
    let (mut early, mut late) = (None, None);
    let url = served.url(&Reach::Clear, Site::SMALL);
    let counts = load::run_watched(LOAD, &url, |percent| match percent {
        50 => early = Some(counter.calls()),
        90 => late = Some(counter.calls()),
        _ => {}
    });
    assert_eq!(counts, Counts::all_succeeded(LOAD));
    late.zip(early).map(|(late, early)| late - early).expect("h2load says how far it is")
}
