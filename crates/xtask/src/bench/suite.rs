//! The runner: everybody in every contest of a suite, in turns, round by round.
//!
//! Rules: a suite says what is done and by whom; how often, in which order and what is printed is the same
//! for all. Each round begins with another of those who take part, so that nobody always follows the same
//! one.

use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::options::Options;
use super::report::measure::Measure;
use super::report::results::Results;
use super::report::{self, table};

/// One kind of work, and all who do it.
#[derive(Clone, Debug)]
pub(super) struct Contest<W> {
    pub(super) title: String,
    pub(super) work: W,
    pub(super) entries: Vec<Entry>,
    /// It is measured in the first round alone.
    pub(super) is_once: bool,
}

/// A program that takes part, and its work.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// As in tables.
    pub(super) label: &'static str,
    /// As `--only` names it.
    pub(super) peer: &'static str,
    pub(super) by: By,
    /// As the program calls the work.
    pub(super) work: String,
}

/// The program.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum By {
    Alula,
    Rust,
    Nghttp2,
    Floor,
    Nghttpd,
    Nginx,
    H2o,
    Curl,
}

/// Those whose failure leaves a gap in a table, where others end the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gaps {
    None,
    Peers,
    All,
}

/// Contests that are measured by the same means.
pub(super) trait Suite {
    /// The work of a contest.
    type Work: Clone;

    /// The name of its files.
    fn name(&self) -> &'static str;

    fn measures(&self) -> &'static [Measure];

    fn contests(&self) -> Vec<Contest<Self::Work>>;

    /// Measures one of a contest once: a figure for each measure, as far as it has them.
    fn measure(&mut self, contest: &Contest<Self::Work>, entry: &Entry, round: usize) -> Result<Vec<f64>>;

    /// Counts what does not depend on time, after all rounds: figures by the names of measures.
    fn count(&mut self, _: &Contest<Self::Work>, _: &Entry) -> Result<Vec<(&'static str, f64)>> {
        Ok(Vec::new())
    }

    /// The machine and the versions.
    fn heading(&self) -> Result<String>;

    fn gaps(&self, _: &Contest<Self::Work>) -> Gaps {
        Gaps::None
    }

    /// The times that a measurement is tried.
    fn tries(&self) -> usize {
        1
    }

