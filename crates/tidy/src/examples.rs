//! The documentation of the library names `alula`, the one crate that users have, and none of the crates it
//! is made of.

use crate::Source;

/// The crates whose public items users meet below `alula`.
const PARTS: [&str; 9] = ["client", "coding", "fields", "h1", "h2", "hpack", "machine", "net", "server"];

/// Lines of documentation that name one of the crates that `alula` is made of, but for the targets of links.
#[must_use]
pub fn check_examples(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| is_documented(&source.path)) {
        for (number, line) in source.lines().filter(|(_, line)| is_documentation(&source.path, line)) {
            found.extend(part_in(line).map(|part| {
                format!("{}:{number}: users have no crate alula_{part}: name it by `alula`", source.path)
            }));
        }
    }
    found
}

/// The library, and what its users read. Decisions are for those who change it, and the figures name
/// functions.
fn is_documented(path: &str) -> bool {
    let crates = PARTS.iter().chain(&["alula"]);
    let is_source = |name: &&&str| {
        path.strip_prefix("crates/")
            .and_then(|path| path.strip_prefix(**name))
            .is_some_and(|path| path.starts_with("/src/"))
    };
    crates.clone().any(|name| is_source(&name))
        || path == "README.md"
        || (path.starts_with("docs/") && path.ends_with(".md") && !is_for_authors(path))
}

fn is_for_authors(path: &str) -> bool {
    path.starts_with("docs/decisions/") || path == "docs/performance.md"
}

fn is_documentation(path: &str, line: &str) -> bool {
    let line = line.trim_start();
    path.ends_with(".md") || line.starts_with("///") || line.starts_with("//!")
}

fn part_in(line: &str) -> Option<&'static str> {
    let names = line.match_indices("alula_").filter(|(at, _)| !line[..*at].ends_with("]("));
    let mut rests = names.map(|(at, start)| &line[at + start.len()..]);
    rests.find_map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        PARTS.into_iter().find(|part| *part == &rest[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, line: &str) -> Vec<String> {
        check_examples(&[Source { path: path.into(), text: format!("{line}\n") }])
    }

    #[test]
    fn parts_of_alula_are_found_in_documentation() {
        for line in [
            "/// use alula_client::Client;",
            "    //! # Ok::<(), alula_fields::FieldError>(())",
            "/// # use alula_server as alula;",
        ] {
            assert_eq!(check("crates/client/src/a.rs", line).len(), 1, "{line}");
        }
        assert_eq!(
            check("README.md", "let it = alula_net::Version::Http1;"),
            ["README.md:1: users have no crate alula_net: name it by `alula`"]
        );
    }

    #[test]
    fn code_targets_of_links_and_other_crates_are_not() {
        for (path, line) in [
            ("crates/client/src/a.rs", "use alula_net::Error;"),
            ("crates/client/src/a.rs", "/// See [`Error`](alula_net::Error)."),
            ("crates/client/src/a.rs", "/// Counted by alula_tally."),
            ("crates/bench/src/a.rs", "/// use alula_net::Error;"),
            ("docs/decisions/0001-a.md", "alula_net::Error"),
        ] {
            assert_eq!(check(path, line), [""; 0], "{line}");
        }
    }
}
