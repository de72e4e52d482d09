//! `cargo xtask bench --idle`: the resident memory of connections that wait, of servers and of clients.
//!
//! Rules: the program that is measured holds one end of the connections and nothing else; another process has
//! the other end. Memory is the growth of the resident set, read five seconds after the last connection was
//! made. A connection that was closed meanwhile is an error.

use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::{Holding, Kind, STREAMS, stop};
use crate::bench::build::Programs;
use crate::bench::machine;
use crate::bench::program::Server;
use crate::bench::report::measure::{Measure, less, whole};
use crate::bench::suite::{By, Contest, Entry, Suite};

/// Connections of one kind, used in one way.
#[derive(Clone, Copy, Debug)]
pub(in crate::bench) struct Held {
    kind: Kind,
    /// As `examples/idle` of `crates/bench` has it.
    used: &'static str,
    is_client: bool,
    connections: u64,
}

/// The connections of most contests, those that are half open, and those with streams that are stalled.
const MANY: u64 = 4000;
const HALF_OPEN: u64 = 300;
const STALLED: u64 = 20;

/// The time after which a connection has given back what it does not need.
const IDLE: Duration = Duration::from_secs(5);

static MEASURES: [Measure; 1] = [less("resident bytes of a connection", whole)];

/// The memory of connections that wait.
pub(in crate::bench) struct Idle<'p>(Holding<'p>);

impl<'p> Idle<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs) -> Result<Self> {
        Holding::new(programs).map(Self)
    }

    /// The bytes that a connection adds to the resident set.
    fn one(&self, held: &Held, entry: &Entry) -> Result<f64> {
        let Held { kind, used, is_client, connections } = *held;
        if is_client {
            let server = self.0.server_of_clients(kind)?;
            let mut client = self.0.client(entry, kind, used, connections, server.port)?;
            return grown(&mut client, Server::ask, connections);
        }
        let mut server = self.0.server(entry, kind, STREAMS)?;
        let mut holder = self.0.holder(kind, used, connections, server.port)?;
        let bytes = grown(&mut server, |_| holder.ask(), connections)?;
        stop(entry, server)?;
        Ok(bytes)
    }
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

/// Everything that is measured.
fn all() -> Vec<Held> {
    let of = |kind, used, is_client, connections| Held { kind, used, is_client, connections };
    let clear = |is_http2| Kind { is_http2, is_secure: false };
    let eight = |is_client| {
        Kind::all().flat_map(move |kind| ["unused", "once"].map(|used| of(kind, used, is_client, MANY)))
    };
    let half = [(false, "unused"), (false, "half"), (true, "half")]
        .map(|(is_http2, used)| of(clear(is_http2), used, false, HALF_OPEN));
    let stalled =
        [false, true].map(|is_secure| of(Kind { is_http2: true, is_secure }, "stalled", false, STALLED));
    eight(false).chain(half).chain(stalled).chain(eight(true)).collect()
}

impl Held {
    fn title(&self) -> String {
        let role = if self.is_client { "Client" } else { "Server" };
        let used = match self.used {
            "unused" => "unused",
            "once" => "used once",
            "half" => "half a head or preface",
            _ => "100 stalled streams",
        };
        format!("{role}: {} connections of {}, {used}", self.connections, self.kind.label())
    }

    /// Bare rustls has no clear text and no HTTP, connections of Alula's client are opened by requests, and
    /// nginx is no client.
    fn entries(&self) -> Vec<Entry> {
        let is_plain = self.connections == MANY;
        let mut entries = Vec::new();
        if !(self.is_client && self.used == "unused") {
            entries.push(Entry::new("Alula", "alula", By::Alula, ""));
        }
        if self.kind.is_secure && is_plain {
            entries.push(Entry::new("rustls alone", "rustls", By::Rust, ""));
        }
        entries.push(Entry::new("hyper", "hyper", By::Rust, ""));
        if !self.is_client {
            entries.push(Entry::new("nginx", "nginx", By::Nginx, ""));
        }
        entries
    }
}

impl Suite for Idle<'_> {
    type Work = Held;

    fn name(&self) -> &'static str {
        "idle"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Held>> {
        all().into_iter().map(|held| Contest::new(held.title(), held, held.entries())).collect()
    }

    fn measure(&mut self, contest: &Contest<Held>, entry: &Entry, _: usize) -> Result<Vec<f64>> {
        Ok(vec![self.one(&contest.work, entry)?])
    }

    fn heading(&self) -> Result<String> {
        machine::sentence("bench-peers/rust/Cargo.lock", &["hyper", "rustls", "tokio"], &["nginx"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_clients_have_eight_kinds() {
        let of = |is_client| all().into_iter().filter(move |held| held.is_client == is_client);
        assert_eq!((of(false).count(), of(true).count()), (13, 8));
        let labels = |held: &Held| held.entries().iter().map(|own| own.label).collect::<Vec<_>>();
        assert_eq!(labels(&all()[4]), ["Alula", "rustls alone", "hyper", "nginx"]);
        assert_eq!(labels(&of(true).next().expect("eight")), ["hyper"]);
    }
}
