//! The tables of what was timed.

use std::fmt::Write;

use anyhow::Result;

use super::super::options::Options;
use super::super::spread::Spread;
use super::super::table::{fine, spread, whole};
use super::super::{versions, works};
use super::STEPS;
use super::cells::{Cell, KINDS, Rounds, Run};
use crate::costs::table::thousands;

/// Throughput and CPU time, then latencies, then the runs of full length.
pub(super) fn timed(
    cells: &[Cell],
    rounds: &Rounds,
    run_once: &[(Cell, Run)],
    options: &Options,
) -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let mut text = format!(
        "n = {} rounds, all cells in turns in each; median (least–most). {}, {cores} cores. {}\n\n",
        options.rounds,
        works::machine()?,
        versions::of_the_store()?
    );
    text += &costs(cells, rounds);
    text += &latencies(cells, rounds);
    text += &in_full(run_once, options);
    Ok(text)
}

fn costs(cells: &[Cell], rounds: &Rounds) -> String {
    let mut text = String::from(
        "| engine, version, connections | requests per second | CPU of the server, µs per request | of these in the kernel |\n\
         | --- | ---: | ---: | ---: |\n",
    );
    for cell in cells {
        let per_second = spread(rounds.spread(*cell, |run| run.per_second), thousands);
        let cpu = spread(rounds.spread(*cell, |run| run.cpu), fine);
        let kernel = spread(rounds.spread(*cell, |run| run.kernel), fine);
        writeln!(text, "| {} | {per_second} | {cpu} | {kernel} |", cell.label())
            .expect("a String takes any text");
    }
    text + "\n"
}

/// Microseconds by kind.
fn latencies(cells: &[Cell], rounds: &Rounds) -> String {
    let mut text = String::from("Microseconds within which half of the answers came, and 99 % of them:\n\n");
    let columns: Vec<String> = KINDS.iter().map(|kind| format!("{kind} p50 | {kind} p99")).collect();
    writeln!(text, "| engine, version, connections | {} |", columns.join(" | "))
        .expect("a String takes any text");
    writeln!(text, "| --- |{}", " ---: |".repeat(2 * KINDS.len())).expect("as above");
    for cell in cells {
        write!(text, "| {} |", cell.label()).expect("as above");
        for kind in KINDS {
            for place in 0..2 {
                let times = rounds.spread(*cell, |run| run.within.get(kind).map_or(f64::NAN, |of| of[place]));
                write!(text, " {} |", spread(times, whole)).expect("as above");
            }
        }
        text.push('\n');
    }
    text + "\n"
}

/// The runs as long as Riak's, once each.
fn in_full(runs: &[(Cell, Run)], options: &Options) -> String {
    let steps = thousands((STEPS / options.divisor) as f64);
    let mut text = format!("Once with {steps} steps of each client, as Riak was measured:\n\n");
    text += "| engine, version, connections | requests | per second | CPU, µs | get p50, p99, p99.9 | put | update | query |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (cell, run) in runs {
        let times =
            KINDS.map(|kind| run.within.get(kind).map_or("–".into(), |of| of.map(whole).join(", ")));
        let figures = [thousands(run.requests), thousands(run.per_second), fine(run.cpu)];
        writeln!(text, "| {} | {} | {} |", cell.label(), figures.join(" | "), times.join(" | "))
            .expect("a String takes any text");
    }
    text
}

/// The median of one figure of some runs, with its least and most.
pub(super) fn of(values: impl IntoIterator<Item = f64>, print: impl Fn(f64) -> String) -> String {
    spread(Spread::of(values), print)
}

#[cfg(test)]
mod tests {
    use super::super::cells::cells;
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let (cells, mut rounds) = (cells(), Rounds::default());
        let within = KINDS.into_iter().map(|kind| (kind, [1.0, 2.0, 3.0])).collect();
        let run = Run { requests: 7.0, per_second: 1000.0, cpu: 2.5, kernel: 1.0, within };
        cells.iter().for_each(|cell| rounds.add(*cell, run.clone()));
        let options = Options::parse(&["--store"]).expect("valid options");
        for (table, columns) in [
            (costs(&cells, &rounds), 5),
            (latencies(&cells, &rounds), 10),
            (in_full(&[(cells[0], run)], &options), 9),
        ] {
            let rows = table.lines().filter(|line| line.starts_with('|'));
            let counts: Vec<usize> = rows.map(|line| line.matches('|').count()).collect();
            assert!(counts.len() > 2 && counts.iter().all(|count| *count == columns), "{table}");
        }
    }
}
