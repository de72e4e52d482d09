//! The wire cases of the store: what a request gets, by the rules of Riak's HTTP API, over both versions and
//! on every engine.
//!
//! The cases are text, in the `.txt` files of `cases`; `README.txt` explains how they are written. Each names
//! the section of the rules that it is about, as `§5.2`, and has a bucket of its own, so that one server
//! serves them all.

mod answer;
mod case;
mod check;
mod http1;
mod http2;
mod json;
mod multipart;
mod parse;
mod pattern;
mod play;
mod stores;
mod variables;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use alula_store::engine::{Engine, Fjall, FjallOptions, Memory};

use case::Case;
use play::Version;
use stores::Stores;

/// The fewest cases that the list may have.
const CASES_MIN: usize = 320;

/// The files, by their names and with their text.
const FILES: &[(&str, &str)] = &[
    ("paths.txt", include_str!("cases/requests/paths.txt")),
    ("methods.txt", include_str!("cases/requests/methods.txt")),
    ("order.txt", include_str!("cases/requests/order.txt")),
    ("negotiation.txt", include_str!("cases/requests/negotiation.txt")),
    ("causality.txt", include_str!("cases/requests/causality.txt")),
    ("tombstones.txt", include_str!("cases/requests/tombstones.txt")),
    ("options.txt", include_str!("cases/requests/options.txt")),
    ("objects.txt", include_str!("cases/resources/objects.txt")),
    ("metadata.txt", include_str!("cases/resources/metadata.txt")),
    ("siblings.txt", include_str!("cases/resources/siblings.txt")),
    ("conditions.txt", include_str!("cases/requests/conditions.txt")),
    ("links.txt", include_str!("cases/resources/links.txt")),
    ("properties.txt", include_str!("cases/resources/properties.txt")),
    ("lists.txt", include_str!("cases/resources/lists.txt")),
    ("indexes.txt", include_str!("cases/resources/indexes.txt")),
    ("counters.txt", include_str!("cases/resources/counters.txt")),
    ("datatypes.txt", include_str!("cases/resources/datatypes.txt")),
    ("service.txt", include_str!("cases/requests/service.txt")),
];

/// Cases that fail, as `NAME = REASON`. It is meant to be empty.
const KNOWN: &str = include_str!("known.txt");

/// Plays the cases on an engine, over each version. The path is that of a new folder.
macro_rules! on_engine {
    ($engine:ident, $open:expr) => {
        mod $engine {
            use super::*;

            #[test]
            fn over_http1() {
                play_all(Version::Http1, $open);
            }

            #[test]
            fn over_http2() {
                play_all(Version::Http2, $open);
            }
        }
    };
}

on_engine!(memory, |_| Memory::new());
on_engine!(fjall, |folder| Fjall::open(folder, FjallOptions::default()).expect("a new folder"));

/// Plays all cases, or with `ALULA_WIRE_CASE` in the environment those whose names have that text.
fn play_all<E: Engine>(version: Version, open: impl Fn(&Path) -> E) {
    let (stores, cases, known) = (Stores::start(open), cases(), known());
    let chosen = std::env::var("ALULA_WIRE_CASE").unwrap_or_default();
    let (mut played, mut differences) = (0, Vec::new());
    for (number, case) in cases.iter().enumerate() {
        if case.is_for(version) && case.name.contains(&chosen) {
            let outcome = play::play(case, version, &stores, &format!("b{number}"));
            differences.extend(difference(case, outcome, known.get(&*case.name).copied()));
            played += 1;
        }
    }
    assert!(played > 0, "no case has {chosen:?} in its name");
    assert!(differences.is_empty(), "{} of {played} cases:\n{}", differences.len(), differences.join("\n"));
}

/// Returns the mistake of an outcome: a case fails unless it is known to, for a reason, and passes if it is
/// not.
fn difference(case: &Case, outcome: Result<(), String>, reason: Option<&str>) -> Option<String> {
    match (outcome, reason) {
        (Ok(()), None) | (Err(_), Some(_)) => None,
        (Ok(()), Some(_)) => Some(format!("{case}\n    passes, and is in known.txt")),
        (Err(difference), None) => Some(format!("{case}\n    {difference}")),
    }
}

/// The whole list.
fn cases() -> Vec<Case> {
    let read = |(name, text): &(&'static str, &str)| {
        parse::cases(name, text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    FILES.iter().flat_map(read).collect()
}

fn known() -> BTreeMap<&'static str, &'static str> {
    let rows = KNOWN.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.split_once(" = ").expect("a row is NAME = REASON")).collect()
}

#[test]
fn the_list_is_long_and_no_two_cases_have_one_name() {
    let cases = cases();
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let mut names = HashSet::new();
    let again: Vec<_> = cases.iter().filter(|case| !names.insert(&*case.name)).map(|it| &it.name).collect();
    assert!(again.is_empty(), "more than one case has the name {again:?}");
    for (name, reason) in known() {
        assert!(names.contains(name) && !reason.is_empty(), "{name:?} in known.txt is no case");
    }
}

#[test]
fn every_section_of_the_rules_has_a_case() {
    let (cases, sections) = (
        cases(),
        [
            "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.11", "1.12", "2", "3.2", "3.3", "3.4", "3.5",
            "4", "5.1", "5.2", "5.3", "5.4", "5.6", "6", "7", "8", "9.1", "9.2", "9.3", "9.4", "10.1",
            "10.2", "10.3", "10.4", "11.1", "11.2", "11.3", "11.4", "11.5", "11.6", "11.7", "12", "13", "14",
            "15", "16", "17", "19",
        ],
    );
    for section in sections {
        assert!(cases.iter().any(|case| case.section == section), "no case of §{section}");
    }
}

#[test]
fn a_known_failure_that_passes_is_an_error() {
    let case = &parse::cases("a.txt", "case §5: a\nGET /a\n-> 200").expect("a case")[0];
    let fails = || Err("a difference".to_owned());
    assert!(difference(case, Ok(()), None).is_none() && difference(case, fails(), Some("why")).is_none());
    assert!(difference(case, fails(), None).is_some() && difference(case, Ok(()), Some("why")).is_some());
}
