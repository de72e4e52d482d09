//! Causality: random clients of every engine, a model and a checker of what they were told, and faults that
//! the checker must find.
//!
//! Clients write with contexts that are fresh, stale, missing, merged or a part, on conditions, delete and
//! reap, in buckets with and without siblings. One client alone is held against a model call by call
//! (`reference`). The histories of several, interleaved by a seed or on threads, are checked for rules that
//! hold whatever the order was (`checker`).
//!
//! `ALULA_CAUSALITY_RUNS` is the number of runs of each test, for longer ones than CI has time for.

mod checker;
mod client;
mod decisions;
mod history;
mod keys;
mod planted;
mod reference;
mod replicas;
mod rest;
mod schedules;
mod seen;
mod world;

use std::collections::BTreeMap;

use alula_store::engine::{Fjall, FjallOptions, Memory};
use tempfile::TempDir;

use crate::causality::checker::Rule;
use crate::causality::history::{Action, Call, Condition, Outcome, Reason};
use crate::causality::planted::{Fault, Faulty};
use crate::causality::reference::follow;
use crate::causality::replicas::{FaultRates, Replicas};
use crate::causality::schedules::{Run, Subject, alone, interleaved, on_threads};

/// The runs of each test.
fn runs() -> u64 {
    let runs = std::env::var("ALULA_CAUSALITY_RUNS").ok();
    runs.map_or(60, |runs| runs.parse().expect("ALULA_CAUSALITY_RUNS is a number"))
}

/// A folder for each run, gone with the test.
struct Folders(TempDir);

impl Folders {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder for temporary files"))
    }

    fn open(&self, seed: u64) -> Fjall {
        Fjall::open(self.0.path().join(seed.to_string()), FjallOptions::default()).expect("a new folder")
    }
}

/// Makes runs with one seed after the other and checks each.
fn check_all(run: impl Fn(u64) -> Run) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..runs() {
        let run = run(seed);
        if let Err(violation) = run.check() {
            panic!("seed {seed}: {violation}");
        }
        tally.count(&run.history);
    }
    tally.print();
    tally
}

#[test]
fn memory_follows_the_model() {
    for seed in 0..runs() {
        follow(&alone(seed, Memory::new()).history);
    }
}

#[test]
fn fjall_follows_the_model() {
    let folders = Folders::new();
    for seed in 0..runs() {
        follow(&alone(seed, folders.open(seed)).history);
    }
}

/// All messages arrive, and coordinators start anew as other actors.
#[test]
fn replicas_without_faults_follow_the_model() {
    for seed in 0..runs() {
        follow(&alone(seed, Replicas::new(seed, FaultRates { restarted: 20, ..FaultRates::NONE })).history);
    }
}

#[test]
fn one_client_of_replicas_is_told_the_truth() {
    check_all(|seed| alone(seed, Replicas::new(seed, FaultRates::default())));
}

#[test]
fn interleaved_clients_of_memory_are_told_the_truth() {
    let tally = check_all(|seed| interleaved(seed, Memory::new(), None));
    tally.check_is_varied();
}

#[test]
fn interleaved_clients_of_replicas_are_told_the_truth() {
    let tally = check_all(|seed| interleaved(seed, Replicas::new(seed, FaultRates::default()), None));
    tally.check_is_varied();
    tally.check_has(&["not done", "unknown"]);
}

/// Messages go wrong, and every call is answered unless too few replicas took it.
#[test]
fn clients_of_replicas_with_lost_messages_are_told_the_truth() {
    let rates = FaultRates { lost: 4, ..FaultRates::MESSAGES };
    check_all(|seed| interleaved(seed, Replicas::new(seed, rates), None)).check_is_varied();
}

#[test]
fn clients_of_memory_on_threads_are_told_the_truth() {
    check_all(|seed| on_threads(seed, Memory::new())).check_is_varied();
}

#[test]
fn clients_of_fjall_on_threads_are_told_the_truth() {
    let folders = Folders::new();
    check_all(|seed| on_threads(seed, folders.open(seed))).check_is_varied();
}

#[test]
fn clients_of_replicas_on_threads_are_told_the_truth() {
    check_all(|seed| on_threads(seed, Replicas::new(seed, FaultRates::default()))).check_is_varied();
}

/// Runs a wrong engine or resource. Most runs must show the fault, by this rule.
fn check_is_found(fault: Fault, rule: Rule) {
    check_is_found_in(FAULTY_RUNS / 2, fault, rule, |seed| Faulty::new(fault, seed));
}

/// The runs with a planted fault.
const FAULTY_RUNS: u64 = 20;

