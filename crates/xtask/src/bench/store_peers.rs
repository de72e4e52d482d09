//! `cargo xtask bench --store-peers`: `alula store` beside other stores at the same work, in turns.
//!
//! Rules: a peer is measured only if it answers a sequence of reads and writes as `alula store` does; all flush a write before they
//! answer it, and how often they flush is counted; each server has a folder of its own, which grows by the same objects.

mod cell;
mod drive;
mod figures;
mod flushes;
mod markdown;
mod programs;
mod same;
mod tree;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use self::cell::{Cell, Who, cells};
use self::drive::Driver;
use self::figures::{Figures, Turn};
use self::programs::{Programs, Running};
use super::options::Options;
use super::section;

const BEGIN: &str = "<!-- store peers: written by `cargo xtask bench --store-peers --write` -->\n";
const END: &str = "<!-- end of store peers -->\n";

/// Builds, measures, prints, and writes when told to.
pub(super) fn command(options: &Options) -> Result<()> {
    let programs = Programs::build()?;
    let start = Instant::now();
    let driver = programs.driver(options.divisor);
    let servers = start_all(&programs, &driver, options)?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        play_round(&driver, &servers, round, &mut figures)?;
    }
    for running in &servers {
        figures.keep_flushes(running.who, flushes::count(&driver, running)?);
    }
    servers.into_iter().try_for_each(Running::stop)?;
    figures.keep_floor(programs.floor()?);
    tell(&figures, options)?;
    println!("{:.0} s without what was built", start.elapsed().as_secs_f64());
    Ok(())
}

/// Starts everybody, compares their answers, and writes what is read later.
fn start_all(programs: &Programs, driver: &Driver, options: &Options) -> Result<Vec<Running>> {
    driver.export(&programs.files())?;
    let is_wanted =
        |who: &Who| *who == Who::Alula || options.only.as_ref().is_none_or(|only| who.is_named(only));
    let servers = Who::ALL.into_iter().filter(is_wanted).map(|who| programs.start(who));
    let servers = servers.collect::<Result<Vec<_>>>()?;
    let own = servers.iter().find(|running| running.who == Who::Alula).context("it takes part")?;
    let wanted = same::transcript(own.port())?;
    for running in servers.iter().filter(|running| running.who.takes_writes()) {
        same::check(running, &wanted)?;
        driver.fill(running.port())?;
    }
    servers.iter().try_for_each(|running| same::check_octets(own, running))?;
    Ok(servers)
}

/// Every cell once, and every server in each. Each round begins with another server.
fn play_round(driver: &Driver, servers: &[Running], round: usize, figures: &mut Figures) -> Result<()> {
    for cell in cells() {
        print!("{}: CPU in µs", cell.label());
        let turns = servers.iter().cycle().skip(round).take(servers.len());
        for running in turns.filter(|running| running.who.has(cell.load)) {
            let turn = play(driver, running, cell, round)
                .with_context(|| format!("{}, {}", running.who.label(), cell.label()))?;
            print!(", {} {:.1}", running.who.label(), turn.cpu);
            figures.add(cell, running.who, turn);
        }
        println!();
    }
    Ok(())
}

fn play(driver: &Driver, running: &Running, cell: Cell, round: usize) -> Result<Turn> {
    let before = running.cpu()?;
    let run = driver.drive(running.port(), cell, round)?;
    let micros = (running.cpu()? - before).as_secs_f64() * 1e6;
    Ok(Turn {
        cpu: micros / run.requests,
        load_cpu: run.load.as_secs_f64() * 1e6 / run.requests,
        per_second: run.per_second,
        p50: run.p50,
        p99: run.p99,
        memory: running.memory()? as f64 / 1024.0,
    })
}

fn tell(figures: &Figures, options: &Options) -> Result<()> {
    let markdown = markdown::markdown(figures, options)?;
    println!("\n{markdown}");
    if options.writes {
        let old = fs::read_to_string(document())?;
        fs::write(document(), section::between(&old, BEGIN, END, &markdown)?)?;
    }
    Ok(())
}

fn document() -> PathBuf {
    repository_root().join("docs/store-performance.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_marks() {
        let text = fs::read_to_string(document()).expect("it is there");
        section::between(&text, BEGIN, END, "new").expect("both marks");
    }
}
