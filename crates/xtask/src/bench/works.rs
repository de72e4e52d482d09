//! `cargo xtask bench --servers`: servers at three works, under h2load and wrk, in turns.
//!
//! Rules: every server has one worker thread and shares one core with the load, as in the other contests; in a cell all are sent
//! the same requests in the same way; CPU time is that of the server's process, less what its connections took to be opened.

mod figures;
mod load;
mod markdown;
mod matrix;
mod process;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use self::figures::Figures;
use self::matrix::{Cell, Who, cells};
use self::process::{Process, Programs};
use super::options::Options;
use super::program::{Core, Server};
use super::{build, section, start, versions};
use crate::command::{answer, cargo, run};
use crate::costs::table::document;
use crate::tools;

const BEGIN: &str = "<!-- works: written by `cargo xtask bench --servers --write` -->\n";
const END: &str = "<!-- end of works -->\n";

/// All servers, each running and idle but when it is its turn.
type Running = BTreeMap<Process, Server>;

/// Builds, measures, prints, and writes when told to.
pub(super) fn command(options: &Options) -> Result<()> {
    let programs = build_all()?;
    let cells = cells(options.divisor > 1);
    let start = Instant::now();
    measure(&programs, &cells, options)?;
    println!("{:.0} s without what was built", start.elapsed().as_secs_f64());
    Ok(())
}

/// Prints what so many rounds gave, and writes it when told to. A run takes hours: one that is broken off leaves its whole rounds.
fn tell(cells: &[Cell], figures: &Figures, rounds: usize, options: &Options) -> Result<()> {
    let heading = heading(cells, rounds, options)?;
    let markdown = format!("{heading}\n\n{}", markdown::markdown(cells, figures));
    println!("\n{markdown}");
    if options.writes {
        let old = fs::read_to_string(document())?;
        fs::write(document(), section::between(&old, BEGIN, END, &markdown)?)?;
    }
    Ok(())
}

fn build_all() -> Result<Programs> {
    let folder = tools::folder().join("bench/works");
    fs::create_dir_all(&folder)?;
    process::write_site(&folder)?;
    start::certify(&folder)?;
    // First the program as users have it, since the other profile has the same folder.
    run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
    run(&mut cargo(["build", "--profile", "bench", "--package", "alula-bench", "--example", "works"]))?;
    let release = tools::folder().with_file_name("release");
    let (rust, go) = (build::rust()?, build::go(&tools::folder().join("bench"))?);
    let routes = answer(Command::new(&rust).arg("routes")).context("the peers print the routes")?;
    fs::write(folder.join("routes"), routes)?;
    Ok(Programs {
        alula: release.join("examples/works"),
        alula_serve: release.join("alula"),
        rust,
        go,
        folder,
    })
}

/// Every cell in every round, and every server in every cell. What is known is told after each round.
fn measure(programs: &Programs, cells: &[Cell], options: &Options) -> Result<()> {
    let (mut figures, core) = (Figures::default(), Core::last()?);
    let mut running = Running::new();
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        for cell in cells {
            print!("{}, {}: CPU in µs", cell.work.name(), cell.label());
            for who in taking_part(options).filter(|who| who.has(cell.work)) {
                let server = server(programs, &mut running, *cell, who, core)?;
                match one(programs, cell, server) {
                    Ok((cpu, per_second)) => {
                        figures.add(*cell, who, cpu, per_second);
                        print!(", {} {cpu:.2}", who.label());
                    }
                    // A peer that does not answer all has no figure, nor has what is too fast for wrk; the others have.
                    Err(error) if !who.is_ours() || cell.can_outrun_its_load() => {
                        figures.lose(*cell, who);
                        print!(
                            ", {} lost: {}",
                            who.label(),
                            error.to_string().lines().next().unwrap_or_default()
                        );
                    }
                    Err(error) => return Err(error.context(format!("{who:?}, {}", cell.label()))),
                }
            }
            println!();
        }
        tell(cells, &figures, round, options)?;
    }
    for (process, server) in running {
        process::stop(process.who, server)?;
    }
    Ok(())
}

fn taking_part(options: &Options) -> impl Iterator<Item = Who> {
    let is_wanted = |who: &Who| who.is_ours() || options.only.as_ref().is_none_or(|only| who.is_named(only));
    Who::ALL.into_iter().filter(is_wanted)
}

/// The server for the cell; a new one is warmed up.
fn server<'r>(
    programs: &Programs,
    running: &'r mut Running,
    cell: Cell,
    who: Who,
    core: Core,
) -> Result<&'r Server> {
    let Cell { work, generator, is_secure, .. } = cell;
    let process = Process { who, work, is_http1: generator.is_http1(), is_secure };
    Ok(match running.entry(process) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(absent) => {
            let server = programs.start(process, core)?;
            load::drive(&programs.folder, &cell, &server).with_context(|| format!("{process:?}"))?;
            absent.insert(server)
        }
    })
}

/// Microseconds of CPU per request, and requests per second.
fn one(programs: &Programs, cell: &Cell, server: &Server) -> Result<(f64, f64)> {
    let idle = server.cpu_time()?;
    let opened = load::connect(&programs.folder, cell, server)?;
    let before = server.cpu_time()?;
    let run = load::drive(&programs.folder, cell, server)?;
    let opening = before - idle;
    let cpu = (server.cpu_time()? - before).as_secs_f64() - opening.as_secs_f64();
    Ok((cpu * 1e6 / (run.requests - opened.requests) as f64, run.per_second))
}

/// The runs, and their number.
fn heading(cells: &[Cell], rounds: usize, options: &Options) -> Result<String> {
    let quick = if options.divisor > 1 { ", a part of those of a whole run" } else { "" };
    let count = cells.len();
    let cores = std::thread::available_parallelism()?;
    Ok(format!(
        "{count} ways of asking{quick}; n = {rounds} rounds, all servers in turns in each; median (least–most). {}; one of {cores} \
         cores is used. {}",
        machine()?,
        versions::of_servers()?
    ))
}

/// The processor and the system.
pub(super) fn machine() -> Result<String> {
    let told = fs::read_to_string("/proc/cpuinfo")?;
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let system = answer(Command::new("uname").arg("-sr")).context("`uname` names the system")?;
    Ok(format!("{}, {}", model.map_or("a processor without a name", |(_, name)| name), system.trim()))
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
