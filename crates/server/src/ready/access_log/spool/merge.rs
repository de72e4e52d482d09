//! The lines of several threads as one sequence, in the order of their times.
//!
//! Rule: a line later than the cut waits for the next round, since an earlier one of another thread may come
//! until then; it waits for one round at most, whatever the clock does. The lines of one thread never change
//! places.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::stamped::StampedLines;

/// The lines of one thread on their way to the output.
#[derive(Default)]
pub(super) struct Source {
    /// The lines that were carried over from the last round.
    carried: StampedLines,
    /// The lines that were taken from the thread in this round.
    pub(super) fresh: StampedLines,
}

impl Source {
    /// Returns the bytes in memory, which count for the thread.
    pub(super) fn held(&self) -> usize {
        self.carried.unread() + self.fresh.unread()
    }

    /// Returns the time of the next line before the cut of this round.
    fn due(&self, cut: u64) -> Option<u64> {
        self.carried.next_time().or_else(|| self.fresh.next_time().filter(|time| *time <= cut))
    }

    fn read(&mut self) -> Option<&[u8]> {
        if self.carried.unread() > 0 { self.carried.read() } else { self.fresh.read() }
    }

    /// Keeps the rest for the next round. Returns true if there is something.
    fn carry(&mut self) -> bool {
        self.carried.keep_rest(&mut self.fresh);
        self.carried.unread() > 0
    }
}

/// The next line of each source, the earliest first.
#[derive(Default)]
pub(super) struct Merge(BinaryHeap<Reverse<(u64, usize)>>);

impl Merge {
    /// Passes the lines before the cut to `write`, the earliest first. Returns true if later ones are left.
    pub(super) fn run(&mut self, sources: &mut [Source], cut: u64, mut write: impl FnMut(&[u8])) -> bool {
        let first = |(place, source): (usize, &Source)| source.due(cut).map(|time| Reverse((time, place)));
        self.0.extend(sources.iter().enumerate().filter_map(first));
        while let Some(Reverse((_, place))) = self.0.pop() {
            if let Some(line) = sources[place].read() {
                write(line);
            }
            self.0.extend(sources[place].due(cut).map(|time| Reverse((time, place))));
        }
        // All of them, not up to the first that has some.
        sources.iter_mut().fold(false, |are_left, source| source.carry() | are_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a round over sources with lines of these times; a line is its time and its source.
    fn round(sources: &mut [Source], fresh: &[&[u64]], cut: u64) -> (Vec<String>, bool) {
        for (place, times) in fresh.iter().enumerate() {
            for time in *times {
                sources[place]
                    .fresh
                    .push(*time, |line| line.extend_from_slice(format!("{time}.{place}").as_bytes()));
            }
        }
        let mut written = Vec::new();
        let are_left = Merge::default()
            .run(sources, cut, |line| written.push(String::from_utf8(line.to_vec()).unwrap()));
        (written, are_left)
    }

    fn sources() -> Vec<Source> {
        (0..3).map(|_| Source::default()).collect()
    }

    #[test]
    fn the_earliest_line_is_the_first() {
        let mut sources = sources();
        let (written, are_left) = round(&mut sources, &[&[1, 4, 5], &[], &[2, 3, 5, 6]], 6);
        assert_eq!(written, ["1.0", "2.2", "3.2", "4.0", "5.0", "5.2", "6.2"]);
        assert!(!are_left);
    }

    #[test]
    fn a_line_after_the_cut_waits_for_those_before_it() {
        let mut sources = sources();
        let (written, are_left) = round(&mut sources, &[&[1, 12], &[2, 11, 14]], 10);
        assert_eq!((written, are_left), (vec!["1.0".into(), "2.1".into()], true));
        assert!(sources[0].held() > 0 && sources[1].held() > sources[0].held() && sources[2].held() == 0);
        let (written, are_left) = round(&mut sources, &[&[13], &[15], &[9, 10]], 20);
        assert_eq!(written, ["9.2", "10.2", "11.1", "12.0", "13.0", "14.1", "15.1"]);
        assert!(!are_left && sources.iter().all(|source| source.held() == 0));
    }

    /// A clock that was put back makes lines look later than they are.
    #[test]
    fn a_line_waits_for_one_round_at_most() {
        let mut sources = sources();
        let (written, _) = round(&mut sources, &[&[1, 900, 2]], 10);
        assert_eq!(written, ["1.0"]);
        let (written, are_left) = round(&mut sources, &[&[3], &[4]], 20);
        assert_eq!(written, ["4.1", "900.0", "2.0", "3.0"], "its thread's order is kept");
        assert!(!are_left);
    }
}
