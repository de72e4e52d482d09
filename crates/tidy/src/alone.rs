//! Test binaries without the usual harness list every test that they have.
//!
//! `#[test]` compiles to nothing there, and without `harness = false` the list is never read: both would
//! pass.

use crate::Source;

/// The calls that are the `main` of such a binary.
const MAINS: [&str; 2] = ["run_alone(", "run_one_by_one("];

/// A function that is not listed is dead code.
const DENIED: &str = "#![deny(dead_code)]";

/// Returns what is wrong with binaries that run each test in a process of its own.
#[must_use]
pub fn check_alone(sources: &[Source]) -> Vec<String> {
    let is_main = |source: &&Source| {
        place(&source.path).is_some() && MAINS.iter().any(|main| source.text.contains(main))
    };
    sources.iter().filter(is_main).flat_map(|main| check_binary(main, sources)).collect()
}

fn check_binary(main: &Source, sources: &[Source]) -> Vec<String> {
    let Some((folder, name)) = place(&main.path) else { return Vec::new() };
    let mut found = Vec::new();
    if !main.text.contains(DENIED) {
        found.push(format!("{}: lacks {DENIED}", main.path));
    }
    let manifest = sources.iter().find(|source| source.path == format!("{folder}/Cargo.toml"));
    if !manifest.is_some_and(|manifest| is_without_harness(&manifest.text, name)) {
        found.push(format!("{folder}/Cargo.toml: lacks `harness = false` for {name}"));
    }
    let of_binary = |source: &&Source| place(&source.path) == Some((folder, name));
    for source in sources.iter().filter(of_binary) {
        let lost = source.lines().filter(|(_, line)| is_test(line.trim()));
        found.extend(
            lost.map(|(number, line)| format!("{}:{number}: never runs: {}", source.path, line.trim())),
        );
    }
    found
}

/// The crate's folder and the name of the test binary that a file belongs to.
fn place(path: &str) -> Option<(&str, &str)> {
    let (folder, file) = path.split_once("/tests/")?;
    let name = file.split_once('/').map(|(name, _)| name).or(file.strip_suffix(".rs"))?;
    (path.ends_with(".rs") && folder.starts_with("crates/")).then_some((folder, name))
}

fn is_without_harness(manifest: &str, name: &str) -> bool {
    let sections = manifest.split("\n[").filter(|section| section.starts_with("[test]]"));
    let has = |section: &str, line: &str| section.lines().any(|other| other == line);
    sections
        .into_iter()
        .any(|section| has(section, &format!("name = \"{name}\"")) && has(section, "harness = false"))
}

fn is_test(line: &str) -> bool {
    line.starts_with("#[") && (line.contains("test]") || line.contains("test("))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\n\n[[test]]\nname = \"alloc\"\nharness = false\n";
    const LISTS: &str = "#![deny(dead_code)]\nfn main() { run_alone(&cases![a]) }\n";

    fn found(manifest: &str, main: &str, other: &str) -> Vec<String> {
        let files = [
            ("crates/x/Cargo.toml", manifest),
            ("crates/x/tests/alloc/main.rs", main),
            ("crates/x/tests/alloc/room/a.rs", other),
            ("crates/x/tests/it/main.rs", "#[test]\nfn usual() {}\n"),
        ];
        let source = |(path, text): (&str, &str)| Source { path: path.into(), text: text.into() };
        check_alone(&files.map(source))
    }

    #[test]
    fn a_test_that_would_never_run_is_found() {
        assert_eq!(found(MANIFEST, LISTS, "fn a() {}\n"), [""; 0]);
        for lost in ["#[test]", "#[tokio::test]", "#[tokio::test(start_paused = true)]"] {
            let expected = format!("crates/x/tests/alloc/room/a.rs:1: never runs: {lost}");
            assert_eq!(found(MANIFEST, LISTS, &format!("{lost}\nfn a() {{}}\n")), [expected]);
        }
    }

    #[test]
    fn a_list_that_would_not_be_held_is_found() {
        let without = "[[test]]\nname = \"alloc\"\n\n[[test]]\nname = \"process\"\nharness = false\n";
        let expected = "crates/x/Cargo.toml: lacks `harness = false` for alloc";
        assert_eq!(found(without, LISTS, ""), [expected]);
        let expected = "crates/x/tests/alloc/main.rs: lacks #![deny(dead_code)]";
        assert_eq!(found(MANIFEST, &LISTS[20..], ""), [expected]);
        assert_eq!(found(MANIFEST, &LISTS[20..].replace("run_alone", "run_one_by_one"), ""), [expected]);
    }
}
