//! The Java client `riak-client` 1.4.4, the last one that speaks HTTP, against `alula store` on each of its engines.
//! On disk every write is flushed before its answer.
//!
//! Its abilities are the methods of `peers/java/RiakSuite.java`; [`MAY_FAIL`] has those that the client itself cannot do.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use alula_conformance::folder::Folder;
use alula_conformance::store::Store;
use alula_conformance::{environment, outcome};

/// Java compiles the file before it runs it: some seconds in all.
const SUITE_MAX: Duration = Duration::from_secs(300);

/// The methods of the file.
const ABILITIES: usize = 40;

/// Abilities that may fail, and why.
const MAY_FAIL: [(&str, &str); 1] =
    [("store_if_none_match", "the client sends `if-none-match: null`, an entity tag it was not given")];

#[test]
fn the_java_client_works_in_memory() {
    run_suite(None);
}

#[test]
fn the_java_client_works_on_a_folder() {
    run_suite(Some(&Folder::new()));
}

/// Runs every method against a store that keeps its objects in this folder, or in memory.
fn run_suite(folder: Option<&Folder>) {
    let Some(jars) = environment::riak_jars() else { return };
    let store = Store::start(folder.map(Folder::path), &[]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/java/RiakSuite.java");
    let mut suite = Command::new("java");
    suite.arg("-cp").arg(jars.join("*")).arg(source).arg(store.port().to_string());
    let outcome = outcome::run(&mut suite, SUITE_MAX);
    let text = outcome.text();
    let (passed, failed) = (names(&text, "ok "), names(&text, "failed "));
    let others: Vec<_> =
        failed.iter().filter(|name| MAY_FAIL.iter().all(|(allowed, _)| allowed != *name)).collect();
    assert!(others.is_empty(), "{others:?} failed:\n{outcome}");
    assert_eq!(passed.len() + failed.len(), ABILITIES, "{outcome}");
}

/// The names in the lines that begin with this word.
fn names<'a>(output: &'a str, word: &str) -> BTreeSet<&'a str> {
    let rests = output.lines().filter_map(|line| line.strip_prefix(word));
    rests.map(|rest| rest.split(':').next().unwrap_or_default()).collect()
}

#[test]
fn lines_are_read() {
    let output = "ok ping\nfailed stats: java.lang.AssertionError: 3: 4\nNote: this\nok links\n";
    assert_eq!(names(output, "ok "), ["links", "ping"].into());
    assert_eq!(names(output, "failed "), ["stats"].into());
}
