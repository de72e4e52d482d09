//! Rules of RFC 9110 and RFC 9112, each tried over a real socket against a server with a router.
//!
//! A row names its section, the bytes that are sent and what must come back. Every row is played over
//! HTTP/1.1 in clear text; those whose request has the same meaning over HTTP/2 are asked there as well, by
//! our client.

mod answer;
mod app;
mod case;
mod cases;
mod check;
mod http2;
mod known;

use std::collections::HashSet;

use case::{Case, End, Expected, Step};

/// The fewest rows that the list may have.
const CASES_MIN: usize = 150;

/// Returns true for `9110 §9.3.1` and the like.
fn is_section(section: &str) -> bool {
    let numbers = section.strip_prefix("9110 §").or_else(|| section.strip_prefix("9112 §"));
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|numbers| numbers.split('.').all(is_number))
}

/// Fails with all differences at once.
fn report(differences: &[String], played: usize) {
    assert!(differences.is_empty(), "{} of {played} cases:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn the_list_is_long_and_its_rows_have_names_and_sections() {
    let cases = cases::all();
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let mut names = HashSet::new();
    for (name, reason) in known::DIFFERENCES {
        assert!(!reason.is_empty() && cases.iter().any(|case| case.name == *name), "{name} is no case");
    }
    for case in &cases {
        assert!(names.insert(case.name), "two cases are called {:?}", case.name);
        assert!(is_section(case.section), "{}: {:?} is no section", case.name, case.section);
        assert!(
            case.expected().next().is_some() || case.end == End::Silent,
            "{}: nothing is expected",
            case.name
        );
    }
}

#[test]
fn what_looks_like_a_section() {
    for section in ["9110 §9", "9112 §3.2.4"] {
        assert!(is_section(section), "{section}");
    }
    for section in ["9110", "9110 §", "9113 §8", "9110 §9.", "RFC 9110 §9", "9110 §a"] {
        assert!(!is_section(section), "{section}");
    }
}

#[test]
fn every_case_over_http1() {
    let (port, cases) = (app::start(), cases::all());
    let differences = cases.iter().filter_map(|case| match (case.play(port), known::reason(case.name)) {
        (Ok(()), None) | (Err(_), Some(_)) => None,
        (Ok(()), Some(_)) => {
            Some(format!("{}: is no difference any more, and still in `known.rs`", case.name))
        }
        (Err(difference), None) => Some(format!("{} (RFC {}): {difference}", case.name, case.section)),
    });
    report(&differences.collect::<Vec<_>>(), cases.len());
}

#[test]
fn every_case_that_has_the_same_meaning_over_http2() {
    let (port, cases) = (app::start(), cases::all());
    let asked: Vec<_> = cases.iter().filter(|case| case.ask.is_some()).collect();
    report(&http2::play_all(&asked, port), asked.len());
}

/// A row proves something only if it fails when anything that it expects is another.
#[test]
fn no_case_passes_with_a_broken_expectation() {
    let (port, cases) = (app::start(), cases::all());
    let broken: Vec<_> = cases.iter().flat_map(broken).collect();
    let passing = broken.iter().filter(|(_, case)| case.play(port).is_ok());
    let passing: Vec<_> =
        passing.map(|(part, case)| format!("{} passes with another {part}", case.name)).collect();
    report(&passing, broken.len());
}

/// The case with one of its expectations changed, for each that can be changed.
fn broken(case: &Case) -> Vec<(&'static str, Case)> {
    let end = if case.end == End::Open { End::Closed } else { End::Open };
    let mut all = vec![("end", Case { end, ..case.clone() })];
    let mut change = |part, is_there: fn(&Expected) -> bool, change: fn(&mut Expected)| {
        for at in 0..case.steps.len() {
            let mut case = case.clone();
            if let Step::Expect(expected) = &mut case.steps[at]
                && is_there(expected)
            {
                change(expected);
                all.push((part, case));
            }
        }
    };
    change("status", |_| true, |it| it.status += 1);
    change("value", |it| !it.has.is_empty(), |it| it.has[0].1 = "another");
    change(
        "part of a value",
        |it| it.holds.iter().any(|(_, part)| !part.is_empty()),
        |it| it.holds[0].1 = "another",
    );
    change("absence", |it| !it.lacks.is_empty(), |it| it.has.push((it.lacks[0], "there")));
    change("content", |it| it.content.is_some(), |it| it.content = Some("another"));
    change("part of the content", |it| !it.within.is_empty(), |it| it.within[0] = "another");
    change("trailer", |it| it.trailer.is_some(), |it| it.trailer = Some(("x-sum", "another")));
    all
}
