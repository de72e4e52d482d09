//! The figures of servers, by cell and server, round by round.

use std::collections::BTreeMap;

use super::super::spread::Spread;
use super::matrix::{Cell, Who};

/// Everything of a run.
#[derive(Debug, Default)]
pub(super) struct Figures(BTreeMap<(Cell, Who), Rounds>);

/// One server's in one cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// Microseconds of user and system time per request.
    pub(super) cpu: Vec<f64>,
    pub(super) per_second: Vec<f64>,
}

/// A cell in which a peer took less CPU time per request.
pub(super) struct Behind {
    pub(super) cell: Cell,
    pub(super) own: Who,
    pub(super) peer: Who,
    /// The quotient of ours and the peer's, round by round.
    pub(super) times: Spread,
}

impl Figures {
    pub(super) fn add(&mut self, cell: Cell, who: Who, cpu: f64, per_second: f64) {
        let rounds = self.0.entry((cell, who)).or_default();
        rounds.cpu.push(cpu);
        rounds.per_second.push(per_second);
    }

    /// Notes a round in which a server has not answered all that it was asked.
    pub(super) fn lose(&mut self, cell: Cell, who: Who) {
        self.add(cell, who, f64::NAN, f64::NAN);
    }

    /// The rounds that were lost: cell, server and how many.
    pub(super) fn lost(&self) -> impl Iterator<Item = (Cell, Who, usize)> {
        let lost = |rounds: &Rounds| rounds.cpu.iter().filter(|cpu| cpu.is_nan()).count();
        let all = self.0.iter().map(move |((cell, who), rounds)| (*cell, *who, lost(rounds)));
        all.filter(|(_, _, lost)| *lost > 0)
    }

    pub(super) fn get(&self, cell: Cell, who: Who) -> Option<&Rounds> {
        self.0.get(&(cell, who))
    }

    /// The best peer of each cell in which one is ahead.
    pub(super) fn behind(&self) -> Vec<Behind> {
        let own = self.0.iter().filter(|((_, who), _)| who.is_ours());
        own.filter_map(|((cell, who), rounds)| self.best_ahead(*cell, *who, rounds)).collect()
    }

    fn best_ahead(&self, cell: Cell, own: Who, rounds: &Rounds) -> Option<Behind> {
        let peers = Who::ALL.into_iter().filter(|who| !who.is_ours());
        let ahead = peers.filter_map(|peer| {
            let times = Spread::of_ratios(&rounds.cpu, &self.get(cell, peer)?.cpu)?;
            (times.median > 1.0).then_some(Behind { cell, own, peer, times })
        });
        ahead.max_by(|one, other| one.times.median.total_cmp(&other.times.median))
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix::cells;
    use super::*;

    #[test]
    fn a_lost_round_counts_for_nobody() {
        let (cell, mut figures) = (cells(true)[0], Figures::default());
        for round in 0..2 {
            figures.add(cell, Who::Alula, 3.0, 1000.0);
            match round {
                0 => figures.lose(cell, Who::Go),
                _ => figures.add(cell, Who::Go, 1.5, 1000.0),
            }
        }
        assert_eq!(figures.lost().collect::<Vec<_>>(), [(cell, Who::Go, 1)]);
        assert_eq!(figures.behind()[0].times.median, 2.0);
    }

    #[test]
    fn the_best_of_those_ahead_is_told() {
        let (cell, mut figures) = (cells(true)[0], Figures::default());
        for (who, cpu) in [(Who::Alula, 3.0), (Who::Hyper, 2.0), (Who::Nginx, 1.5), (Who::Go, 9.0)] {
            figures.add(cell, who, cpu, 1000.0);
        }
        let behind = figures.behind();
        assert_eq!(behind.len(), 1);
        assert_eq!((behind[0].peer, behind[0].times.median), (Who::Nginx, 2.0));
    }
}
