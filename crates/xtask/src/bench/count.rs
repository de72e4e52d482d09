//! What does not depend on time: instructions by callgrind, allocations by the malloc counter; both as what 2N units take
//! less what N take, by N.

use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};

use super::build::Programs;
use super::contest::{Asking, By, Contest, Entry, Kind, Load};
use super::loops::Loops;
use super::program::{Core, Server, Under, calls, collected, output};
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
    for (contest, timed, counted) in loops.all() {
        // What connections get late, each for itself, is little by request.
        let units = if contest.kind.has_many_in_flight() { timed } else { counted };
        for entry in contest.entries.iter().filter(|entry| entry.by != By::Go) {
            let count = |units| {
                output(loops.command(under, contest, entry, units)?)?;
                calls(&file)
            };
            results.of(contest, entry).allocations = Some(per_unit(count, units)?);
        }
    }
    for (contest, load) in counted_loads(contests) {
        for entry in &contest.entries {
            let mut server = servers::start(programs, entry, load, under, Core::last()?)?;
            // A first load settles what a start has left.
            let warm = servers::drive_counted(programs, entry, &server, load, load.counted);
            let count = |units| {
                let now = |server: &mut Server| if entry.by == By::Go { server.ask() } else { calls(&file) };
                let before = now(&mut server)?;
                servers::drive_counted(programs, entry, &server, load, units)?;
                Ok(now(&mut server)? - before)
            };
            let counted = warm.and_then(|_| per_unit(count, load.counted));
            results.of(contest, entry).allocations = Some(counted.with_context(|| entry.label.to_owned())?);
            servers::stop(entry, server)?;
        }
    }
    Ok(())
}

/// Counts the instructions of all but those in Go, whose runtime valgrind does not know: on two cores at a time, since callgrind
/// takes long and what it counts is no time.
pub(super) fn instructions(
    programs: &Programs,
    contests: &[Contest],
    loops: &Loops<'_>,
    results: &mut Results,
) -> Result<()> {
    println!("instructions");
    let is_alone = loops.core() == Core::first();
    let others = if is_alone { None } else { Some(Loops::start(programs, contests, Core::first())?) };
    let (next, counted) = (Mutex::new(jobs(contests).into_iter()), Mutex::new(Vec::new()));
    let work = |loops: &Loops<'_>| {
        while let Some(job) = { next.lock().expect("no thread panics").next() } {
            let count = job.count(programs, loops).with_context(|| job.entry.label);
            counted.lock().expect("no thread panics").push((job, count));
        }
    };
    thread::scope(|scope| {
        for loops in [Some(loops), others.as_ref()].into_iter().flatten() {
            scope.spawn(|| work(loops));
        }
    });
    for (job, count) in counted.into_inner().expect("no thread panics") {
        // Where twice as many took less, what varies by itself is more than what a unit takes.
        results.of(job.contest, job.entry).instructions = Some(count?).filter(|count| *count > 0.0);
    }
    own(programs, loops, results)
}

/// One entry to count.
struct Job<'a> {
    contest: &'a Contest,
    entry: &'a Entry,
}

/// All but Go's, and Alula's work in memory and as a client, which is counted as `cargo xtask costs` does.
fn jobs(contests: &[Contest]) -> Vec<Job<'_>> {
    let all =
        contests.iter().flat_map(|contest| contest.entries.iter().map(move |entry| Job { contest, entry }));
    all.filter(|job| match job.contest.kind {
        Kind::Server(load) => load.counted > 0 && job.entry.by != By::Go,
        _ => ![By::Go, By::Alula].contains(&job.entry.by),
    })
    .collect()
}

impl Job<'_> {
    /// Instructions per unit.
    fn count(&self, programs: &Programs, loops: &Loops<'_>) -> Result<f64> {
        let Self { contest, entry } = self;
        match contest.kind {
            Kind::Memory { counted, .. } | Kind::Client(Asking { counted, .. }) => {
                let count = |units| {
                    let (_, said) = output(loops.command(Under::Callgrind, contest, entry, units)?)?;
                    collected(&said)
                };
                per_unit(count, counted)
            }
            Kind::Server(load) => {
                let count = |units| {
                    let server = servers::start(programs, entry, load, Under::Callgrind, loops.core())?;
                    servers::drive_counted(programs, entry, &server, load, units)?;
                    collected(&servers::stop(entry, server)?)
                };
                per_unit(count, load.counted)
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::super::contest::chosen;
    use super::super::options::Options;
    use super::*;

    #[test]
    fn what_valgrind_does_not_know_and_what_is_counted_elsewhere_is_no_job() {
        let options = Options::parse(&["--only", "go"]).expect("valid options");
        let contests = chosen(&options).expect("a peer");
        let named = |name| jobs(&contests).into_iter().filter(move |job| job.contest.name == name);
        let labels = |name| named(name).map(|job| job.entry.label).collect::<Vec<_>>();
        assert_eq!(labels("client-h1-0"), ["floor, blocking", "floor, tokio"]);
        assert_eq!(labels("server-h1-m1"), ["floor, blocking", "floor, tokio", "Alula"]);
        assert_eq!(labels("server-c8-m32"), [""; 0]);
    }

    #[test]
    fn a_start_is_no_part_of_a_unit() {
        assert_eq!(per_unit(|units| Ok(1_000_000 + 5 * units), 100).expect("two counts"), 5.0);
    }
}
