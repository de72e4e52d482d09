//! The section of `docs/performance.md` that is about others, and its plots.

use std::fs;
use std::path::{Path, PathBuf};

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::behind::Behind;
use super::contest::Contest;
use super::goals::{Goal, profiles};
use super::options::Options;
use super::results::Results;
use super::{plot, table, versions};
use crate::costs::table::document;

const BEGIN: &str = "<!-- bench: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of bench -->\n";

/// Where the plots are, from the document.
const PLOTS: &str = "plots";

/// What a profile is of, since a server's is not under h2load.
const PROFILES: &str = "Of what is above its goal, or behind a peer: the first functions of the workload of that name, \
    as `cargo xtask costs --profile` has it.";

/// What a run has to tell.
pub(super) struct Report<'a> {
    pub(super) contests: &'a [Contest],
    pub(super) results: &'a Results,
    pub(super) goals: &'a [Goal],
    pub(super) behind: &'a Behind,
    pub(super) options: &'a Options,
}

/// All tables, where a peer is ahead, and what is above its goal.
pub(super) fn markdown(report: &Report<'_>) -> Result<String> {
    let Report { contests, results, goals, behind, options } = *report;
    let quick = if options.divisor > 1 { ", of fewer units than a whole run has" } else { "" };
    let mut text = format!("{} rounds{quick}. {}\n\n", options.rounds, versions::sentence()?);
    for contest in contests {
        let plot = format!("![{}]({PLOTS}/{}.svg)", contest.title, contest.name);
        let table = table::markdown(contest, results, goals);
        text += &format!("### {}\n\n{plot}\n\n{table}\n", contest.title);
    }
    // Nobody was compared where nothing but counts was wanted.
    if options.rounds == 0 {
        return Ok(text);
    }
    text += &format!("### Where a peer is ahead\n\n{}", behind.markdown());
    let profiles = profiles(goals) + behind.profiles();
    if !profiles.is_empty() {
        text += &format!("### Where the instructions go\n\n{PROFILES}\n\n{profiles}");
    }
    Ok(text)
}

/// Puts them into the document, and the plots beside it.
pub(super) fn write(report: &Report<'_>) -> Result<()> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    for contest in report.contests {
        fs::write(folder.join(format!("{}.svg", contest.name)), plot::svg(contest, report.results))?;
    }
    let document = document();
    let old = fs::read_to_string(&document)?;
    fs::write(&document, between(&old, BEGIN, END, &markdown(report)?)?)?;
    println!("wrote {} and {}", document.display(), folder.display());
    Ok(())
}

fn folder() -> PathBuf {
    repository_root().join("docs").join(PLOTS)
}

/// The text with this section between the two marks, in place of the one it has.
pub(super) fn between(text: &str, begin: &str, end: &str, section: &str) -> Result<String> {
    let (before, rest) = text.split_once(begin).context("the mark before the section is not there")?;
    let (_, after) = rest.split_once(end).context("the mark behind the section is not there")?;
    Ok(format!("{before}{begin}\n{section}{end}{after}"))
}

/// Replaces the section between the marks of a document.
pub(super) fn put(document: &Path, begin: &str, end: &str, section: &str) -> Result<()> {
    let old = fs::read_to_string(document)?;
    Ok(fs::write(document, between(&old, begin, end, section)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, section: &str) -> Result<String> {
        between(text, BEGIN, END, section)
    }

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let once = replaced(&text, "new\n").expect("both marks");
        assert_eq!(once, format!("before\n{BEGIN}\nnew\n{END}after\n"));
        assert_eq!(replaced(&once, "new\n").expect("both marks"), once);
        replaced("nothing", "new").unwrap_err();
    }

    #[test]
    fn the_document_has_the_marks() {
        replaced(&fs::read_to_string(document()).expect("it is there"), "new").expect("both marks");
    }
}
