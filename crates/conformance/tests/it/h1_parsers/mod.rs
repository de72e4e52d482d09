//! Heads of HTTP/1.1, read by Alula and by two readers that share nothing with it: the crate `httparse`, and Python's h11. Where
//! one of them makes something else of a head than Alula, a class says why, and `docs/supported.md` says it to users.

mod classes;
mod heads;
mod readers;

use std::collections::BTreeMap;

use alula_conformance::environment;
use alula_testkit::Rng;
use classes::{CLASSES, Case};
use heads::Kind;
use readers::Verdict;

const HEADS: usize = 40_000;

fn generated() -> Vec<(Kind, Vec<u8>)> {
    let mut rng = Rng::new(9112);
    let mut one = |at: usize| {
        let kind = if at.is_multiple_of(3) { Kind::Response } else { Kind::Request };
        (kind, heads::head(kind, &mut rng))
    };
    (0..HEADS).map(&mut one).collect()
}

#[test]
fn httparse_reads_the_same_or_a_class_says_why() {
    let heads = generated();
    let theirs = heads.iter().map(|(kind, bytes)| readers::httparse(*kind, bytes)).collect();
    compare("httparse", &heads, theirs);
}

#[test]
fn h11_reads_the_same_or_a_class_says_why() {
    let Some(python) = environment::python() else { return };
    let heads = generated();
    let theirs = readers::h11(&python, &heads);
    compare("h11", &heads, theirs);
}

/// Every head is read the same by both, or one class explains why not; and each class explains something.
fn compare(reader: &'static str, heads: &[(Kind, Vec<u8>)], theirs: Vec<Verdict>) {
    assert_eq!(heads.len(), theirs.len());
    let (mut same, mut unexplained) = (0, Vec::new());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut taken = 0;
    for ((kind, bytes), theirs) in heads.iter().zip(theirs) {
        let ours = readers::alula(*kind, bytes);
        let case = Case { reader, kind: *kind, bytes, ours, theirs };
        taken += usize::from(matches!(case.ours, Verdict::Taken { .. }));
        if case.agrees() {
            same += 1;
        } else if let Some(class) = CLASSES.iter().find(|class| class.explains(&case)) {
            *counts.entry(class.name).or_default() += 1;
        } else {
            unexplained.push(format!(
                "{:?} {}\n  ours {:?}\n  theirs {:?}",
                case.kind,
                bytes.escape_ascii(),
                case.ours,
                case.theirs
            ));
        }
    }
    println!("{reader}: {} heads, {taken} taken by Alula, {same} read the same; {counts:#?}", heads.len());
    println!("{}", unexplained.iter().take(20).map(|text| format!("{text}\n")).collect::<String>());
    assert!(
        unexplained.is_empty(),
        "{} heads are read differently, and no class says why",
        unexplained.len()
    );
    for class in CLASSES.iter().filter(|class| class.readers.contains(&reader)) {
        assert!(counts.contains_key(class.name), "no head shows {} of {reader}", class.name);
    }
    assert!(taken > heads.len() / 4 && same > heads.len() / 2);
}

/// The page says to users what the classes say here, word for word and in their order.
#[test]
fn the_page_has_every_class() {
    let page = include_str!("../../../../../docs/supported.md");
    let row = |class: &classes::Class| {
        format!("| {} | {} | {} |", class.name, class.readers.join(", "), class.says)
    };
    let section = page.split("## Beside other readers").nth(1).unwrap_or_default();
    let table = section.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<String> = CLASSES.iter().map(row).collect();
    println!("{}", expected.join("\n"));
    assert_eq!(rows, expected, "docs/supported.md: the rows are to be those printed above");
}

/// What the page says about the RFC is tried by rows of the table of rules, which it names.
#[test]
fn the_page_names_rows_that_are_tried() {
    let page = include_str!("../../../../../docs/supported.md");
    let rules = [
        include_str!("../../../../h1/tests/it/rules/chunks.rs"),
        include_str!("../../../../h1/tests/it/rules/client.rs"),
        include_str!("../../../../h1/tests/it/rules/client_ends.rs"),
        include_str!("../../../../h1/tests/it/rules/exchanges.rs"),
        include_str!("../../../../h1/tests/it/rules/fields.rs"),
        include_str!("../../../../h1/tests/it/rules/framing.rs"),
        include_str!("../../../../h1/tests/it/rules/heads.rs"),
        include_str!("../../../../h1/tests/it/rules/limits.rs"),
    ]
    .concat();
    let table = page.split("## Beside other readers").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| ")).filter(|line| line.contains(" | RFC "));
    let tried: Vec<&str> = rows.filter_map(|line| line.trim_end_matches(" |").rsplit(" | ").next()).collect();
    assert_eq!(tried.len(), 28, "docs/supported.md: a row was added or lost: say so here");
    for name in tried {
        assert!(
            rules.contains(&format!("\"{name}\"")),
            "docs/supported.md: no row of the rules is called {name:?}"
        );
    }
}
