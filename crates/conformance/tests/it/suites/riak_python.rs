//! The suite inside the Python client `riak` 2.7.0, over HTTP, against `alula store` on each of its engines.
//! On disk every write is flushed before its answer.
//!
//! Four of its tests may fail, each for a reason that is not the store's; what they ask for is in [`MAY_FAIL`].

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use alula_conformance::folder::Folder;
use alula_conformance::store::Store;
use alula_conformance::{environment, outcome};

/// The suite sleeps and stores a thousand objects one by one; that is half a minute on a fast machine.
const SUITE_MAX: Duration = Duration::from_secs(300);

/// The tests that the suite has with the switches of [`SWITCHES`].
const TESTS: u32 = 141;

/// Tests that may fail, and why.
const MAY_FAIL: [(&str, &str); 4] = [
    ("test_preflist", "asks for the replicas of a key at a path that Riak 3 has no longer"),
    ("test_set_indexes", "asks for MapReduce, which is not enabled"),
    ("test_pool_close", "looks for a connection that the client keeps only for another protocol"),
    ("test_stream_keys_timeout", "wants a list to take longer than a millisecond"),
];

/// The types that the suite uses.
const TYPES: [&str; 8] = [
    r#"no_siblings={"allow_mult":false}"#,
    r#"maps={"datatype":"map"}"#,
    r#"sets={"datatype":"set"}"#,
    r#"counters={"datatype":"counter"}"#,
    r#"hlls={"datatype":"hll","hll_precision":14}"#,
    r#"gsets={"datatype":"gset"}"#,
    r#"write_once={"write_once":true}"#,
    "foo={}",
];

const SWITCHES: [&str; 7] =
    ["RUN_KV", "RUN_RESOLVE", "RUN_INDEXES", "RUN_BTYPES", "RUN_DATATYPES", "RUN_CLIENT", "RUN_POOL"];

const MODULES: [&str; 5] = [
    "riak.tests.test_kv",
    "riak.tests.test_2i",
    "riak.tests.test_btypes",
    "riak.tests.test_datatypes",
    "riak.tests.test_client",
];

#[test]
fn the_suite_of_the_python_client_passes_in_memory() {
    run_suite(None);
}

#[test]
fn the_suite_of_the_python_client_passes_on_a_folder() {
    run_suite(Some(&Folder::new()));
}

/// Runs the suite against a store that keeps its objects in this folder, or in memory.
fn run_suite(folder: Option<&Folder>) {
    let Some(python) = environment::riak_python() else { return };
    let store = Store::start(folder.map(Folder::path), &TYPES);
    let mut suite = Command::new(python);
    suite.args(["-m", "unittest"]).args(MODULES);
    suite.env("RIAK_TEST_PROTOCOL", "http").env("RIAK_TEST_HTTP_HOST", "127.0.0.1");
    suite.env("RIAK_TEST_HTTP_PORT", store.port().to_string()).envs(SWITCHES.map(|switch| (switch, "1")));
    let outcome = outcome::run(&mut suite, SUITE_MAX);
    let summary = Summary::read(&outcome.stderr);
    let allowed: BTreeSet<_> = MAY_FAIL.iter().map(|(name, _)| (*name).to_owned()).collect();
    let others: Vec<_> = summary.failed.difference(&allowed).collect();
    assert!(others.is_empty(), "{others:?} failed:\n{}", outcome.stderr);
    assert!(summary.ran >= TESTS && summary.skipped <= 1, "{summary:?} is less than the suite has");
}

/// The summary that Python's `unittest` prints of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Summary {
    ran: u32,
    skipped: u32,
    /// The names of tests that failed or ended with an error.
    failed: BTreeSet<String>,
}

impl Summary {
    fn read(output: &str) -> Self {
        let mut summary = Self::default();
        for line in output.lines() {
            if let Some(test) = line.strip_prefix("ERROR: ").or(line.strip_prefix("FAIL: ")) {
                summary.failed.insert(test.split(' ').next().unwrap_or_default().to_owned());
            } else if let Some(rest) = line.strip_prefix("Ran ") {
                summary.ran = number(rest);
            } else if let Some((_, rest)) = line.split_once("skipped=") {
                summary.skipped = number(rest);
            }
        }
        summary
    }
}

/// The number with which a text begins.
fn number(text: &str) -> u32 {
    let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or_default()
}

#[test]
fn a_summary_is_read() {
    let output = "\
....s.E.F
======================================================================
ERROR: test_preflist (riak.tests.test_kv.KVTests.test_preflist)
----------------------------------------------------------------------
Traceback (most recent call last):
======================================================================
FAIL: test_pool_close (riak.tests.test_client.ClientTests.test_pool_close)
----------------------------------------------------------------------
Ran 141 tests in 31.4s

FAILED (failures=1, errors=1, skipped=1)
";
    let failed = ["test_pool_close", "test_preflist"].map(str::to_owned).into();
    assert_eq!(Summary::read(output), Summary { ran: 141, skipped: 1, failed });
    assert_eq!(Summary::read("Ran 2 tests in 0.1s\n\nOK\n").failed, BTreeSet::new());
    assert_eq!(Summary::read("Killed").ran, 0);
}
