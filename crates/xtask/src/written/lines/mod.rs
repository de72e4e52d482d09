//! `cargo xtask lines`: lines of code that are neither blank nor comment, of each crate, by what they are
//! for.
//!
//! Rules: a file counts by where it lies, and a Rust item under `#[cfg(test)]` as a test wherever it lies.
//! Data that people write in place of code counts as code; what a program has recorded or generated does not
//! count.

mod place;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use alula_tidy::{Workspace, repository_root};
use anyhow::{Context, Result};

use crate::command::answer;

use self::place::{Kind, Place};

/// Lines of code by the kind of code.
type Row = [usize; Kind::COUNT];

/// Prints the table of this clone, or of the clone in a folder.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    let root = args.first().map_or_else(repository_root, |folder| Path::new(folder).to_path_buf());
    print!("{}", table(&count(&root)?));
    Ok(ExitCode::SUCCESS)
}

/// Counts every file that git knows, or would add.
fn count(root: &Path) -> Result<BTreeMap<String, Row>> {
    let published = Workspace::load()?.published().map(|package| package.name.clone()).collect();
    let files = files(root)?;
    let tests = test_files(root, &files)?;
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for file in &files {
        let Some(Place { row, kind }) = place::of(file, &published) else { continue };
        let text = fs::read_to_string(root.join(file)).with_context(|| file.clone())?;
        let (lines, inside) = text::count(file, &text);
        let row = rows.entry(row).or_default();
        let kind = if tests.iter().any(|test| file.starts_with(test)) { Kind::Test } else { kind };
        row[kind as usize] += lines - inside;
        row[Kind::Test as usize] += inside;
    }
    Ok(rows)
}

fn files(root: &Path) -> Result<Vec<String>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let list = answer(&mut list).context("`git ls-files` failed")?;
    // A file that is deleted and not yet committed is listed as well.
    Ok(list.lines().filter(|file| root.join(file).is_file()).map(str::to_owned).collect())
}

/// Beginnings of the paths of modules that are compiled for tests alone.
fn test_files(root: &Path, files: &[String]) -> Result<BTreeSet<String>> {
    let mut tests = BTreeSet::new();
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let folder = place::folder_of_modules(file);
        for name in text::test_modules(&fs::read_to_string(root.join(file))?) {
            tests.insert(format!("{folder}/{name}.rs"));
            tests.insert(format!("{folder}/{name}/"));
        }
    }
    Ok(tests)
}

fn table(rows: &BTreeMap<String, Row>) -> String {
    let mut text = line("", &["product", "tests", "tools", "all"].map(str::to_owned));
    let mut sums = Row::default();
    for (name, row) in rows {
        sums = std::array::from_fn(|kind| sums[kind] + row[kind]);
        text += &line(name, &cells(row));
    }
    text + &line("all", &cells(&sums))
}

fn cells(row: &Row) -> [String; Kind::COUNT + 1] {
    let [product, tests, tools] = *row;
    [product, tests, tools, row.iter().sum()].map(|count| count.to_string())
}

fn line(name: &str, cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>9}")).collect();
    format!("{name:<16}{cells}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_sums() {
        let rows = [("a".to_owned(), [1, 2, 3]), ("b".to_owned(), [10, 20, 30])];
        let table = table(&rows.into());
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(table.lines().last().unwrap()), ["all", "11", "22", "33", "66"]);
    }
}
