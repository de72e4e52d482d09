//! `cargo xtask bench --idle`: the resident memory of connections that wait, of servers and of clients.
//!
//! Rules: the program that is measured holds one end of the connections and nothing else; another process has the other end.
//! Memory is the growth of the resident set, read five seconds after the last connection was made. A connection that was closed
//! meanwhile is an error.

mod kinds;
mod markdown;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use self::kinds::{Row, tables};
use super::holding::{Programs, Who, raise_descriptors, stop};
use super::options::Options;
use super::program::Server;
use super::section;
use crate::costs::table::document;

const BEGIN: &str = "<!-- idle: written by `cargo xtask bench --idle --write` -->\n";
const END: &str = "<!-- end of idle -->\n";

/// The time after which a connection has given back what it does not need.
const IDLE: Duration = Duration::from_secs(5);

/// Builds, measures, prints, and writes when told to.
pub(super) fn command(options: &Options) -> Result<()> {
    raise_descriptors()?;
    let programs = Programs::build()?;
    let (start, mut tables) = (Instant::now(), tables());
    for table in &mut tables {
        println!("{}", table.title);
        for row in &mut table.rows {
            measure(&programs, table.who, row, options)?;
        }
    }
    let markdown = markdown::markdown(&tables)?;
    println!("\n{markdown}\n{:.0} s without what was built", start.elapsed().as_secs_f64());
    if options.writes { section::put(&document(), BEGIN, END, &markdown) } else { Ok(()) }
}

/// Measures everybody in one row.
fn measure(programs: &Programs, who: &'static [Who], row: &mut Row, options: &Options) -> Result<()> {
    for who in who.iter().copied() {
        let is_wanted = options.only.as_ref().is_none_or(|only| who == Who::Alula || who.is_named(only));
        if !is_wanted || !row.has(who) {
            continue;
        }
        let octets = one(programs, who, row).with_context(|| format!("{who:?}: {}", row.title))?;
        println!("  {}, {}: {octets:.0} octets each", row.title, who.label());
        row.octets.insert(who, octets);
    }
    Ok(())
}

/// The octets that a connection adds to the resident set.
fn one(programs: &Programs, who: Who, row: &Row) -> Result<f64> {
    if row.is_client {
        let server = programs.server_of_clients(row.kind)?;
        let mut client = programs.client(who, row.kind, row.used, row.connections, server.port)?;
        return grown(&mut client, Server::ask, row.connections);
    }
    let mut server = programs.server(who, row.kind)?;
    let mut holder = programs.holder(row.kind, row.used, row.connections, server.port)?;
    let octets = grown(&mut server, |_| holder.ask(), row.connections)?;
    stop(who, server)?;
    Ok(octets)
}

/// The growth of the resident set while so many connections are made, by their number.
#[expect(clippy::disallowed_methods, reason = "another program comes to rest")]
fn grown(
    measured: &mut Server,
    make: impl FnOnce(&mut Server) -> Result<u64>,
    connections: u64,
) -> Result<f64> {
    thread::sleep(Duration::from_millis(500));
    let (before, open) = (measured.resident()?, measured.descriptors()?);
    ensure!(make(measured)? == connections, "not all connections were made");
    thread::sleep(IDLE);
    let (after, now) = (measured.resident()?, measured.descriptors()?);
    let held = now - open;
    ensure!(held as u64 >= connections, "{held} of {connections} connections are open");
    Ok((after as f64 - before as f64) / connections as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_marks() {
        let text = std::fs::read_to_string(document()).expect("it is there");
        section::between(&text, BEGIN, END, "new").expect("both marks");
    }
}
