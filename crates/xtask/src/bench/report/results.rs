//! The figures of a run: of each contest and of everybody in it, round by round.

use super::measure::{Better, Measure};
use super::spread::Spread;

/// Everything of a run.
#[derive(Debug)]
pub(crate) struct Results {
    measures: &'static [Measure],
    rows: Vec<Row>,
}

/// The figures of one of those who take part in a contest.
#[derive(Debug)]
struct Row {
    contest: String,
    who: &'static str,
    /// By measure, then by round; a round that gave none has a figure that is no number.
    figures: Vec<Vec<f64>>,
}

/// A figure in which somebody else is ahead of Alula.
#[derive(Debug, PartialEq)]
pub(crate) struct Ahead<'r> {
    pub(crate) contest: &'r str,
    pub(crate) own: &'static str,
    pub(crate) peer: &'static str,
    pub(crate) measure: &'static str,
    /// The quotient of the worse and the better figure, round by round; none beside nothing.
    pub(crate) times: Option<Spread>,
}

/// A difference that a start may leave behind.
const ALMOST_NONE: f64 = 0.005;

/// Returns true if it is Alula under one name or another.
pub(crate) fn is_ours(who: &str) -> bool {
    who.trim_start_matches('`').to_lowercase().starts_with("alula")
}

/// Returns true if it only moves as many bytes.
pub(crate) fn is_floor(who: &str) -> bool {
    who.starts_with("floor") || who.ends_with("alone")
}

impl Results {
    pub(crate) const fn new(measures: &'static [Measure]) -> Self {
        Self { measures, rows: Vec::new() }
    }

    pub(crate) const fn measures(&self) -> &'static [Measure] {
        self.measures
    }

    /// Adds a round; figures that the round did not give are no numbers.
    pub(crate) fn add(&mut self, contest: &str, who: &'static str, round: &[f64]) {
        let figures = &mut self.row(contest, who).figures;
        for (place, rounds) in figures.iter_mut().enumerate() {
            rounds.push(round.get(place).copied().unwrap_or(f64::NAN));
        }
    }

    /// Sets a figure that does not depend on the round.
    pub(crate) fn set(&mut self, contest: &str, who: &'static str, measure: &str, figure: f64) {
        if let Some(place) = self.measures.iter().position(|own| own.name == measure) {
            self.row(contest, who).figures[place] = vec![figure];
        }
    }

    fn row(&mut self, contest: &str, who: &'static str) -> &mut Row {
        let place = self.rows.iter().position(|row| row.contest == contest && row.who == who);
        let place = place.unwrap_or_else(|| {
            let figures = vec![Vec::new(); self.measures.len()];
            self.rows.push(Row { contest: contest.to_owned(), who, figures });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    /// The contests, in the order in which they were first measured.
    pub(crate) fn contests(&self) -> Vec<&str> {
        let mut contests: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !contests.contains(&&*row.contest) {
                contests.push(&row.contest);
            }
        }
        contests
    }

    /// Everybody in a contest with the spreads of all figures.
    pub(crate) fn of<'r>(
        &'r self,
        contest: &'r str,
    ) -> impl Iterator<Item = (&'static str, Vec<Option<Spread>>)> + 'r {
        let spreads =
            |row: &Row| row.figures.iter().map(|rounds| Spread::of(rounds.iter().copied())).collect();
        self.in_contest(contest).map(move |row| (row.who, spreads(row)))
    }

    fn in_contest<'r>(&'r self, contest: &'r str) -> impl Iterator<Item = &'r Row> {
        self.rows.iter().filter(move |row| row.contest == contest)
    }

    /// The figure of everybody beside that of the first of Alula's, round by round.
    pub(crate) fn beside_own(&self, contest: &str, who: &str, place: usize) -> Option<Spread> {
        let own = self.in_contest(contest).find(|row| is_ours(row.who))?;
        let row = self.in_contest(contest).find(|row| row.who == who)?;
        Spread::of_ratios(&row.figures[place], &own.figures[place])
    }

    /// The rounds that were lost: contest, who, and how many of how many.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (&str, &'static str, usize, usize)> {
        self.rows.iter().filter_map(|row| {
            let rounds = row.figures.iter().map(Vec::len).max()?;
            let is_lost = |round: &usize| {
                let all = row.figures.iter().filter_map(|figures| figures.get(*round));
                all.clone().next().is_some() && all.clone().all(|figure| figure.is_nan())
            };
            let lost = (0..rounds).filter(is_lost).count();
            (lost > 0).then_some((&*row.contest, row.who, lost, rounds))
        })
    }

    /// The best peer in each figure in which one is ahead.
    pub(crate) fn ahead(&self) -> Vec<Ahead<'_>> {
        let mut ahead = Vec::new();
        for own in self.rows.iter().filter(|row| is_ours(row.who)) {
            for (place, measure) in self.measures.iter().enumerate() {
                let peers = self.in_contest(&own.contest);
                let peers = peers.filter(|row| !is_ours(row.who) && !is_floor(row.who));
                let worse = peers.filter_map(|peer| worse(own, peer, place, measure));
                ahead.extend(worse.max_by(|one, other| factor(one).total_cmp(&factor(other))));
            }
        }
        ahead
    }
}

