//! The points of a recording at which the power is lost.

use std::collections::HashSet;

use alula_power::{Entry, Recording};
use alula_testkit::Rng;

/// The points of a recording.
#[derive(Default)]
pub(crate) struct Cuts {
    count: usize,
    /// The entries before the first write.
    opening: usize,
    /// The points between the making of a file of a table and the rename that makes it a part of the table.
    in_tables: Vec<usize>,
    /// The points beside changes of names and lengths.
    beside_names: Vec<usize>,
    /// The points before flushes.
    before_flushes: Vec<usize>,
}

impl Cuts {
    pub(crate) fn of(recording: &Recording) -> Self {
        let entries = recording.entries();
        let is_note = |entry: &Entry| matches!(entry, Entry::Note { .. });
        let opening = entries.iter().position(is_note).unwrap_or(entries.len());
        let mut cuts = Self { count: entries.len() + 1, opening, ..Self::default() };
        let mut open = HashSet::new();
        for (index, entry) in entries.iter().enumerate() {
            follow_tables(entry, &mut open);
            if !open.is_empty() {
                cuts.in_tables.push(index + 1);
            }
            if changes_names(entry) {
                cuts.beside_names.extend([index, index + 1]);
            }
            if matches!(entry, Entry::Flush { .. }) {
                cuts.before_flushes.push(index);
            }
        }
        cuts
    }

    /// Chooses points, in their order: some anywhere, and more where much is under way.
    pub(crate) fn choose(&self, count: u64, rng: &mut Rng) -> Vec<usize> {
        let mut cuts: Vec<usize> = (0..count).map(|_| self.choose_one(rng)).collect();
        cuts.sort_unstable();
        cuts
    }

    fn choose_one(&self, rng: &mut Rng) -> usize {
        let points = match rng.below(8) {
            0 => return rng.below(self.opening + 1),
            1..3 => &self.in_tables,
            3..5 => &self.before_flushes,
            5 => &self.beside_names,
            _ => return rng.below(self.count),
        };
        if points.is_empty() { rng.below(self.count) } else { *rng.pick(points) }
    }

    pub(crate) const fn is_opening(&self, cut: usize) -> bool {
        cut < self.opening
    }

    pub(crate) fn is_in_tables(&self, cut: usize) -> bool {
        self.in_tables.binary_search(&cut).is_ok()
    }
}

/// The tables of which a file is being written.
fn follow_tables(entry: &Entry, open: &mut HashSet<String>) {
    match entry {
        Entry::Open { path, is_new: true, .. } => {
            let table = path.split_once("/tables/").or_else(|| path.split_once("/blobs/"));
            open.extend(table.map(|(table, _)| table.to_owned()));
        }
        Entry::Rename { to, .. } => {
            open.remove(to.trim_end_matches("/current"));
        }
        _ => {}
    }
}

const fn changes_names(entry: &Entry) -> bool {
    matches!(
        entry,
        Entry::Open { is_new: true, .. }
            | Entry::SetLen { .. }
            | Entry::Rename { .. }
            | Entry::Remove { .. }
            | Entry::MakeFolder { .. }
    )
}

/// The journals that were made after the first one.
pub(crate) fn further_journals(recording: &Recording) -> usize {
    let is_journal = |entry: &&Entry| matches!(entry, Entry::Open { path, is_new: true, .. } if path.ends_with(".jnl") && !path.ends_with("/0.jnl"));
    recording.entries().iter().filter(is_journal).count()
}
