//! Journals of fjall, read as they are on disk.
//!
//! ```text
//! start      1, number of items (4 bytes), sequence number (8)
//! each item  2, kind (1), compression (1), table (8), bytes of the key (2), of the value (4), of the value as kept (4), key, value
//!            or 4, table (8)
//! end        3, checksum of the items (8), `FJL` 3
//! ```
//!
//! Integers have their low bytes first. Journals are as long as they may become, with bytes of 0 behind the
//! last batch. fjall cuts a journal where it cannot read on, whatever follows; here one sees what follows.
//! The first item of each batch is its [mark](super::batch_mark).

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use twox_hash::XxHash3_64;

use crate::engine::fjall::write::batch_mark::{BatchMark, FolderId, MARK_BYTES};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: [u8; 4] = *b"FJL\x03";

/// The key of the row of marks.
pub(in crate::engine::fjall) const MARK_KEY: [u8; 1] = [0];

/// The distance from the start of a batch to the folder's id in its mark.
const MARK_AT: u64 = 13 + 21 + MARK_KEY.len() as u64;

/// The bytes that are read together.
const READ_BYTES: usize = 64 * 1024;

static ZEROS: [u8; 4096] = [0; 4096];

/// The position of a journal after a failed read: beyond every byte.
const NOWHERE: u64 = u64::MAX;

/// A journal that is read.
pub(in crate::engine::fjall) struct Journal {
    file: BufReader<File>,
    len: u64,
    at: u64,
    folder: FolderId,
}

/// A whole batch: where it ends, and its mark if it has one of this folder.
#[derive(Debug)]
pub(in crate::engine::fjall) struct WholeBatch {
    pub(in crate::engine::fjall) end: u64,
    pub(in crate::engine::fjall) mark: Option<BatchMark>,
}

