//! `cargo xtask bench --store`: `alula store` under the workload of an object store, in clear text, on both engines.
//!
//! Rules: the server has a core and the load the other; every run begins with an empty store of its own; cells are measured in turns, round by
//! round. Every answer is checked by the load, and the first that is wrong ends the run.

mod answers;
mod calls;
mod cells;
mod counts;
mod markdown;
mod million;
mod parts;
mod process;
mod reads;
mod running;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use alula_tidy::repository_root;
use anyhow::Result;

use self::cells::{Rounds, cells};
use self::running::Programs;
use super::options::{Options, StorePart};
use super::section::between;

/// Steps of the workload in the run of full length, as those have it who measured Riak with it.
const STEPS: u64 = 20_000;

/// The text of a part, and the document and the mark between which it is written.
struct Told {
    document: PathBuf,
    mark: &'static str,
    markdown: String,
}

/// Builds, measures, prints, and writes when told to.
pub(super) fn command(part: StorePart, options: &Options) -> Result<()> {
    let programs = Programs::build()?;
    let start = Instant::now();
    let (document, mark, markdown) = match part {
        StorePart::Load if options.rounds == 0 => (page(), "store-counts", counts::measure(&programs)?),
        StorePart::Load => (page(), "store", load(&programs, options)?),
        StorePart::Million => (page(), "store-million", million::measure(&programs, options)?),
        StorePart::Reads => (decision(), "store-reads", reads::measure(&programs, options)?),
    };
    println!("\n{markdown}\n{:.0} s without what was built", start.elapsed().as_secs_f64());
    if options.writes { write(&Told { document, mark, markdown }) } else { Ok(()) }
}

/// Every cell in every round, and once as many steps as Riak was measured with.
fn load(programs: &Programs, options: &Options) -> Result<String> {
    let cells = cells();
    let mut rounds = Rounds::default();
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        for cell in &cells {
            let run = programs.play(cell, cell.steps() / options.divisor)?;
            println!("  {}: {run}", cell.label());
            rounds.add(*cell, run);
        }
    }
    let mut whole = Vec::new();
    for cell in cells.iter().filter(|cell| cell.is_whole()) {
        let run = programs.play(cell, STEPS / options.divisor)?;
        println!("  {}, {} steps: {run}", cell.label(), STEPS / options.divisor);
        whole.push((*cell, run));
    }
    markdown::timed(&cells, &rounds, &whole, options)
}

/// The page that has the figures.
fn page() -> PathBuf {
    repository_root().join("docs/store-cost.md")
}

/// The decision that rests on figures of its own.
fn decision() -> PathBuf {
    repository_root().join("docs/decisions/0026-point-reads-on-the-worker.md")
}

/// Puts a section between its marks.
fn write(told: &Told) -> Result<()> {
    let [begin, end] = marks(told.mark);
    let old = fs::read_to_string(&told.document)?;
    fs::write(&told.document, between(&old, &begin, &end, &told.markdown)?)?;
    println!("wrote {}", told.document.display());
    Ok(())
}

fn marks(name: &str) -> [String; 2] {
    [
        format!("<!-- {name}: written by `cargo xtask bench {}` -->\n", asked(name)),
        format!("<!-- end of {name} -->\n"),
    ]
}

/// The flags that write a section.
fn asked(name: &str) -> &'static str {
    match name {
        "store-counts" => "--store --counts --write",
        "store-million" => "--store-million --write",
        "store-reads" => "--store-reads --write",
        _ => "--store --write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_have_the_marks() {
        let marks_of =
            [(page(), &["store", "store-counts", "store-million"][..]), (decision(), &["store-reads"])];
        for (document, names) in marks_of {
            let text = fs::read_to_string(document).expect("it is there");
            for name in names {
                let [begin, end] = marks(name);
                between(&text, &begin, &end, "new").expect("both marks");
            }
        }
    }
}
