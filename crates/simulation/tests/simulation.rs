//! Many runs of the simulation: the same in every build. More of them: `cargo xtask soak --simulation`.
#![cfg(feature = "simulated")]

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use alula_simulation::simulated::{Outcome, run};
use alula_tally::Tally;

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const RUNS: u64 = 1_000;
const THREADS: usize = 2;

#[test]
fn a_thousand_runs_find_nothing() {
    assert!(alula_tally::is_installed());
    let next = AtomicU64::new(1);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            match next.fetch_add(1, Relaxed) {
                seed @ 1..=RUNS => outcomes.push(run(seed, None, false)),
                _ => return outcomes,
            }
        }
    };
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a thread that does not panic")).collect()
    });
    assert_eq!(outcomes.len() as u64, RUNS);
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.findings.is_empty()).collect();
    for outcome in &failed {
        println!("seed {}: {:#?}", outcome.seed, outcome.findings);
        println!("  again: cargo xtask soak --simulation {} --trace", outcome.again());
    }
    assert!(failed.is_empty(), "{} of {RUNS} runs", failed.len());
    let of_http1 = outcomes.iter().filter(|outcome| outcome.is_http1).count() as u64;
    assert!((RUNS / 3..RUNS * 2 / 3).contains(&of_http1), "{of_http1} runs are of HTTP/1.1");
    // What is never tried cannot fail.
    let sum = |what: fn(&Outcome) -> u64| outcomes.iter().map(what).sum::<u64>();
    let tried: [fn(&Outcome) -> u64; 6] = [
        |run| run.answered,
        |run| run.failed,
        |run| run.given_up,
        |run| run.connections,
        |run| run.blows,
        |run| run.at_rest,
    ];
    for (what, least) in tried.into_iter().zip([10_000, 1_000, 1_000, 1_000, 500, 500]) {
        assert!(sum(what) >= least, "{tried:?}", tried = tried.map(sum));
    }
}

#[test]
fn a_seed_decides_the_course() {
    let course = |seed| run(seed, None, false).course;
    for seed in 1..=50 {
        assert_eq!(course(seed), course(seed), "seed {seed}");
        assert_ne!(course(seed), course(seed + 1), "seed {seed}");
    }
}
