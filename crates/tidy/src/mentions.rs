//! Documents name commands and files that exist.

use std::path::Path;

use crate::{Source, repository_root};

/// The documents a newcomer reads at the root.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Commands in the root's documents that neither `xtask` nor the `alula` program has.
#[must_use]
pub fn check_commands(sources: &[Source]) -> Vec<String> {
    let xtask = text_below(sources, "crates/xtask/src/");
    let program = text_below(sources, "crates/cli/src/");
    let mut found = Vec::new();
    for (source, number, line) in document_lines(sources) {
        for word in words_after(line, "cargo xtask ").filter(|word| !xtask.contains(&format!("[\"{word}\"")))
        {
            found.push(format!("{}:{number}: `cargo xtask {word}` is no command", source.path));
        }
        for word in words_after(line, "cargo run --release -- ").filter(|word| !has_command(&program, word)) {
            found.push(format!("{}:{number}: `alula {word}` is no command", source.path));
        }
    }
    found
}

/// Files and folders named between backquotes, or linked to, in the root's documents and in `docs`, that are
/// not there.
#[must_use]
pub fn check_files(sources: &[Source]) -> Vec<String> {
    let root = repository_root();
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let folder = root.join(&source.path).with_file_name("");
        for (number, line) in source.lines() {
            let absent = named_files(line, &root).chain(linked_files(line, &folder));
            let absent = absent.filter(|(_, exists)| !exists);
            found.extend(absent.map(|(name, _)| format!("{}:{number}: {name} is not there", source.path)));
        }
    }
    found
}

fn document_lines(sources: &[Source]) -> impl Iterator<Item = (&Source, usize, &str)> {
    let documents = sources.iter().filter(|source| DOCUMENTS.contains(&&*source.path));
    documents.flat_map(|source| source.lines().map(move |(number, line)| (source, number, line)))
}

fn text_below(sources: &[Source], folder: &str) -> String {
    sources.iter().filter(|source| source.path.starts_with(folder)).map(|source| &*source.text).collect()
}

/// The word that follows each `command` in the line, letters and hyphens only.
fn words_after<'a>(line: &'a str, command: &'a str) -> impl Iterator<Item = &'a str> {
    let rests = line.split(command).skip(1);
    let words =
        rests.map(|rest| rest.split(|c: char| !c.is_ascii_alphabetic() && c != '-').next().unwrap_or(""));
    words.filter(|word| !word.is_empty())
}

/// A command is written as a string (`"demo"`) or as a variant (`Demo(…)`, `Demo {`, `Demo,`).
fn has_command(program: &str, word: &str) -> bool {
    let mut variant = word.to_owned();
    variant[..1].make_ascii_uppercase();
    let spellings =
        [format!("\"{word}\""), format!("{variant}("), format!("{variant} {{"), format!("{variant},")];
    spellings.iter().any(|spelling| program.contains(spelling))
}

/// Names such as `crates/h2` between backquotes, from the root.
fn named_files<'a>(line: &'a str, root: &'a Path) -> impl Iterator<Item = (&'a str, bool)> {
    let quoted = line.split('`').skip(1).step_by(2);
    let is_ours = |name: &&str| {
        let in_repository = ["crates/", "docs/", "testdata/", "examples/", ".ci/"];
        in_repository.iter().any(|folder| name.starts_with(folder)) && !name.contains(['*', '<', '{', ' '])
    };
    quoted.filter(is_ours).map(|name| (name, root.join(name).exists()))
}

/// The targets of `[text](target)` that are no addresses, from the document's own folder.
fn linked_files<'a>(line: &'a str, folder: &'a Path) -> impl Iterator<Item = (&'a str, bool)> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.filter(|target| !target.contains(':') && !target.starts_with('#'));
    targets.map(|target| (target, folder.join(target.split('#').next().unwrap_or(target)).exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn commands_that_do_not_exist_are_found() {
        let sources = [
            source(
                "README.md",
                "`cargo xtask test` `cargo xtask rest`\ncargo run --release -- demo --json\n",
            ),
            source("crates/xtask/src/main.rs", "match args { [\"test\"] => 1 }"),
            source("crates/cli/src/main.rs", "enum Command { Echo(Echo) }"),
        ];
        assert_eq!(
            check_commands(&sources),
            ["README.md:1: `cargo xtask rest` is no command", "README.md:2: `alula demo` is no command",]
        );
    }

    #[test]
    fn files_that_do_not_exist_are_found() {
        let text = "`crates/tidy` and `crates/nobody`, [here](Cargo.toml), [there](nowhere.md), [out](https://a.example)";
        assert_eq!(
            check_files(&[source("README.md", text)]),
            ["README.md:1: crates/nobody is not there", "README.md:1: nowhere.md is not there",]
        );
    }
}
