//! What the root file of each crate must say: no unsafe code, and no `std` in layers 0 and 1.

use crate::Source;

/// The crates that know no socket, clock, thread, file or runtime.
const WITHOUT_STD: [&str; 5] = ["fields", "machine", "hpack", "h1", "h2"];

/// The crates with unsafe code: an allocator needs it, and so does a library that takes the place of
/// functions of the C library.
const WITH_UNSAFE: [&str; 2] = ["disk-recorder", "tally"];

/// Crate roots that lack an attribute, and unsafe code in tests, benchmarks and examples, which have no such
/// root.
#[must_use]
pub fn check_attributes(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let mut parts = source.path.split('/');
        let (Some("crates"), Some(name)) = (parts.next(), parts.next()) else { continue };
        let within = parts.collect::<Vec<_>>().join("/");
        let complain = |why: &str| format!("{}: {why}", source.path);
        found.extend(check_file(name, &within, &source.text).into_iter().map(complain));
    }
    found
}

fn check_file(name: &str, within: &str, text: &str) -> Vec<&'static str> {
    let is_root = within == "src/lib.rs" || within == "src/main.rs";
    let is_beside = !within.starts_with("src/");
    let mut found = Vec::new();
    if !WITH_UNSAFE.contains(&name) && is_root && !has_line(text, "#![forbid(unsafe_code)]") {
        found.push("lacks #![forbid(unsafe_code)]");
    }
    if !WITH_UNSAFE.contains(&name) && is_beside && has_unsafe(text) {
        found.push("has unsafe code");
    }
    if WITHOUT_STD.contains(&name) && is_root && !has_line(text, "#![no_std]") {
        found.push("lacks #![no_std]");
    }
    if WITHOUT_STD.contains(&name) && !is_beside && brings_std_back(text) {
        found.push("brings std back outside its tests");
    }
    found
}

fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line.trim() == wanted)
}

fn has_unsafe(text: &str) -> bool {
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|what| text.contains(what))
}

/// `extern crate std` is fine for unit tests: right below `#[cfg(test)]`, or in a file of tests.
fn brings_std_back(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tests = lines.iter().position(|line| line.starts_with("mod tests"));
    let outside_tests = &lines[..tests.unwrap_or(lines.len())];
    let is_std =
        |line: &str| line.starts_with("extern crate std") || line.starts_with("pub extern crate std");
    let mut pairs = std::iter::once("").chain(outside_tests.iter().copied()).zip(outside_tests);
    pairs.any(|(before, line)| is_std(line) && before != "#[cfg(test)]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_held_to_their_attributes() {
        let both = "//! Docs.\n#![no_std]\n#![forbid(unsafe_code)]\n";
        assert_eq!(check_file("h2", "src/lib.rs", both), [""; 0]);
        assert_eq!(check_file("h2", "src/lib.rs", "#![no_std]\n"), ["lacks #![forbid(unsafe_code)]"]);
        assert_eq!(check_file("h2", "src/lib.rs", "#![forbid(unsafe_code)]\n"), ["lacks #![no_std]"]);
        assert_eq!(check_file("tally", "src/lib.rs", ""), [""; 0]);
        assert_eq!(check_file("net", "src/lib.rs", "#![forbid(unsafe_code)]\n"), [""; 0]);
    }

    #[test]
    fn std_comes_back_for_tests_only() {
        assert_eq!(
            check_file("h2", "src/a.rs", "extern crate std;\n"),
            ["brings std back outside its tests"]
        );
        assert_eq!(check_file("h2", "src/a.rs", "#[cfg(test)]\nextern crate std;\n"), [""; 0]);
        assert_eq!(check_file("h2", "src/a.rs", "mod tests {\n    extern crate std;\n}\n"), [""; 0]);
    }

    #[test]
    fn tests_have_no_unsafe_code() {
        let text = format!("fn f() {{ {} {{ g() }} }}", "unsafe");
        assert_eq!(check_file("net", "tests/a.rs", &text), ["has unsafe code"]);
    }
}
