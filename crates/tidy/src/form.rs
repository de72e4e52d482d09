//! The form of files: none knows on which machine it was written.

use crate::{Source, repository_root};

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
    fn the_path_of_this_clone_is_found() {
        let text = format!("fine\nlet path = \"{}/x\";\n", repository_root().display());
        assert_eq!(check_paths(&[source("a.rs", text)]), ["a.rs:2: a path of one machine"]);
    }
}