/// Runs a wrong resource on an engine. At least so many runs must show the fault, by this rule.
fn check_is_found_in<E: Subject>(least: u64, fault: Fault, rule: Rule, engine: impl Fn(u64) -> E) {
    let run = |seed| interleaved(seed, engine(seed), Some(fault));
    let found: Vec<_> = (0..FAULTY_RUNS).filter_map(|seed| run(seed).check().err()).collect();
    let by_rule = found.iter().filter(|violation| violation.rule == rule).count();
    let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(by_rule as u64 >= least, "{fault:?} is found in {by_rule} of {FAULTY_RUNS} runs: {texts:#?}");
}

/// The engine that faults are planted in is right by itself: what is found is the fault.
#[test]
fn without_a_fault_nothing_is_found() {
    check_all(|seed| interleaved(seed, Faulty::new(Fault::Maxima, seed), None));
}

#[test]
fn a_context_of_maxima_is_found() {
    check_is_found(Fault::Maxima, Rule::Remains);
    // With three actors and their restarts it shows less often.
    check_is_found_in(2, Fault::Maxima, Rule::Remains, |seed| Replicas::new(seed, FaultRates::MESSAGES));
}

#[test]
fn a_lost_sibling_is_found() {
    check_is_found(Fault::DropsSibling, Rule::Remains);
}

#[test]
fn what_comes_back_is_found() {
    check_is_found(Fault::BringsBack, Rule::Covered);
}

#[test]
fn dots_used_twice_are_found() {
    check_is_found(Fault::ReusesDots, Rule::Dots);
}

#[test]
fn a_write_that_is_acknowledged_and_not_stored_is_found() {
    check_is_found(Fault::StoresNothing, Rule::Remains);
}

#[test]
fn a_refused_write_that_is_stored_is_found() {
    check_is_found(Fault::StoresWhatItRefuses, Rule::Refused);
    check_is_found(Fault::StoresWhatItDenies, Rule::Refused);
}

#[test]
fn a_condition_outside_the_write_is_found() {
    check_is_found(Fault::ConditionOutside, Rule::Conditions);
}

#[test]
fn an_entry_that_is_left_in_an_index_is_found() {
    check_is_found(Fault::LeavesEntry, Rule::Lists);
}

#[test]
fn a_time_that_steps_back_is_found() {
    check_is_found(Fault::StepsBack, Rule::Modified);
}

#[test]
fn a_context_for_another_key_is_found() {
    check_is_found(Fault::ContextOfAnotherKey, Rule::Covered);
    check_is_found(Fault::CoversOtherKeys, Rule::Remains);
}

/// Counts of each kind of call and outcome, so that no rule holds for want of cases.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    /// One line for a long run, whose output is looked at.
    fn print(&self) {
        let kinds: Vec<String> = self.0.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let thread = std::thread::current();
        println!("{}: {} runs: {}", thread.name().unwrap_or("causality"), runs(), kinds.join(", "));
    }

    fn count(&mut self, history: &[Call]) {
        history.iter().flat_map(kinds).for_each(|kind| *self.0.entry(kind).or_default() += 1);
    }

    fn check_has(&self, kinds: &[&'static str]) {
        for kind in kinds {
            // Each comes up several times in a run; a single run may lack one.
            assert!(self.0.get(kind).is_some_and(|count| *count > 5), "{kind}: {self:?}");
        }
    }

    fn check_is_varied(&self) {
        self.check_has(&["stored", "stored on a condition", "siblings", "tombstone", "removed"]);
        self.check_has(&[
            "not missing",
            "another vtag",
            "another context",
            "too many siblings",
            "not reaped",
        ]);
    }
}

fn kinds(call: &Call) -> Vec<&'static str> {
    let condition = call.put().map(|put| &put.condition);
    let mut kinds = vec![match (&call.outcome, condition) {
        (Outcome::Given(_), _) => "given",
        (Outcome::Stored(_), Some(Condition::Always)) => "stored",
        (Outcome::Stored(_), _) => "stored on a condition",
        (Outcome::Removed, _) => "removed",
        (Outcome::NotDone, _) => "not done",
        (Outcome::Unknown, _) => "unknown",
        (Outcome::Refused(Reason::Siblings, _), _) => "too many siblings",
        (Outcome::Refused(Reason::Dot, _), _) => "a dot that does not follow",
        (Outcome::Refused(Reason::Condition, _), Some(Condition::Missing)) => "not missing",
        (Outcome::Refused(Reason::Condition, _), Some(Condition::SameVtag(_))) => "another vtag",
        (Outcome::Refused(Reason::Condition, _), Some(_)) => "another context",
        (Outcome::Refused(Reason::Condition, _), None) => "not reaped",
    }];
    if call.seen().is_some_and(|seen| seen.contents.len() > 1) {
        kinds.push("siblings");
    }
    if matches!(&call.action, Action::Put(put) if put.is_deleted) && call.is_acknowledged() {
        kinds.push("tombstone");
    }
    kinds
}
