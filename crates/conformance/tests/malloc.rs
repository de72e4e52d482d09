//! A malloc counter preloaded into `alula echo` agrees that a warm request allocates nothing.
//!
//! The counter sees every call of every thread, whoever makes it. Two loads differ in their requests only, so that what
//! connections and threads cost falls out of the difference.

use alula_conformance::alula::{Echo, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::load::{self, Counts, Load};
use alula_conformance::malloc::MallocCounter;

const FEW: u32 = 2_000;
const MANY: u32 = 12_000;

#[test]
fn a_warm_request_allocates_nothing() {
    if environment::no_peers() {
        return;
    }
    let counter = MallocCounter::build();
    let echo = Echo::start_with(&Certificates::new(), |command| counter.watch(command));
    assert!(counter.calls() > 0, "the counter is not loaded");

    for (connections, streams) in [(1, 1), (8, 32)] {
        let calls = |requests| {
            let before = counter.calls();
            let load = Load { requests, connections, streams };
            assert_eq!(load::run(load, &echo.url(&Reach::Clear, "")), Counts::all_succeeded(load));
            counter.calls() - before
        };
        let warming = calls(MANY);
        let (few, many) = (calls(FEW), calls(MANY));
        println!("{connections} x {streams}: {warming} calls warming up, {few} for {FEW}, {many} for {MANY}");
        assert_eq!(many, few, "{connections} connections, {streams} streams each");
    }
}
