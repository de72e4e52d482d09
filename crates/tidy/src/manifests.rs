//! What every manifest takes from the workspace, so that no crate has rules or versions of its own.

use crate::Source;

const INHERITED: [&str; 3] =
    ["[lints]\nworkspace = true\n", "edition.workspace = true\n", "license.workspace = true\n"];

/// The lines by which users find a crate that is published, and by which docs.rs shows its features.
const PUBLISHED: [&str; 5] = [
    "documentation = \"https://docs.rs/alula",
    "readme.workspace = true\n",
    "keywords = [",
    "categories = [",
    "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]\n",
];

/// The line of most crates, and that of those which need a later Rust: the store, for fjall, and what is
/// built with it. No library that users depend on is among them.
const RUST: &str = "rust-version.workspace = true\n";
const LATER_RUST: &str = "rust-version = \"1.90\"\n";
const WITH_LATER_RUST: [&str; 4] = [
    "crates/bench/Cargo.toml",
    "crates/cli/Cargo.toml",
    "crates/store/Cargo.toml",
    "crates/trials/Cargo.toml",
];

/// Manifests of our crates that lack one of the inherited lines, or name a version of a dependency
/// themselves.
#[must_use]
pub fn check_manifests(sources: &[Source]) -> Vec<String> {
    let is_manifest =
        |source: &&Source| source.path.starts_with("crates/") && source.path.ends_with("/Cargo.toml");
    let mut found = Vec::new();
    for manifest in sources.iter().filter(is_manifest) {
        let rust = if WITH_LATER_RUST.contains(&&*manifest.path) { LATER_RUST } else { RUST };
        let is_published = !manifest.text.contains("publish = false\n");
        let published: &[&str] = if is_published { &PUBLISHED } else { &[] };
        let lacking =
            INHERITED.iter().chain(published).chain([&rust]).filter(|line| !manifest.text.contains(**line));
        found.extend(lacking.map(|line| format!("{}: lacks {line:?}", manifest.path)));
        let own = manifest.lines().filter(|(_, line)| names_version(line) && *line != rust.trim_end());
        found.extend(own.map(|(number, _)| {
            format!("{}:{number}: name the version in the root's Cargo.toml", manifest.path)
        }));
    }
    found
}

/// `serde = "1"` and `serde = { version = "1" }`, but not `version.workspace = true` or a package's own keys.
fn names_version(line: &str) -> bool {
    let Some((_, value)) = line.split_once(" = ") else { return false };
    let is_version = value.starts_with(['"', '='])
        && value.trim_start_matches(['"', '=', '^', '~']).starts_with(|c: char| c.is_ascii_digit());
    is_version || value.contains("version = ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_with_rules_of_its_own_is_found() {
        let inherited: String = INHERITED.concat() + RUST + "publish = false\n";
        let manifest = |text: String| Source { path: "crates/a/Cargo.toml".into(), text };
        assert_eq!(check_manifests(&[manifest(inherited.clone())]), [""; 0]);
        assert_eq!(check_manifests(&[manifest(inherited.clone() + "serde = \"1\"\n")]).len(), 1);
        assert_eq!(
            check_manifests(&[manifest(inherited.clone() + "serde = { version = \"1\" }\n")]).len(),
            1
        );
        assert_eq!(
            check_manifests(&[manifest(inherited + "serde.workspace = true\npath = \"src/main.rs\"\n")])
                .len(),
            0
        );
        assert_eq!(check_manifests(&[manifest("publish = false\n".into())]).len(), INHERITED.len() + 1);
        let later = INHERITED.concat() + LATER_RUST + "publish = false\n";
        assert_eq!(check_manifests(&[manifest(later.clone())]).len(), 2);
        let store = Source { path: "crates/store/Cargo.toml".into(), text: later };
        assert_eq!(check_manifests(&[store]), [""; 0]);
    }

    #[test]
    fn a_published_crate_that_nobody_finds_is_found() {
        let manifest = |text: String| Source { path: "crates/a/Cargo.toml".into(), text };
        let inherited: String = INHERITED.concat() + RUST;
        assert_eq!(check_manifests(&[manifest(inherited.clone())]).len(), PUBLISHED.len());
        assert_eq!(check_manifests(&[manifest(inherited + &PUBLISHED.concat())]), [""; 0]);
    }
}
