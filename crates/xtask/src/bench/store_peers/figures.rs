//! The figures of all servers, by cell, round by round.

use std::collections::BTreeMap;

use super::super::spread::Spread;
use super::cell::{Cell, Who};
use super::flushes::Flushes;

/// A server's turn in a cell. Times are in microseconds, memory is in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// User and system time of the server per request.
    pub(super) cpu: f64,
    /// The same of the load.
    pub(super) load_cpu: f64,
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) memory: f64,
}

#[derive(Default)]
pub(super) struct Figures {
    turns: BTreeMap<(Cell, Who), Vec<Turn>>,
    flushes: BTreeMap<Who, Flushes>,
    floor: String,
}

impl Figures {
    pub(super) fn add(&mut self, cell: Cell, who: Who, turn: Turn) {
        self.turns.entry((cell, who)).or_default().push(turn);
    }

    pub(super) fn keep_flushes(&mut self, who: Who, flushes: Flushes) {
        self.flushes.insert(who, flushes);
    }

    pub(super) fn keep_floor(&mut self, floor: String) {
        self.floor = floor;
    }

    /// Lines of writes a batch, writes per second, and microseconds a batch, of fjall alone.
    pub(super) fn floor(&self) -> &str {
        &self.floor
    }

    /// Flushes per hundred writes, by the number of connections.
    pub(super) fn flushes(&self, who: Who) -> &[f64] {
        self.flushes.get(&who).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has(&self, cell: Cell, who: Who) -> bool {
        self.turns.contains_key(&(cell, who))
    }

    pub(super) fn values(&self, cell: Cell, who: Who, value: impl Fn(&Turn) -> f64) -> Vec<f64> {
        self.turns.get(&(cell, who)).into_iter().flatten().map(value).collect()
    }

    pub(super) fn spread(&self, cell: Cell, who: Who, value: impl Fn(&Turn) -> f64) -> Option<Spread> {
        Spread::of(self.values(cell, who, value))
    }

    /// The peers that were ahead in a cell by the medians of the quotients of the rounds, and these.
    pub(super) fn ahead(&self, cell: Cell, value: impl Fn(&Turn) -> f64 + Copy) -> Vec<(Who, Spread)> {
        let own = self.values(cell, Who::Alula, value);
        let peers = Who::ALL.into_iter().filter(|who| *who != Who::Alula);
        let times =
            peers.filter_map(|who| Some((who, Spread::of_ratios(&own, &self.values(cell, who, value))?)));
        times.filter(|(_, times)| times.median > 1.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::cells;
    use super::*;

    #[test]
    fn only_who_took_less_is_ahead() {
        let (mut figures, cell) = (Figures::default(), cells().next().expect("a cell"));
        for (who, cpu) in [(Who::Alula, 4.0), (Who::Axum, 5.0), (Who::Nginx, 2.0)] {
            figures.add(
                cell,
                who,
                Turn { cpu, load_cpu: 1.0, per_second: 1.0, p50: 1.0, p99: 1.0, memory: 1.0 },
            );
        }
        let ahead = figures.ahead(cell, |turn| turn.cpu);
        assert_eq!(ahead.len(), 1);
        assert_eq!((ahead[0].0, ahead[0].1.median), (Who::Nginx, 2.0));
        assert!(figures.ahead(cell, |turn| turn.p99).is_empty());
    }
}
