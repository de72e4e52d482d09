//! `cargo xtask costs`: what every workload of `crates/bench` costs, against the figures that are checked in.
//!
//! Instructions are counted by callgrind and allocations by the counting allocator, both as what 2N units
//! cost less what N cost, divided by N: so start, set-up and warm-up drop out. The figures of each target are
//! in `crates/bench/figures`; `--write` records new ones and puts the twelve rows of `docs/performance.md` in
//! order.

mod compare;
pub(crate) mod figures;
mod files;
pub(crate) mod measure;
pub(crate) mod peers;
pub(crate) mod profile;
pub(crate) mod table;

use std::process::ExitCode;

use anyhow::{Result, bail, ensure};

use figures::{Figures, Tools};
use measure::Bench;
use peers::Peers;

/// What stands behind `cargo xtask costs`.
pub(crate) fn command(args: &[&str]) -> Result<ExitCode> {
    match args {
        [] => show(),
        ["--check"] => check().map(|()| ExitCode::SUCCESS),
        ["--write"] => write("", None),
        ["--write", "--because", reason] => write("", Some(reason)),
        ["--write", prefix] => write(prefix, None),
        ["--write", prefix, "--because", reason] => write(prefix, Some(reason)),
        ["--profile", workload] => profile(workload),
        other => bail!("`costs {}` is not a command", other.join(" ")),
    }
}

/// A row that has too many instructions, or fewer allocations than none, is measured so often, and the least
/// instructions count: how the system cuts what comes on a socket into reads adds some to a few rows, and
/// takes away none. What got dearer in the code is so every time.
const MEASURED_MAX: usize = 4;

/// Prints the table of fresh figures.
fn show() -> Result<ExitCode> {
    let bench = Bench::build()?;
    let figures = bench.measure_all()?;
    print!("{}", table::markdown(&bench.list()?, &figures, &peers(&bench)?));
    Ok(ExitCode::SUCCESS)
}

/// Compares fresh figures with the recorded ones.
///
/// # Errors
/// When a figure is worse than allowed, a recorded one is not in the table of the document, or a peer beside
/// it was counted under another load.
pub(crate) fn check() -> Result<()> {
    let bench = Bench::build()?;
    let Some(recorded) = Figures::load()? else {
        println!("no figures for {}: `cargo xtask costs --write` records them", figures::target());
        return Ok(());
    };
    ensure!(
        is_fresh(&recorded, &peers(&bench)?)?,
        "docs/performance.md is not what `cargo xtask costs --write` writes"
    );
    let (workloads, mut now) = (bench.list()?, bench.measure_all()?);
    let tolerance = compare::Tolerance::between(&recorded.tools, &now.tools);
    println!("{tolerance}");
    for _ in 1..MEASURED_MAX {
        let doubtful = compare::doubtful(&workloads, &recorded, &now, tolerance);
        if doubtful.is_empty() {
            break;
        }
        println!("measured again: {}", doubtful.join(", "));
        now.lessen(&bench.measure(|name| doubtful.contains(&name))?);
    }
    let worse = compare::compare(&workloads, &recorded, &now, tolerance);
    for line in &worse {
        println!("{line}");
    }
    ensure!(worse.is_empty(), "{} of {} workloads cost something else", worse.len(), now.rows.len());
    println!("{} workloads cost what they cost before", now.rows.len());
    Ok(())
}

/// Records fresh figures, in full or of the workloads whose names begin so, and brings the table up to date.
/// A record that rises wants a reason.
fn write(prefix: &str, reason: Option<&str>) -> Result<ExitCode> {
    let bench = Bench::build()?;
    let mut figures = Figures::load()?.unwrap_or_default();
    ensure!(
        prefix.is_empty() || figures.tools == Tools::here()?,
        "the figures are of other tools: record all of them"
    );
    let (workloads, peers) = (bench.list()?, peers(&bench)?);
    let fresh = bench.measure(|name| name.starts_with(prefix))?;
    let risen = figures.update(fresh, &workloads, reason);
    risen.iter().for_each(|line| println!("{line}"));
    figures.save()?;
    // The table is of the figures as they were rounded.
    let figures = Figures::load()?.unwrap_or_default();
    let document = table::document();
    let text = table::replaced(&files::read(&document)?, &figures, &peers)?;
    std::fs::write(&document, text)?;
    println!("wrote {} and {}", figures::file().display(), document.display());
    if reason.is_none() && !risen.is_empty() {
        println!("{} records would rise, and stay: `--because REASON` raises them", risen.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the instructions of one workload go, by function.
fn profile(workload: &str) -> Result<ExitCode> {
    print!("{}", profile::of(&Bench::build()?, workload)?);
    Ok(ExitCode::SUCCESS)
}

/// Those that were counted under the loads of the workloads.
fn peers(bench: &Bench) -> Result<Peers> {
    let peers = Peers::load()?;
    let unlike = peers.unlike(&bench.list()?);
    ensure!(unlike.is_empty(), "peers.txt compares what is not alike:\n{}", unlike.join("\n"));
    Ok(peers)
}

fn is_fresh(recorded: &Figures, peers: &Peers) -> Result<bool> {
    let text = files::read(&table::document())?;
    Ok(table::replaced(&text, recorded, peers)? == text)
}
