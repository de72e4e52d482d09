//! What does not depend on time: instructions by callgrind, allocations by the malloc counter; both as what 2N units take
//! less what N take, by N.

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{By, Contest, Kind, Load};
use super::loops::Loops;
use super::program::{Under, calls, collected, output};
use super::results::Results;
use super::servers;

/// Counts the allocations of all. Those in Go count their own, which the counter cannot see.
pub(super) fn allocations(
    programs: &Programs,
    contests: &[Contest],
    loops: &Loops<'_>,
    results: &mut Results,
) -> Result<()> {
    println!("allocations");
    let file = programs.folder.join("calls");
    let under = Under::Counter { library: &programs.malloc_counter, file: &file };
    for (contest, _, units) in loops.all() {
        for entry in contest.entries.iter().filter(|entry| entry.by != By::Go) {
            let count = |units| {
                let (program, args) = loops.command(contest, entry, units)?;
                output(under.command(&program, &args)?)?;
                calls(&file)
            };
            results.of(contest, entry).allocations = Some(per_unit(count, units)?);
        }
    }
    for (contest, load) in counted_loads(contests) {
        for entry in &contest.entries {
            let mut server = servers::start(programs, entry, under)?;
            // A first load settles what a start has left.
            let warm = servers::drive(programs, entry, server.port, load, load.counted);
            let count = |units| {
                let mut now = || if entry.by == By::Go { server.ask() } else { calls(&file) };
                let (before, port) = (now()?, server.port);
                servers::drive(programs, entry, port, load, units)?;
                let mut now = || if entry.by == By::Go { server.ask() } else { calls(&file) };
                Ok(now()? - before)
            };
            let counted = warm.and_then(|_| per_unit(count, load.counted));
            results.of(contest, entry).allocations = Some(counted.with_context(|| entry.label.to_owned())?);
            servers::stop(entry, server)?;
        }
    }
    Ok(())
}

/// Counts the instructions of all but those in Go, whose runtime valgrind does not know.
pub(super) fn instructions(
    programs: &Programs,
    contests: &[Contest],
    loops: &Loops<'_>,
    results: &mut Results,
) -> Result<()> {
    println!("instructions");
    for (contest, _, units) in loops.all() {
        for entry in contest.entries.iter().filter(|entry| entry.by != By::Go && entry.by != By::Alula) {
            let count = |units| {
                let (program, args) = loops.command(contest, entry, units)?;
                let (_, said) = output(Under::Callgrind.command(&program, &args)?)?;
                collected(&said)
            };
            results.of(contest, entry).instructions = Some(per_unit(count, units)?);
        }
    }
    for (contest, load) in counted_loads(contests) {
        for entry in contest.entries.iter().filter(|entry| entry.by != By::Go) {
            let count = |units| {
                let server = servers::start(programs, entry, Under::Callgrind)?;
                servers::drive(programs, entry, server.port, load, units)?;
                collected(&servers::stop(entry, server)?)
            };
            let counted = per_unit(count, load.counted).with_context(|| entry.label.to_owned())?;
            results.of(contest, entry).instructions = Some(counted);
        }
    }
    own(programs, loops, results)
}

/// Alula's own workloads, as `cargo xtask costs` counts them.
fn own(programs: &Programs, loops: &Loops<'_>, results: &mut Results) -> Result<()> {
    let entries =
        loops.all().flat_map(|(contest, _, _)| contest.entries.iter().map(move |entry| (contest, entry)));
    let own: Vec<_> = entries.filter(|(_, entry)| entry.by == By::Alula).collect();
    let figures = programs.bench.measure(|name| own.iter().any(|(_, entry)| entry.work == name))?;
    for (contest, entry) in own {
        let row = figures.get(entry.work).with_context(|| format!("there is no workload {}", entry.work))?;
        results.of(contest, entry).instructions = row.instructions;
    }
    Ok(())
}

fn counted_loads(contests: &[Contest]) -> impl Iterator<Item = (&Contest, Load)> {
    contests.iter().filter_map(|contest| match contest.kind {
        Kind::Server(load) if load.counted > 0 => Some((contest, load)),
        _ => None,
    })
}

fn per_unit(mut count: impl FnMut(u64) -> Result<u64>, units: u64) -> Result<f64> {
    let (once, twice) = (count(units)?, count(2 * units)?);
    Ok((twice as f64 - once as f64) / units as f64)
}