fn factor(ahead: &Ahead<'_>) -> f64 {
    ahead.times.map_or(f64::INFINITY, |times| times.median)
}

fn worse<'r>(own: &'r Row, peer: &Row, place: usize, measure: &Measure) -> Option<Ahead<'r>> {
    let figures = match measure.better {
        Better::Less => [&own.figures[place], &peer.figures[place]],
        Better::More => [&peer.figures[place], &own.figures[place]],
        Better::Neither => return None,
    };
    let [more, less] = figures.map(|rounds| Spread::of(rounds.iter().copied()));
    let is_worse = more?.median > less?.median + if less?.median < 1.0 { ALMOST_NONE } else { 0.0 };
    let times = Spread::of_ratios(figures[0], figures[1]);
    let is_ahead = is_worse && times.is_none_or(|times| times.median > 1.0);
    let (contest, own, peer, measure) = (&*own.contest, own.who, peer.who, measure.name);
    is_ahead.then_some(Ahead { contest, own, peer, measure, times })
}

#[cfg(test)]
mod tests {
    use super::super::measure::{few, fine, less, more};
    use super::*;

    static MEASURES: [Measure; 3] =
        [more("per second", fine), less("CPU, µs", fine), less("allocations", few)];

    #[test]
    fn the_best_of_those_ahead_is_told() {
        let mut results = Results::new(&MEASURES);
        for (who, cpu) in [("Alula", 3.0), ("hyper", 2.0), ("nginx", 1.5), ("Go", 9.0), ("floor, tokio", 0.1)]
        {
            results.add("memory", who, &[1.0, cpu]);
        }
        results.set("memory", "Alula", "allocations", 0.004);
        results.set("memory", "nginx", "allocations", 0.0);
        let ahead = results.ahead();
        assert_eq!(ahead.len(), 1, "{ahead:?}");
        assert_eq!((ahead[0].peer, ahead[0].measure, factor(&ahead[0])), ("nginx", "CPU, µs", 2.0));
        results.set("memory", "Alula", "allocations", 1.0);
        assert_eq!((results.ahead()[1].peer, results.ahead()[1].times), ("nginx", None));
    }

    #[test]
    fn a_lost_round_counts_for_nobody() {
        let mut results = Results::new(&MEASURES);
        for go in [&[][..], &[1000.0, 1.5]] {
            results.add("memory", "Alula", &[1000.0, 3.0]);
            results.add("memory", "Go", go);
        }
        assert_eq!(results.lost().collect::<Vec<_>>(), [("memory", "Go", 1, 2)]);
        assert_eq!(factor(&results.ahead()[0]), 2.0);
    }
}
