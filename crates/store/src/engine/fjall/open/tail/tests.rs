//! Journals are damaged byte by byte, and opened.

use super::*;
use crate::engine::Durability;
use crate::engine::fjall::open::options::FjallOptions;
use crate::engine::fjall::tables::{Table, Tables};
use crate::engine::fjall::write::batch_mark::BatchMark;

use ::fjall::Slice;
use Durability::{Buffered, Flushed};

/// A folder with one batch for each durability, and where they end. The value of each is long, so that some
/// of it lies between any two pages.
struct Written {
    folder: tempfile::TempDir,
    ends: Vec<u64>,
}

impl Written {
    fn new(batches: &[Durability]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut flushed = 0;
        {
            let folder = Folder::open(folder.path()).expect("a new folder");
            let tables = Tables::open(&folder.engine(), &FjallOptions::default()).expect("new tables");
            for (number, durability) in (1..).zip(batches) {
                let mark = BatchMark { folder: *folder.id(), number, flushed };
                let row = (Table::Objects, key(number), Some(Slice::from(vec![number as u8; 3000])));
                tables.commit(&mark, [row].into_iter(), *durability).expect("a batch");
                if *durability == Flushed {
                    flushed = number;
                }
            }
        }
        let mut written = Self { folder, ends: vec![0] };
        let mut journal = written.journal();
        while let Some(batch) = journal.batch(written.ends[written.ends.len() - 1]).expect("a journal") {
            written.ends.push(batch.end);
        }
        assert_eq!(written.ends.len(), batches.len() + 1, "every batch is read whole");
        let file = File::options().write(true).open(written.path()).expect("the journal");
        file.set_len(written.ends[batches.len()] + 64 * 1024).expect("fewer bytes of 0");
        written
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("fjall/0.jnl")
    }

    fn journal(&self) -> Journal {
        let folder = Folder::open(self.folder.path()).expect("the folder");
        Journal::open(&self.path(), folder.id()).expect("the journal")
    }

    fn damage(&self, damage: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let mut bytes = fs::read(self.path()).expect("the journal");
        damage(&mut bytes);
        fs::write(self.path(), &bytes).expect("the journal");
        bytes
    }

    fn cut(&self) -> Result<Vec<CutTail>, FjallOpenError> {
        cut_damaged(&Folder::open(self.folder.path()).expect("the folder"))
    }

    /// Reads the batches that are there when the journal is opened.
    fn read(&self) -> Vec<u64> {
        let folder = Folder::open(self.folder.path()).expect("the folder");
        let tables = Tables::open(&folder.engine(), &FjallOptions::default()).expect("the tables");
        let is_there = |number: &u64| {
            let value = tables.value(Table::Objects, &key(*number)).expect("a read");
            value.is_some_and(|value| value == vec![*number as u8; 3000])
        };
        (1..10).filter(is_there).collect()
    }
}

fn key(number: u64) -> Slice {
    Slice::from(number.to_be_bytes())
}

#[test]
fn a_whole_journal_is_left_alone() {
    let written = Written::new(&[Flushed, Buffered, Flushed]);
    assert_eq!(written.cut().expect("no damage"), []);
    assert_eq!(written.read(), [1, 2, 3]);
}

#[test]
fn any_damage_of_the_last_batch_is_cut_and_kept_aside() {
    let written = Written::new(&[Flushed, Flushed, Flushed]);
    let whole = fs::read(written.path()).expect("the journal");
    let (start, end) = (written.ends[2] as usize, written.ends[3] as usize);
    type Damage<'a> = (&'a str, &'a dyn Fn(&mut [u8]));
    let damages: [Damage<'_>; 6] = [
        ("a flipped tag", &|bytes| bytes[start] ^= 4),
        ("a flipped tag of an item", &|bytes| bytes[start + 13] ^= 1),
        ("a flipped length", &|bytes| bytes[start + 13 + 11] ^= 0x80),
        ("a flipped bit of the value", &|bytes| bytes[end - 1000] ^= 1),
        ("a page of zeros", &|bytes| bytes[end - 2500..end - 20].fill(0)),
        ("a lost end", &|bytes| bytes[end - 3..end].fill(0)),
    ];
    for (what, damage) in damages {
        fs::write(written.path(), &whole).expect("the journal");
        let damaged = written.damage(damage);
        let cut = written.cut().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(cut.len(), 1, "{what}");
        assert_eq!(cut[0].offset(), written.ends[2], "{what}");
        let kept = fs::read(cut[0].kept()).expect("what was kept aside");
        assert_eq!(kept.len() as u64, cut[0].bytes());
        assert!(damaged[start..].starts_with(&kept), "{what}");
        assert_eq!(fs::metadata(written.path()).expect("the journal").len(), written.ends[2], "{what}");
    }
    assert_eq!(written.read(), [1, 2]);
}

