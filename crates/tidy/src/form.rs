//! The form of files: no long ones, none that knows whose machine it was written on.

use crate::{Source, repository_root};

/// A file that is longer holds a second idea; a reader finds neither.
pub const LINES_MAX: usize = 700;

/// Code files over [`LINES_MAX`] lines.
#[must_use]
pub fn check_length(sources: &[Source]) -> Vec<String> {
    let code = sources.iter().filter(|source| !source.path.ends_with(".md"));
    let sized = code.map(|source| (source, source.text.lines().count()));
    let long = sized.filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(source, lines)| format!("{}: {lines} lines, {LINES_MAX} at most", source.path)).collect()
}

/// Lines that hold the path of this very clone or of its user's home.
#[must_use]
pub fn check_paths(sources: &[Source]) -> Vec<String> {
    let mut private = vec![repository_root().to_string_lossy().into_owned()];
    private.extend(std::env::var("HOME").ok().filter(|home| home.len() > 1).map(|home| home + "/"));
    lines_with(sources, &private)
}

fn lines_with(sources: &[Source], private: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let named = |line: &str| private.iter().any(|path| line.contains(path));
        let lines = source.lines().filter(|(_, line)| named(line));
        found.extend(lines.map(|(number, _)| format!("{}:{number}: a path of one machine", source.path)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: String) -> Source {
        Source { path: path.into(), text }
    }

    #[test]
    fn long_code_is_found_and_long_prose_is_not() {
        let text = "x\n".repeat(LINES_MAX + 1);
        let sources = [source("a.rs", text.clone()), source("a.md", text), source("b.rs", "x\n".into())];
        assert_eq!(check_length(&sources), ["a.rs: 701 lines, 700 at most"]);
    }

    #[test]
    fn the_path_of_this_clone_is_found() {
        let text = format!("fine\nlet path = \"{}/x\";\n", repository_root().display());
        assert_eq!(check_paths(&[source("a.rs", text)]), ["a.rs:2: a path of one machine"]);
    }
}
