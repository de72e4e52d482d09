//! `cargo xtask bench --growth`: servers with ever more connections, and ever more streams on one.
//!
//! Rules: each contest has servers of its own, started anew, which share one core with h2load; CPU time is
//! that of the server's process, less what its connections took to be opened; memory is the most that was
//! resident.

use std::fs;

use anyhow::{Context, Result};

use super::{Holding, Kind, STREAMS, stop};
use crate::bench::build::Programs;
use crate::bench::load::h2load;
use crate::bench::machine;
use crate::bench::options::Options;
use crate::bench::report::measure::{Measure, fine, less};
use crate::bench::suite::{By, Contest, Entry, Gaps, Suite};

/// So many connections with so many requests in flight on each.
#[derive(Clone, Copy, Debug)]
pub(in crate::bench) struct Size {
    is_http2: bool,
    connections: u64,
    in_flight: u64,
}

/// The requests of a contest, at least.
const REQUESTS: u64 = 60_000;

/// The most connections of a quick run.
const QUICK_MAX: u64 = 5000;

/// The length that the system allows to the queue of a listener. h2load opens all connections at once, and
/// the servers ask for as many places as there may be: where more come than there are places, connections are
/// lost, and the figures have no meaning.
const QUEUE: &str = "/proc/sys/net/core/somaxconn";

static MEASURES: [Measure; 2] = [less("CPU, µs", fine), less("resident at most, MiB", fine)];

/// The costs of many connections and streams.
pub(in crate::bench) struct Growth<'p> {
    holding: Holding<'p>,
    connections_max: u64,
}

impl<'p> Growth<'p> {
    pub(in crate::bench) fn new(programs: &'p Programs, options: &Options) -> Result<Self> {
        let places = fs::read_to_string(QUEUE).with_context(|| format!("{QUEUE} cannot be read"))?;
        let places: u64 = places.trim().parse().with_context(|| format!("{QUEUE} holds no number"))?;
        let most = if options.is_quick() { QUICK_MAX } else { u64::MAX };
        println!("more connections than the {places} of {QUEUE} are left out");
        Ok(Self { holding: Holding::new(programs)?, connections_max: most.min(places) })
    }
}

/// Ever more connections of both versions, and ever more streams.
fn sizes() -> Vec<Size> {
    let connections = [1, 10, 100, 1000, 5000, 10_000];
    let of = |is_http2, connections, in_flight| Size { is_http2, connections, in_flight };
    let http2 = connections.map(|connections| of(true, connections, 10));
    let streams = [1, 10, 100, 1000].map(|in_flight| of(true, 1, in_flight));
    let http1 = connections.map(|connections| of(false, connections, 1));
    // One connection with ten streams stands among the streams.
    http2.into_iter().filter(|size| size.connections > 1).chain(streams).chain(http1).collect()
}

impl Size {
    fn title(&self) -> String {
        let version = if self.is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        format!("{version}, {} × {}", self.connections, self.in_flight)
    }

    /// Whole batches, and some on each connection.
    fn requests(&self) -> u64 {
        let batch = self.connections * self.in_flight;
        batch * (REQUESTS / batch).max(2)
    }
}

impl Suite for Growth<'_> {
    type Work = Size;

    fn name(&self) -> &'static str {
        "growth"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Size>> {
        let entries = vec![
            Entry::new("Alula", "alula", By::Alula, ""),
            Entry::new("hyper", "hyper", By::Rust, ""),
            Entry::new("h2o", "h2o", By::H2o, ""),
            Entry::new("nginx", "nginx", By::Nginx, ""),
        ];
        let sizes = sizes().into_iter().filter(|size| size.connections <= self.connections_max);
        sizes.map(|size| Contest::new(size.title(), size, entries.clone())).collect()
    }

    fn measure(&mut self, contest: &Contest<Size>, entry: &Entry, _: usize) -> Result<Vec<f64>> {
        let Size { is_http2, connections, in_flight } = contest.work;
        let streams = u32::try_from(in_flight)?.max(STREAMS);
        let server = self.holding.server(entry, Kind { is_http2, is_secure: false }, streams)?;
        let url = format!("http://127.0.0.1:{}/memory", server.port);
        let drive = |numbers| h2load(&server, !is_http2, numbers, &[&url]);
        // A server that has just started has met no request.
        drive([100, 1, 1])?;
        let idle = server.cpu_time()?;
        drive([connections, connections, 1])?;
        let before = server.cpu_time()?;
        let requests = contest.work.requests();
        drive([requests, connections, in_flight])?;
        let cpu = (server.cpu_time()? - before).as_secs_f64() - (before - idle).as_secs_f64();
        let mebibytes = server.resident_most()? as f64 / f64::from(1 << 20);
        stop(entry, server)?;
        Ok(vec![cpu * 1e6 / (requests - connections) as f64, mebibytes])
    }

    fn heading(&self) -> Result<String> {
        machine::sentence("bench-peers/rust/Cargo.lock", &["hyper", "tokio"], &["nginx", "h2o", "h2load"])
    }

    fn gaps(&self, _: &Contest<Size>) -> Gaps {
        Gaps::All
    }

    fn tries(&self) -> usize {
        3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_in_whole_batches() {
        for size in sizes() {
            assert_eq!(size.requests() % (size.connections * size.in_flight), 0);
            assert!(size.requests() >= 20_000);
        }
    }
}