impl Journal {
    pub(in crate::engine::fjall) fn open(path: &Path, folder: &FolderId) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self { file: BufReader::with_capacity(READ_BYTES, file), len, at: 0, folder: *folder })
    }

    /// Reads the batch that begins at this byte; `None` if there is no whole one.
    pub(in crate::engine::fjall) fn batch(&mut self, at: u64) -> io::Result<Option<WholeBatch>> {
        self.seek(at)?;
        match self.read_batch() {
            // A batch within which the journal ends was being written when the process or the power went.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            read => read,
        }
    }

    /// Finds the first whole batch of this folder that begins after this byte, wherever it begins. Values
    /// may hold anything, but not the random bytes of the folder. Returns where it ends, and its mark.
    pub(in crate::engine::fjall) fn next_batch(
        &mut self,
        after: u64,
    ) -> io::Result<Option<(u64, BatchMark)>> {
        let mut from = after + 1 + MARK_AT;
        while let Some(found) = self.find_folder(from)? {
            if let Some(WholeBatch { end, mark: Some(mark) }) = self.batch(found - MARK_AT)? {
                return Ok(Some((end, mark)));
            }
            from = found + 1;
        }
        Ok(None)
    }

    /// Returns the mark of the batch that begins at this byte, even if the batch is not whole.
    pub(in crate::engine::fjall) fn unchecked_mark(&mut self, at: u64) -> io::Result<Option<BatchMark>> {
        self.seek(at + MARK_AT)?;
        match self.array::<MARK_BYTES>() {
            Ok(bytes) => Ok(BatchMark::read(&bytes, &self.folder)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the end of the last byte from here on that is not 0; without one, this position.
    pub(in crate::engine::fjall) fn end_of_bytes(&mut self, from: u64) -> io::Result<u64> {
        self.seek(from)?;
        let mut end = from;
        loop {
            let bytes = self.file.fill_buf()?;
            if bytes.is_empty() {
                return Ok(end);
            }
            let count = bytes.len();
            // Most are 0, and comparing many at once is quicker.
            if bytes.chunks(ZEROS.len()).any(|chunk| chunk != &ZEROS[..chunk.len()]) {
                let last = bytes.iter().rposition(|byte| *byte != 0);
                end = last.map_or(end, |last| self.at + last as u64 + 1);
            }
            self.consume(count);
        }
    }

    fn read_batch(&mut self) -> io::Result<Option<WholeBatch>> {
        let [tag] = self.array()?;
        if tag != START {
            return Ok(None);
        }
        let count = u32::from_le_bytes(self.array()?);
        let _sequence: [u8; 8] = self.array()?;
        let mut hash = XxHash3_64::new();
        let mut mark = None;
        for index in 0..count {
            let Some((key, value)) = self.item(&mut hash)? else { return Ok(None) };
            if index == 0 && (key, value) == (MARK_KEY.len() as u64, MARK_BYTES as u64) {
                mark = self.mark(&mut hash)?;
            } else if !self.hash_through(key + value, &mut hash)? {
                return Ok(None);
            }
        }
        let [tag] = self.array()?;
        let checksum = u64::from_le_bytes(self.array()?);
        let magic: [u8; MAGIC.len()] = self.array()?;
        let is_whole = tag == END && checksum == hash.finish() && magic == MAGIC;
        Ok(is_whole.then_some(WholeBatch { end: self.at, mark }))
    }

    /// Reads an item up to its key and returns the bytes of its key and its value.
    fn item(&mut self, hash: &mut XxHash3_64) -> io::Result<Option<(u64, u64)>> {
        let tag: [u8; 1] = self.hashed(hash)?;
        match tag {
            [ITEM] => {
                let _kind: [u8; 10] = self.hashed(hash)?;
                let key = u16::from_le_bytes(self.hashed(hash)?);
                let _value: [u8; 4] = self.hashed(hash)?;
                let kept = u32::from_le_bytes(self.hashed(hash)?);
                Ok(Some((key.into(), kept.into())))
            }
            [CLEAR] => {
                let _table: [u8; 8] = self.hashed(hash)?;
                Ok(Some((0, 0)))
            }
            _ => Ok(None),
        }
    }

    fn mark(&mut self, hash: &mut XxHash3_64) -> io::Result<Option<BatchMark>> {
        let key: [u8; MARK_KEY.len()] = self.hashed(hash)?;
        let value: [u8; MARK_BYTES] = self.hashed(hash)?;
        Ok(BatchMark::read(&value, &self.folder).filter(|_| key == MARK_KEY))
    }

    /// Hashes bytes up to this position, and returns false if the journal ends before it.
    fn hash_through(&mut self, mut count: u64, hash: &mut XxHash3_64) -> io::Result<bool> {
        // A torn length may be any number: nothing is read for one that is beyond the end.
        if count > self.len.saturating_sub(self.at) {
            return Ok(false);
        }
        while count > 0 {
            let bytes = self.file.fill_buf()?;
            let taken = bytes.len().min(usize::try_from(count).unwrap_or(usize::MAX));
            if taken == 0 {
                return Ok(false);
            }
            hash.write(&bytes[..taken]);
            self.consume(taken);
            count -= taken as u64;
        }
        Ok(true)
    }

    /// Finds the next place of the folder's id.
    fn find_folder(&mut self, from: u64) -> io::Result<Option<u64>> {
        self.seek(from)?;
        let folder = self.folder;
        let mut window: Vec<u8> = Vec::with_capacity(READ_BYTES + folder.len());
        loop {
            let bytes = self.file.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let start = self.at - window.len() as u64;
            window.extend_from_slice(bytes);
            let count = bytes.len();
            self.consume(count);
            if let Some(found) = window.windows(folder.len()).position(|bytes| bytes == folder) {
                return Ok(Some(start + found as u64));
            }
            // The bytes that are looked for may lie across two reads.
            window.drain(..window.len().saturating_sub(folder.len() - 1));
        }
    }

    fn hashed<const COUNT: usize>(&mut self, hash: &mut XxHash3_64) -> io::Result<[u8; COUNT]> {
        let array = self.array()?;
        hash.write(&array);
        Ok(array)
    }

    fn array<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut array = [0; COUNT];
        self.file.read_exact(&mut array).inspect_err(|_| self.at = NOWHERE)?;
        self.at += COUNT as u64;
        Ok(array)
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.at += count as u64;
    }

    fn seek(&mut self, to: u64) -> io::Result<()> {
        // Batches follow each other, and seeking forgets what was read ahead.
        if self.at != to {
            self.at = NOWHERE;
            self.at = self.file.seek(SeekFrom::Start(to))?;
        }
        Ok(())
    }
}