#[test]
fn every_torn_end_is_cut() {
    let written = Written::new(&[Flushed, Flushed]);
    let whole = fs::read(written.path()).expect("the journal");
    let (start, end) = (written.ends[1] as usize, written.ends[2] as usize);
    for torn in (start + 1..start + 100).chain((start + 100..end).step_by(501)) {
        fs::write(written.path(), &whole[..torn]).expect("the journal");
        let cut = written.cut().expect("a torn end");
        assert_eq!(cut.len(), 1, "{torn}");
        assert_eq!((cut[0].offset(), cut[0].bytes() <= (torn - start) as u64), (written.ends[1], true));
    }
    assert_eq!(written.read(), [1]);
}

#[test]
fn damage_before_a_flushed_batch_refuses_and_changes_nothing() {
    for (batches, damaged) in [
        (&[Flushed, Flushed, Flushed][..], 0),
        (&[Flushed, Flushed, Flushed], 1),
        (&[Buffered, Flushed, Buffered], 0),
        (&[Buffered, Flushed, Buffered], 1),
        (&[Buffered, Buffered, Flushed, Buffered], 1),
    ] {
        let written = Written::new(batches);
        for at in [0, 13, 40, 1000] {
            let whole = fs::read(written.path()).expect("the journal");
            let bytes = written.damage(|bytes| bytes[written.ends[damaged] as usize + at] ^= 0x40);
            let Err(FjallOpenError::Damaged { offset, .. }) = written.cut() else {
                panic!("cut: {batches:?} {damaged} {at}");
            };
            assert_eq!(offset, written.ends[damaged]);
            assert_eq!(fs::read(written.path()).expect("the journal"), bytes);
            fs::write(written.path(), &whole).expect("the journal");
        }
    }
}

#[test]
fn what_was_only_buffered_is_cut_with_what_follows_it() {
    for (batches, damaged) in [
        (&[Flushed, Buffered, Buffered][..], 1),
        (&[Flushed, Buffered, Buffered, Buffered], 2),
        (&[Flushed, Buffered, Flushed], 1),
    ] {
        let written = Written::new(batches);
        written.damage(|bytes| bytes[written.ends[damaged] as usize + 1000..][..512].fill(0));
        let cut = written.cut().expect("nothing that was flushed");
        assert_eq!(cut.len(), 1, "{batches:?}");
        assert_eq!(written.read(), (1..=damaged as u64).collect::<Vec<_>>(), "{batches:?}");
    }
}

#[test]
fn a_value_with_a_batch_of_another_folder_is_no_batch() {
    let other = Written::new(&[Flushed, Flushed, Flushed]);
    let bytes = fs::read(other.path()).expect("the journal");
    let written = Written::new(&[Flushed, Flushed]);
    let end = written.ends[2] as usize;
    written.damage(|journal| {
        journal[end - 1] ^= 1;
        journal[end..][..other.ends[3] as usize].copy_from_slice(&bytes[..other.ends[3] as usize]);
    });
    assert_eq!(written.cut().expect("an end of bytes").len(), 1);
    assert_eq!(written.read(), [1]);
}

#[test]
fn damage_before_another_journal_refuses() {
    let written = Written::new(&[Buffered, Buffered]);
    let bytes = fs::read(written.path()).expect("the journal");
    let (start, end) = (written.ends[1] as usize, written.ends[2] as usize);
    fs::write(written.path().with_file_name("1.jnl"), &bytes[start..end]).expect("a journal");
    fs::write(written.path(), &bytes[..start + 20]).expect("the journal");
    assert!(matches!(written.cut(), Err(FjallOpenError::Damaged { offset, .. }) if offset == start as u64));
}

#[test]
fn the_last_journal_is_written_anew_as_it_was() {
    let written = Written::new(&[Flushed, Buffered]);
    let before = fs::read(written.path()).expect("the journal");
    rewrite_last(&Folder::open(written.folder.path()).expect("the folder")).expect("a new journal");
    let after = fs::read(written.path()).expect("the journal");
    assert_eq!(after, before[..written.ends[2] as usize]);
    assert_eq!(written.read(), [1, 2]);
}
