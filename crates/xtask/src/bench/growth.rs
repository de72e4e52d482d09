//! `cargo xtask bench --growth`: servers with ever more connections, and ever more streams on one.
//!
//! Rules: each point has servers of its own, started anew, which share one core with h2load; CPU time is that of the server's
//! process, less what its connections took to be opened; memory is the most that was resident.

mod figures;
mod lines;
mod markdown;

use std::fs;
use std::time::Instant;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use self::figures::{Figures, Point, WHO, Way};
use super::holding::{Kind, Programs, Who, raise_descriptors, stop};
use super::options::Options;
use super::program::{Server, Under, args, output};
use super::section;
use super::servers::h2load;
use crate::command::needed_program;
use crate::costs::table::document;

const BEGIN: &str = "<!-- growth: written by `cargo xtask bench --growth --write` -->\n";
const END: &str = "<!-- end of growth -->\n";

/// The times that a point is tried.
const TRIES: usize = 3;

/// The largest size of a quick run.
const QUICK_MAX: u64 = 5000;

/// The length that the system allows to the queue of a listener. h2load opens all connections at once, and the servers ask for as many
/// places as there may be: where more come than there are places, connections are lost, and the point has no meaning.
const QUEUE: &str = "/proc/sys/net/core/somaxconn";

/// Builds, measures, prints, and writes when told to.
pub(super) fn command(options: &Options) -> Result<()> {
    raise_descriptors()?;
    let programs = Programs::build()?;
    let (start, mut figures) = (Instant::now(), Figures::default());
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        for way in Way::ALL {
            measure(&programs, way, &mut figures, options)?;
            tell(&figures, round, options)?;
        }
    }
    println!("{:.0} s without what was built", start.elapsed().as_secs_f64());
    Ok(())
}

/// Prints what is known, and writes it when told to: a run that is broken off leaves what it has measured.
fn tell(figures: &Figures, round: usize, options: &Options) -> Result<()> {
    let markdown = markdown::markdown(figures, round)?;
    println!("\n{markdown}");
    if options.writes { write(figures, &markdown) } else { Ok(()) }
}

/// Measures every server at every size.
fn measure(programs: &Programs, way: Way, figures: &mut Figures, options: &Options) -> Result<()> {
    let most = if options.divisor > 1 { QUICK_MAX } else { u64::MAX };
    let places = queue_places()?;
    for size in way.sizes().into_iter().filter(|size| *size <= most) {
        if way.connections(size) > places {
            println!("{}, {size}: left out, since {QUEUE} is {places}", way.title());
            continue;
        }
        print!("{}, {size}: CPU in µs and MiB", way.title());
        for who in WHO {
            if options.only.as_ref().is_some_and(|only| who != Who::Alula && !who.is_named(only)) {
                continue;
            }
            let point = Point { way, size, who };
            match tried(programs, point) {
                Ok((cpu, mebibytes)) => {
                    print!(", {} {cpu:.2} {mebibytes:.1}", who.label());
                    figures.add(point, cpu, mebibytes);
                }
                Err(error) => print!(", {} lost: {}", who.label(), first_line(&error)),
            }
        }
        println!();
    }
    Ok(())
}

/// Returns the number of connections that may wait for a server to take them.
fn queue_places() -> Result<u64> {
    let places = fs::read_to_string(QUEUE).with_context(|| format!("{QUEUE} cannot be read"))?;
    places.trim().parse().with_context(|| format!("{QUEUE} holds no number"))
}

fn first_line(error: &anyhow::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Measures a point, once more where that fails.
fn tried(programs: &Programs, point: Point) -> Result<(f64, f64)> {
    let mut last = one(programs, point);
    for _ in 1..TRIES {
        if let Err(error) = &last {
            print!(" [{} anew: {}]", point.who.label(), first_line(error));
            last = one(programs, point);
        }
    }
    last
}

/// Microseconds of CPU per request, and the most MiB that were resident.
fn one(programs: &Programs, point: Point) -> Result<(f64, f64)> {
    let kind = Kind { is_http2: point.way.is_http2(), is_secure: false };
    let server = programs.server_with(point.who, kind, point.way.streams())?;
    let (connections, in_flight) = point.load();
    // A server that has just started has met no request.
    drive(&server, kind, 1, 1, 100)?;
    let idle = server.cpu_time()?;
    let opened = drive(&server, kind, connections, 1, connections)?;
    let before = server.cpu_time()?;
    let asked = drive(&server, kind, connections, in_flight, point.requests())?;
    let cpu = (server.cpu_time()? - before).as_secs_f64() - (before - idle).as_secs_f64();
    let mebibytes = server.resident_most()? as f64 / f64::from(1 << 20);
    stop(point.who, server)?;
    Ok((cpu * 1e6 / (asked - opened) as f64, mebibytes))
}

/// Has h2load make so many requests; all are answered. Returns their number.
fn drive(server: &Server, kind: Kind, connections: u64, in_flight: u64, requests: u64) -> Result<u64> {
    let [n, c, m] = [requests, connections, in_flight].map(|number| number.to_string());
    let url = format!("http://127.0.0.1:{}/memory", server.port);
    let http1 = (!kind.is_http2).then_some("--h1");
    let all = ["-n", &n, "-c", &c, "-m", &m].into_iter().chain(http1).chain([&*url]);
    let program = needed_program("h2load")?;
    let (printed, _) = output(Under::OneCore.command(&program, &args(all), server.core)?)?;
    h2load(&printed, requests).with_context(|| format!("not all of {requests} were answered:\n{printed}"))?;
    Ok(requests)
}

/// Puts the section into the document, and the plots beside it.
fn write(figures: &Figures, markdown: &str) -> Result<()> {
    let folder = repository_root().join("docs/plots");
    for way in Way::ALL {
        for measure in figures::Measure::ALL {
            let file = folder.join(format!("{}.svg", way.plot(measure)));
            fs::write(file, lines::svg(figures, way, measure))?;
        }
    }
    section::put(&document(), BEGIN, END, markdown)
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
