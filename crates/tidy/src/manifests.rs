//! What every manifest takes from the workspace, so that no crate has rules or versions of its own.

use crate::Source;

const INHERITED: [&str; 4] = [
    "[lints]\nworkspace = true\n",
    "edition.workspace = true\n",
    "license.workspace = true\n",
    "rust-version.workspace = true\n",
];

/// Manifests of our crates that lack one of the inherited lines, or name a version of a dependency themselves.
#[must_use]
pub fn check_manifests(sources: &[Source]) -> Vec<String> {
    let is_manifest =
        |source: &&Source| source.path.starts_with("crates/") && source.path.ends_with("/Cargo.toml");
    let mut found = Vec::new();
    for manifest in sources.iter().filter(is_manifest) {
        let lacking = INHERITED.iter().filter(|line| !manifest.text.contains(**line));
        found.extend(lacking.map(|line| format!("{}: lacks {line:?}", manifest.path)));
        let own = manifest.lines().filter(|(_, line)| names_version(line));
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
        let inherited: String = INHERITED.concat();
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
        assert_eq!(check_manifests(&[manifest(String::new())]).len(), INHERITED.len());
    }
}
