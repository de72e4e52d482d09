//! A file: the bytes that are on the disk for sure, and the changes since, each of which may be.

use std::ops::Range;
use std::rc::Rc;

use crate::content::Content;
use crate::loss::{Loss, Part, pick};

/// A file, as far as a recording was followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileState {
    kept: Content,
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write { offset: u64, bytes: Rc<[u8]> },
    SetLen(u64),
}

#[derive(Clone, Debug)]
struct Pending {
    /// The number of its entry.
    entry: u64,
    change: Change,
    /// The system takes it for written after a flush that failed.
    is_given_up: bool,
}

impl FileState {
    pub(crate) const fn new(kept: Content) -> Self {
        Self { kept, pending: Vec::new() }
    }

    pub(crate) fn change(&mut self, entry: u64, change: Change) {
        self.pending.push(Pending { entry, change, is_given_up: false });
    }

    /// Keeps what was changed before this entry, but for the blocks that were given up: the seed decides what
    /// is there of those.
    pub(crate) fn flush(&mut self, begun: u64, seed: u64) {
        const BLOCK: u64 = 4096;
        let count = self.count_before(begun);
        let flushed: Vec<Pending> = self.pending.drain(..count).collect();
        let has_given_up = flushed.iter().any(|pending| pending.is_given_up);
        let there = |block: u64| {
            // A page that is written once more is written whole.
            let again =
                flushed.iter().rposition(|pending| !pending.is_given_up && pending.touches(block, BLOCK));
            let again = again.map_or(0, |index| index + 1);
            again.max(if has_given_up { pick(seed, [begun, block], count) } else { count })
        };
        apply(&mut self.kept, &flushed, count, BLOCK, there);
    }

    /// Gives up what was changed before this entry.
    pub(crate) fn fail_flush(&mut self, begun: u64) {
        let count = self.count_before(begun);
        self.pending[..count].iter_mut().for_each(|pending| pending.is_given_up = true);
    }

    /// The bytes after all changes.
    pub(crate) fn whole(&self) -> Content {
        let (mut content, count) = (self.kept.clone(), self.pending.len());
        apply(&mut content, &self.pending, count, 4096, |_| count);
        content
    }

    /// The bytes after a loss of power.
    pub(crate) fn after(&self, loss: &Loss, file: usize) -> Content {
        let (mut content, count) = (self.kept.clone(), self.pending.len());
        let (block, seed, salt) = (loss.block(file), loss.seed(), file as u64);
        let lens = loss.between(0, count, [6, salt]);
        let first = loss.between(0, count, [7, salt]);
        match loss.part(file) {
            Part::All => apply(&mut content, &self.pending, count, block, |_| count),
            Part::None => apply(&mut content, &self.pending, lens, block, |_| 0),
            Part::First => apply(&mut content, &self.pending, first, block, |number| {
                first + pick(seed, [salt + 8, number], 1)
            }),
            Part::Blocks => apply(&mut content, &self.pending, lens, block, |number| {
                pick(seed, [salt + 9, number], count)
            }),
        }
        content
    }

    fn count_before(&self, entry: u64) -> usize {
        self.pending.partition_point(|pending| pending.entry < entry)
    }
}

impl Pending {
    fn touches(&self, number: u64, block: u64) -> bool {
        match &self.change {
            Change::Write { offset, bytes } => blocks(*offset, bytes.len(), block).contains(&number),
            Change::SetLen(_) => false,
        }
    }
}

/// Applies changes: to the length so many of them, and to each block as many as `there` says.
fn apply(
    content: &mut Content,
    changes: &[Pending],
    lens: usize,
    block: u64,
    mut there: impl FnMut(u64) -> usize,
) {
    let len = len_after(content.len(), &changes[..lens]);
    for (index, Pending { change, .. }) in changes.iter().enumerate() {
        match change {
            Change::SetLen(len) if index < lens => content.set_len((*len).min(content.len())),
            // Blocks that were cut off before they were written belong to the file again only when the cut is
            // there.
            Change::SetLen(len) if *len < content.len() => break,
            Change::SetLen(_) => {}
            Change::Write { offset, bytes } => {
                for number in blocks(*offset, bytes.len(), block) {
                    if index < there(number) {
                        let (at, part) = within(*offset, bytes, number * block, block);
                        content.write(at, part);
                    }
                }
            }
        }
    }
    content.set_len(len);
}

fn len_after(len: u64, changes: &[Pending]) -> u64 {
    changes.iter().fold(len, |len, pending| match &pending.change {
        Change::Write { offset, bytes } => len.max(offset + bytes.len() as u64),
        Change::SetLen(len) => *len,
    })
}

/// The blocks that some bytes lie in.
fn blocks(offset: u64, len: usize, block: u64) -> Range<u64> {
    offset / block..(offset + len as u64).div_ceil(block)
}

/// The bytes that lie in a block, and the offset of the first.
fn within(offset: u64, bytes: &[u8], start: u64, block: u64) -> (u64, &[u8]) {
    let from = start.saturating_sub(offset);
    let to = (start + block - offset).min(bytes.len() as u64);
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    (offset + from, &bytes[at(from)..at(to)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(offset: u64, bytes: &[u8]) -> Change {
        Change::Write { offset, bytes: bytes.into() }
    }

    fn bytes(content: &Content) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        content.write_to(&folder.path().join("f")).expect("a file");
        std::fs::read(folder.path().join("f")).expect("a file")
    }

    #[test]
    fn what_was_flushed_is_there_and_each_other_block_is_that_of_one_moment() {
        let mut file = FileState::default();
        file.change(0, write(0, &[1; 1024]));
        file.flush(1, 0);
        file.change(2, write(0, &[2; 1024]));
        file.change(3, write(300, &[3; 1024]));
        let mut seen = std::collections::HashSet::new();
        for seed in 0..500 {
            let content = bytes(&file.after(&Loss::new(seed), 0));
            assert!(content.len() == 1024 || content.len() == 1324, "{}", content.len());
            let first = [1; 512];
            let second = [2; 512];
            let mut third = [2; 512];
            third[300..].fill(3);
            assert!([&first, &second, &third].iter().any(|block| content.starts_with(*block)), "seed {seed}");
            seen.insert((content[0], content[511], content[512], content.len(), content.last().copied()));
        }
        assert!(seen.len() > 10, "{seen:?}");
        assert!(seen.contains(&(1, 1, 3, 1324, Some(0))), "reordered, and extended by zeros: {seen:?}");
    }

    #[test]
    fn a_cut_that_is_not_there_keeps_what_was_written_after_it_away() {
        let mut file = FileState::default();
        file.change(0, write(0, &[1; 600]));
        file.flush(1, 0);
        file.change(1, Change::SetLen(0));
        file.change(2, write(0, &[2; 600]));
        for seed in 0..500 {
            let content = bytes(&file.after(&Loss::new(seed), 0));
            let has_old = content.contains(&1);
            assert!(!has_old || content == [1; 600], "seed {seed}");
        }
    }

    #[test]
    fn a_later_flush_does_not_keep_what_was_given_up() {
        let (mut lost, mut kept) = (0, 0);
        for seed in 0..50 {
            let mut file = FileState::default();
            file.change(0, write(0, &[1; 8]));
            file.fail_flush(1);
            file.change(2, write(4096, &[2; 8]));
            file.flush(3, seed);
            let content = bytes(&file.after(&Loss::new(seed), 0));
            assert_eq!(content[4096..], [2; 8]);
            *if content[..8] == [1; 8] { &mut kept } else { &mut lost } += 1;
        }
        assert!(lost > 5 && kept > 5, "{lost} {kept}");
    }
}
