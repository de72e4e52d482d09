//! `cargo xtask bench --store`: `alula store` under the workload of an object store, in clear text, on both
//! engines.
//!
//! Rules: the server has a core and the load the other; every run begins with an empty store of its own.
//! Every answer is checked by the load, and the first that is wrong ends the run.

mod calls;
mod counts;
mod flushes;
mod million;
mod parts;
mod peers;
mod play;
mod same;
mod tree;

use anyhow::{Context, Result};

use self::play::{Engine, Playing, play_flags};
use super::build::Programs;
use super::machine;
use super::options::Options;
use super::report::measure::{Measure, fine, less, more, told, whole};
use super::suite::{By, Contest, Entry, Suite};
use crate::costs::table::thousands;

pub(super) use counts::Counts;
pub(super) use million::Million;
pub(super) use peers::StorePeers;

/// One way of asking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    engine: Engine,
    is_http2: bool,
    /// Each with a client that asks again when it is answered.
    connections: u64,
    /// Steps of each client.
    steps: u64,
}

/// Steps of the workload in the run of full length, as those have it who measured Riak with it.
const WHOLE_STEPS: u64 = 20_000;

/// The kinds of requests, as the load names them.
const KINDS: [&str; 4] = ["get", "put", "update", "query"];

static MEASURES: [Measure; 16] = [
    less("CPU, µs", fine),
    told("of these in the kernel", fine),
    more("per second", thousands),
    told("requests", thousands),
    told("get p50, µs", whole),
    told("get p99, µs", whole),
    told("get p99.9, µs", whole),
    told("put p50, µs", whole),
    told("put p99, µs", whole),
    told("put p99.9, µs", whole),
    told("update p50, µs", whole),
    told("update p99, µs", whole),
    told("update p99.9, µs", whole),
    told("query p50, µs", whole),
    told("query p99, µs", whole),
    told("query p99.9, µs", whole),
];

/// The workload on both engines.
pub(super) struct Store<'p> {
    playing: Playing<'p>,
    divisor: u64,
}

impl<'p> Store<'p> {
    pub(super) fn new(programs: &'p Programs, options: &Options) -> Self {
        Self { playing: Playing::new(programs), divisor: options.divisor }
    }
}

impl Way {
    /// Such as `fjall, HTTP/1.1, 12 connections`.
    fn title(self) -> String {
        let version = if self.is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        format!("{}, {version}, {} connections", self.engine.name(), self.connections)
    }
}

/// All ways, with some 60 000 requests of all clients, and enough for queries.
fn ways() -> Vec<Way> {
    let ways = [(false, 12), (false, 64), (true, 12)];
    let of = |(is_http2, connections): (bool, u64)| {
        let steps = (20_000 / connections).max(400);
        Engine::ALL.map(|engine| Way { engine, is_http2, connections, steps })
    };
    ways.into_iter().flat_map(of).collect()
}

/// The store is the only one who takes part.
fn alone() -> Vec<Entry> {
    vec![Entry::new("alula store", "alula", By::Alula, "")]
}

impl Suite for Store<'_> {
    type Work = Way;

    fn name(&self) -> &'static str {
        "store"
    }

    fn measures(&self) -> &'static [Measure] {
        &MEASURES
    }

    fn contests(&self) -> Vec<Contest<Way>> {
        let all = ways().into_iter().map(|way| Contest::new(way.title(), way, alone()));
        let whole = ways().into_iter().filter(|way| way.connections == 12 && !way.is_http2).map(|way| {
            let way = Way { steps: WHOLE_STEPS, ..way };
            let title = format!("{}, {} steps", way.title(), thousands(WHOLE_STEPS as f64));
            Contest { is_once: true, ..Contest::new(title, way, alone()) }
        });
        all.chain(whole).collect()
    }

    fn measure(&mut self, contest: &Contest<Way>, _: &Entry, _: usize) -> Result<Vec<f64>> {
        let way = contest.work;
        let running = self.playing.start(way.engine)?;
        let server = &running.server;
        let (before, kernel) = (server.cpu_time()?, server.kernel_seconds()?);
        let flags = play_flags(&way, way.steps / self.divisor);
        let answers = self.playing.answers("play", server, &flags).with_context(|| contest.title.clone())?;
        let requests = answers.number("requests")?;
        let each = |seconds: f64| seconds * 1e6 / requests;
        let cpu = each((server.cpu_time()? - before).as_secs_f64());
        let kernel = each(server.kernel_seconds()? - kernel);
        let mut figures = vec![cpu, kernel, answers.number("per_second")?, requests];
        figures.extend(KINDS.into_iter().flat_map(|kind| answers.within(kind)));
        running.server.stop(true)?;
        Ok(figures)
    }

    fn heading(&self) -> Result<String> {
        heading()
    }
}

fn heading() -> Result<String> {
    machine::sentence("Cargo.lock", &["fjall"], &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_asks_queries_and_both_engines() {
        assert!(ways().iter().all(|way| way.steps >= 400));
        assert_eq!(ways()[1].title(), "fjall, HTTP/1.1, 12 connections");
        assert_eq!(MEASURES.len(), 4 + 3 * KINDS.len());
    }
}
