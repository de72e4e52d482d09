//! Records: an object with all its contents, as an engine keeps it and as a read borrows it.
//!
//! ```text
//! version    1 byte: 1
//! contents   their count, 1 or more
//! table      one entry each, by ascending dots:
//!              actor       8 bytes
//!              count       number
//!              vtag        16 bytes
//!              modified    8 bytes, microseconds
//!              flags       1 byte: 1 for a content that says that the object was deleted
//!              attributes  number of bytes
//!              value       number of bytes
//! parts      attributes and value of each content, in the same order
//! ```
//!
//! Integers of 8 and 16 bytes have their high bytes first; the others are numbers in groups of seven bits.
//! The value of an object with one content is the end of its record, so that it is sent from where it was
//! read.

use std::fmt;

use super::bytes::{Bytes, put_number};
use super::table::Entry;
use super::{Content, Context, Moment, Vtag};

const VERSION: u8 = 1;

/// An object with its contents. Reading it allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    count: usize,
    table: Bytes<'a>,
    parts: Bytes<'a>,
}

/// The bytes are no record of this store: they are cut off, changed, or of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record of an object is damaged")
    }
}

impl std::error::Error for Damaged {}

impl<'a> Record<'a> {
    /// Reads a record whole, so that its contents need no check afterwards.
    ///
    /// # Errors
    /// [`Damaged`], for bytes that [`write()`](super::write()) does not make.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Damaged> {
        Self::read_whole(bytes).ok_or(Damaged)
    }

    fn read_whole(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Bytes::new(bytes);
        if bytes.byte()? != VERSION {
            return None;
        }
        let count = usize::try_from(bytes.number()?).ok().filter(|count| *count > 0)?;
        let table = bytes;
        let mut last = None;
        let mut len = 0u64;
        for _ in 0..count {
            let entry = Entry::read(&mut bytes)?;
            if last.is_some_and(|last| last >= entry.dot()) {
                return None;
            }
            last = Some(entry.dot());
            len = len.checked_add(entry.len()?)?;
        }
        (bytes.rest().len() as u64 == len).then_some(Self { count, table, parts: bytes })
    }

    /// Writes a record of these contents over `out`, for engines that keep each content by itself.
    ///
    /// The contents must be one or more and ascend by their dots; [`read`](Self::read) refuses what others
    /// make. Allocates what `out` has no room for.
    ///
    /// ```
    /// use alula_store::model::{Actor, Context, Dot, Moment, NewContent, Record, Rules, Vtag, write};
    ///
    /// let new = |count| NewContent {
    ///     dot: Dot::new(Actor::new(7), count).expect("a count within its bounds"),
    ///     vtag: Vtag::from_bits(1),
    ///     now: Moment::from_micros(1),
    ///     is_deleted: false,
    ///     attributes: b"",
    ///     value: b"value",
    /// };
    /// let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 9, bytes_max: 999 };
    /// let (mut first, mut second, mut joined) = (vec![], vec![], vec![]);
    /// write(None, Context::EMPTY, &new(1), &rules, &mut first)?;
    /// write(None, Context::EMPTY, &new(2), &rules, &mut second)?;
    ///
    /// let records = [Record::read(&first)?, Record::read(&second)?];
    /// Record::write(records.iter().flat_map(Record::contents), &mut joined);
    /// assert_eq!(Record::read(&joined)?.contents().count(), 2);
    ///
    /// Record::write(records.iter().rev().flat_map(Record::contents), &mut joined);
    /// assert!(Record::read(&joined).is_err(), "they do not ascend");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write<'c>(contents: impl Iterator<Item = Content<'c>> + Clone, out: &mut Vec<u8>) {
        out.clear();
        out.push(VERSION);
        put_number(contents.clone().count() as u64, out);
        contents.clone().for_each(|content| Entry::of(&content).put(out));
        contents.for_each(|content| {
            out.extend_from_slice(content.attributes);
            out.extend_from_slice(content.value);
        });
    }

    /// Returns the contents, by ascending dots.
    pub const fn contents(&self) -> Contents<'a> {
        Contents { left: self.count, table: self.table, parts: self.parts }
    }

    /// Returns the one content, or `None` if there are siblings.
    pub fn single(&self) -> Option<Content<'a>> {
        self.contents().next().filter(|_| self.count == 1)
    }

    /// Returns true if every content says that the object was deleted: it reads as missing.
    pub fn is_deleted(&self) -> bool {
        self.contents().all(|content| content.is_deleted())
    }

    /// Returns the time of the latest content.
    pub fn modified(&self) -> Moment {
        self.contents().map(|content| content.modified()).max().unwrap_or_default()
    }

    /// Returns the vtag of the one content, or a vtag made of those of the siblings.
    pub fn vtag(&self) -> Vtag {
        match self.single() {
            Some(content) => content.vtag(),
            None => Vtag::of_siblings(self.contents().map(|content| content.vtag())),
        }
    }

    /// Returns the context for a client that receives all contents, written over `out`.
    pub fn context<'out>(&self, out: &'out mut Vec<u8>) -> Context<'out> {
        Context::of(self.contents().map(|content| content.dot()), out)
    }
}

/// The contents of a record, by ascending dots.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    left: usize,
    table: Bytes<'a>,
    parts: Bytes<'a>,
}

impl<'a> Iterator for Contents<'a> {
    type Item = Content<'a>;

    fn next(&mut self) -> Option<Content<'a>> {
        self.left = self.left.checked_sub(1)?;
        Entry::read(&mut self.table)?.content(&mut self.parts)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Contents<'_> {}