    /// Ends what runs.
    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Entry {
    pub(super) fn new(label: &'static str, peer: &'static str, by: By, work: impl Into<String>) -> Self {
        Self { label, peer, by, work: work.into() }
    }

    pub(super) fn is_ours(&self) -> bool {
        self.peer == "alula"
    }

    pub(super) fn is_floor(&self) -> bool {
        self.by == By::Floor
    }

    fn is_wanted(&self, only: &str) -> bool {
        [only, "alula", "floor"].contains(&self.peer)
    }
}

impl<W> Contest<W> {
    pub(super) fn new(title: impl Into<String>, work: W, entries: Vec<Entry>) -> Self {
        Self { title: title.into(), work, entries, is_once: false }
    }
}

/// Measures, prints, and writes when told to. What is written is written after each round: a run that is
/// broken off leaves them.
pub(super) fn run<S: Suite>(suite: &mut S, options: &Options) -> Result<()> {
    let contests = chosen(suite.contests(), options.only.as_deref())?;
    let (start, mut results) = (Instant::now(), Results::new(suite.measures()));
    for round in 0..options.rounds {
        println!("{}: round {} of {}", suite.name(), round + 1, options.rounds);
        for contest in contests.iter().filter(|contest| round == 0 || !contest.is_once) {
            play(suite, contest, round, &mut results)?;
        }
        if options.writes {
            report::write(suite.name(), &heading(suite, round + 1)?, &results)?;
        }
    }
    for contest in &contests {
        for entry in &contest.entries {
            let counts = suite.count(contest, entry).with_context(|| named(contest, entry))?;
            counts
                .into_iter()
                .for_each(|(measure, figure)| results.set(&contest.title, entry.label, measure, figure));
        }
    }
    suite.end()?;
    let heading = heading(suite, options.rounds)?;
    println!("\n{}", table::markdown(&heading, &results));
    if options.writes {
        report::write(suite.name(), &heading, &results)?;
    }
    println!("{:.0} s for {}", start.elapsed().as_secs_f64(), suite.name());
    Ok(())
}

fn heading<S: Suite>(suite: &S, rounds: usize) -> Result<String> {
    let rounds =
        if rounds == 0 { "counts alone".to_owned() } else { format!("n = {rounds} rounds in turns") };
    Ok(format!("{rounds}. {}", suite.heading()?))
}

fn named<W>(contest: &Contest<W>, entry: &Entry) -> String {
    format!("{}: {}", contest.title, entry.label)
}

/// Everybody in a contest once.
fn play<S: Suite>(
    suite: &mut S,
    contest: &Contest<S::Work>,
    round: usize,
    results: &mut Results,
) -> Result<()> {
    print!("  {}", contest.title);
    let turns = contest.entries.iter().cycle().skip(round % contest.entries.len().max(1));
    for entry in turns.take(contest.entries.len()) {
        match tried(suite, contest, entry, round) {
            Ok(figures) => {
                print!(", {} {:.2}", entry.label, figures.iter().find(|own| !own.is_nan()).unwrap_or(&0.0));
                results.add(&contest.title, entry.label, &figures);
            }
            Err(error) => {
                let may_lose = match suite.gaps(contest) {
                    Gaps::None => false,
                    Gaps::Peers => !entry.is_ours(),
                    Gaps::All => true,
                };
                ensure!(may_lose, "{}: {error:#}", named(contest, entry));
                print!(", {} lost: {}", entry.label, first_line(&error));
                results.add(&contest.title, entry.label, &[]);
            }
        }
    }
    println!();
    Ok(())
}

fn tried<S: Suite>(
    suite: &mut S,
    contest: &Contest<S::Work>,
    entry: &Entry,
    round: usize,
) -> Result<Vec<f64>> {
    let mut last = suite.measure(contest, entry, round);
    for _ in 1..suite.tries() {
        if let Err(error) = &last {
            print!(" [{} again: {}]", entry.label, first_line(error));
            last = suite.measure(contest, entry, round);
        }
    }
    last
}

fn first_line(error: &anyhow::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The contests of the peer that was asked for, with Alula and the floor beside it.
pub(super) fn chosen<W>(mut contests: Vec<Contest<W>>, only: Option<&str>) -> Result<Vec<Contest<W>>> {
    let Some(only) = only else { return Ok(contests) };
    let entries = contests.iter().flat_map(|contest| &contest.entries);
    let mut peers: Vec<&str> = entries.map(|entry| entry.peer).collect();
    peers.sort_unstable();
    peers.dedup();
    ensure!(peers.contains(&only), "no peer {only}; there are {}", peers.join(", "));
    contests.retain(|contest| contest.entries.iter().any(|entry| entry.peer == only));
    for contest in &mut contests {
        contest.entries.retain(|entry| entry.is_wanted(only));
    }
    Ok(contests)
}

/// Returns true if some contest has the peer.
pub(super) fn has_peer<W>(contests: &[Contest<W>], peer: &str) -> bool {
    contests.iter().flat_map(|contest| &contest.entries).any(|entry| entry.peer == peer)
}

#[cfg(test)]
mod tests {
    use super::super::report::measure::{fine, less};
    use super::*;

    /// A suite that notes who was measured, and in which a peer fails the first time.
    struct Noted {
        turns: Vec<String>,
        gaps: Gaps,
    }

    static MEASURES: [Measure; 1] = [less("CPU, µs", fine)];

    impl Suite for Noted {
        type Work = ();

        fn name(&self) -> &'static str {
            "noted"
        }

        fn measures(&self) -> &'static [Measure] {
            &MEASURES
        }

        fn contests(&self) -> Vec<Contest<()>> {
            let entry = |label, peer| Entry::new(label, peer, By::Rust, "");
            let both = vec![entry("Alula", "alula"), entry("hyper", "hyper")];
            vec![
                Contest { is_once: true, ..Contest::new("once", (), both.clone()) },
                Contest::new("each", (), both),
            ]
        }

        fn measure(&mut self, contest: &Contest<()>, entry: &Entry, round: usize) -> Result<Vec<f64>> {
            self.turns.push(format!("{round} {} {}", contest.title, entry.label));
            ensure!(entry.is_ours() || round > 0, "it has not answered");
            Ok(vec![1.0])
        }

        fn heading(&self) -> Result<String> {
            Ok(String::new())
        }

        fn gaps(&self, _: &Contest<()>) -> Gaps {
            self.gaps
        }
    }

    fn noted(gaps: Gaps) -> (Noted, Result<()>) {
        let mut suite = Noted { turns: Vec::new(), gaps };
        let options = Options::parse(&["--rounds", "2"]).expect("valid options");
        let result = run(&mut suite, &options);
        (suite, result)
    }

    #[test]
    fn each_round_begins_with_another() {
        let turns = noted(Gaps::Peers).0.turns;
        assert_eq!(turns[..2], ["0 once Alula", "0 once hyper"]);
        assert_eq!(turns[2..], ["0 each Alula", "0 each hyper", "1 each hyper", "1 each Alula"]);
    }

    #[test]
    fn a_peer_that_fails_ends_the_run_or_leaves_a_gap() {
        noted(Gaps::Peers).1.expect("a gap");
        let error = noted(Gaps::None).1.unwrap_err().to_string();
        assert_eq!(error, "once: hyper: it has not answered");
    }
}
