//! The things that grow, and the figures of servers at each size.

use std::collections::BTreeMap;

use super::super::holding::Who;
use super::super::spread::Spread;

/// The servers.
pub(super) const WHO: [Who; 4] = [Who::Alula, Who::Hyper, Who::H2o, Who::Nginx];

/// A thing that grows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Way {
    Http2Connections,
    Http1Connections,
    Streams,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Measure {
    Cpu,
    Memory,
}

/// One server at one size.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Point {
    pub(super) way: Way,
    pub(super) size: u64,
    pub(super) who: Who,
}

/// The figures of a point, round by round.
#[derive(Debug, Default)]
struct Rounds {
    cpu: Vec<f64>,
    mebibytes: Vec<f64>,
}

/// Everything of a run.
#[derive(Debug, Default)]
pub(super) struct Figures(BTreeMap<Point, Rounds>);

/// The streams in flight on each of many connections of HTTP/2.
const IN_FLIGHT: u64 = 10;

/// The requests of a point, at least.
const REQUESTS: u64 = 60_000;

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Http2Connections, Self::Streams, Self::Http1Connections];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Http2Connections => "Connections of HTTP/2 with 10 streams each",
            Self::Http1Connections => "Connections of HTTP/1.1 with 1 request each",
            Self::Streams => "Streams of one connection of HTTP/2",
        }
    }

    pub(super) const fn is_http2(self) -> bool {
        !matches!(self, Self::Http1Connections)
    }

    /// Returns the streams that a server allows on a connection.
    pub(super) const fn streams(self) -> u32 {
        if matches!(self, Self::Streams) { 1000 } else { 100 }
    }

    pub(super) fn sizes(self) -> Vec<u64> {
        match self {
            Self::Streams => vec![1, 10, 100, 1000],
            _ => vec![1, 10, 100, 1000, 5000, 10_000],
        }
    }

    /// Returns the connections of a point.
    pub(super) const fn connections(self, size: u64) -> u64 {
        if matches!(self, Self::Streams) { 1 } else { size }
    }

    /// The name of a plot.
    pub(super) fn plot(self, measure: Measure) -> String {
        let way = match self {
            Self::Http2Connections => "connections",
            Self::Http1Connections => "h1-connections",
            Self::Streams => "streams",
        };
        format!("growth-{way}-{}", if measure == Measure::Cpu { "cpu" } else { "memory" })
    }
}

impl Measure {
    pub(super) const ALL: [Self; 2] = [Self::Cpu, Self::Memory];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU of the server per request, µs",
            Self::Memory => "resident memory at its most, MiB",
        }
    }
}

impl Point {
    /// Connections, and requests in flight on each.
    pub(super) const fn load(self) -> (u64, u64) {
        let in_flight = match self.way {
            Way::Http2Connections => IN_FLIGHT,
            Way::Http1Connections => 1,
            Way::Streams => self.size,
        };
        (self.way.connections(self.size), in_flight)
    }

    /// Whole batches, and some on each connection.
    pub(super) fn requests(self) -> u64 {
        let (connections, in_flight) = self.load();
        let batch = connections * in_flight;
        batch * (REQUESTS / batch).max(2)
    }
}

impl Figures {
    pub(super) fn add(&mut self, point: Point, cpu: f64, mebibytes: f64) {
        let rounds = self.0.entry(point).or_default();
        rounds.cpu.push(cpu);
        rounds.mebibytes.push(mebibytes);
    }

    pub(super) fn get(&self, point: Point, measure: Measure) -> Option<Spread> {
        let rounds = self.0.get(&point)?;
        Spread::of(match measure {
            Measure::Cpu => rounds.cpu.iter().copied(),
            Measure::Memory => rounds.mebibytes.iter().copied(),
        })
    }

    /// The CPU time of a request at one size beside another, round by round.
    pub(super) fn growth(&self, who: Who, way: Way, from: u64, to: u64) -> Option<Spread> {
        let at = |size| self.0.get(&Point { way, size, who });
        Spread::of_ratios(&at(to)?.cpu, &at(from)?.cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_in_whole_batches() {
        for way in Way::ALL {
            for size in way.sizes() {
                let point = Point { way, size, who: Who::Alula };
                let (connections, in_flight) = point.load();
                assert_eq!(point.requests() % (connections * in_flight), 0);
                assert!(point.requests() >= 20_000);
            }
        }
    }

    #[test]
    fn growth_is_told_round_by_round() {
        let mut figures = Figures::default();
        for (size, cpu) in [(10, 2.0), (5000, 3.0), (10, 4.0), (5000, 8.0)] {
            figures.add(Point { way: Way::Http2Connections, size, who: Who::Alula }, cpu, 1.0);
        }
        let growth = figures.growth(Who::Alula, Way::Http2Connections, 10, 5000).expect("both sizes");
        assert_eq!((growth.least, growth.most), (1.5, 2.0));
    }
}
