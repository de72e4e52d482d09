//! The ways in which the store is asked, and the figures of each by round.

use std::collections::BTreeMap;
use std::fmt;

use super::super::spread::Spread;

/// An engine of `alula store`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Engine {
    Memory,
    Fjall,
}

/// One way of asking.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Cell {
    pub(super) engine: Engine,
    pub(super) is_http2: bool,
    /// Each with a client that asks again when it is answered.
    pub(super) connections: u64,
}

/// The figures of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) requests: f64,
    pub(super) per_second: f64,
    /// Microseconds of user and system time per request, and those of the kernel among them.
    pub(super) cpu: f64,
    pub(super) kernel: f64,
    /// Microseconds within which half, 99 % and 99.9 % of the answers came, by kind of request.
    pub(super) within: BTreeMap<&'static str, [f64; 3]>,
}

/// All runs of all cells.
#[derive(Debug, Default)]
pub(super) struct Rounds(BTreeMap<Cell, Vec<Run>>);

/// The kinds of requests, as the load names them.
pub(super) const KINDS: [&str; 4] = ["get", "put", "update", "query"];

impl Engine {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Fjall => "fjall",
        }
    }
}

impl Cell {
    /// Such as `fjall, HTTP/1.1, 12`.
    pub(super) fn label(self) -> String {
        let version = if self.is_http2 { "HTTP/2" } else { "HTTP/1.1" };
        format!("{}, {version}, {}", self.engine.name(), self.connections)
    }

    /// Steps of each client: some 60 000 requests of all, and enough for queries.
    pub(super) fn steps(self) -> u64 {
        (20_000 / self.connections).max(400)
    }

    /// Returns true for the ways in which Riak was measured.
    pub(super) fn is_whole(self) -> bool {
        self.connections == 12 && !self.is_http2
    }
}

/// All of them, in the order in which they take turns.
pub(super) fn cells() -> Vec<Cell> {
    let ways = [(false, 12), (false, 64), (true, 12)];
    let engines = [Engine::Memory, Engine::Fjall];
    let of = |(is_http2, connections)| engines.map(|engine| Cell { engine, is_http2, connections });
    ways.into_iter().flat_map(of).collect()
}

impl Rounds {
    pub(super) fn add(&mut self, cell: Cell, run: Run) {
        self.0.entry(cell).or_default().push(run);
    }

    /// The median of a figure, and its least and most.
    pub(super) fn spread(&self, cell: Cell, figure: impl Fn(&Run) -> f64) -> Option<Spread> {
        Spread::of(self.0.get(&cell)?.iter().map(figure))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} per second, {:.1} µs of CPU", self.per_second, self.cpu)?;
        write!(f, " ({:.1} in the kernel)", self.kernel)?;
        self.within
            .iter()
            .try_for_each(|(kind, [half, most, _])| write!(f, ", {kind} {half:.0}/{most:.0} µs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_asks_queries_and_both_engines() {
        let cells = cells();
        assert!(cells.iter().all(|cell| cell.steps() >= 400));
        assert_eq!(cells.iter().filter(|cell| cell.is_whole()).count(), 2);
        assert_eq!(cells[0].label(), "memory, HTTP/1.1, 12");
    }

    #[test]
    fn figures_of_rounds_are_told_by_their_median() {
        let (cell, mut rounds) = (cells()[0], Rounds::default());
        for cpu in [3.0, 1.0, 2.0] {
            rounds.add(cell, Run { cpu, ..Run::default() });
        }
        assert_eq!(rounds.spread(cell, |run| run.cpu).expect("three rounds").median, 2.0);
    }
}
