//! The public API of `alula` is what its snapshot says: a change of it shows in review as changed lines.

#[test]
fn the_public_api_is_the_one_in_the_snapshot() {
    let difference = alula_tidy::check_api().expect("docs/api/alula.txt and the sources can be read");
    let shown = difference.iter().take(100).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        difference.is_empty(),
        "{} lines differ:\n{shown}\n\nWhen this is meant, run `cargo xtask api --write` and add a line to CHANGELOG.md.",
        difference.len()
    );
}

#[test]
fn every_type_that_the_public_api_shows_can_be_named() {
    let findings = alula_tidy::check_nameless().expect("the sources can be read");
    assert!(
        findings.is_empty(),
        "{}\n\nHand the type on in crates/alula/src/lib.rs, or hide what shows it.",
        findings.join("\n")
    );
}
