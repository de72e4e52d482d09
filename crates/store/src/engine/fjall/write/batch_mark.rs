//! Marks of batches: the row with which each batch begins, so that a journal tells how much of it had been
//! flushed.
//!
//! ```text
//! folder    16 bytes, random, which no client is ever told
//! number    8 bytes: the batches are counted from 1
//! flushed   8 bytes: the last batch that was known to be flushed when this one was begun
//! ```
//!
//! A batch is written after the batch before it was flushed, if that one asked for it. A damaged batch that a
//! later mark calls flushed had been answered; any other may be what a loss of power leaves.

use crate::model::bytes::Bytes;

/// The random bytes of a folder.
pub(in crate::engine::fjall) type FolderId = [u8; 16];

/// The bytes of a mark.
pub(in crate::engine::fjall) const MARK_BYTES: usize = 32;

/// The first row of a batch, which tells its number and the last number known to be flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::fjall) struct BatchMark {
    pub(in crate::engine::fjall) folder: FolderId,
    pub(in crate::engine::fjall) number: u64,
    pub(in crate::engine::fjall) flushed: u64,
}

impl BatchMark {
    /// Returns the mark as a row has it.
    pub(in crate::engine::fjall) fn write(&self) -> [u8; MARK_BYTES] {
        let mut out = [0; MARK_BYTES];
        out[..16].copy_from_slice(&self.folder);
        out[16..24].copy_from_slice(&self.number.to_be_bytes());
        out[24..].copy_from_slice(&self.flushed.to_be_bytes());
        out
    }

    /// Reads the mark in these bytes; `None` if they are none of this folder.
    pub(in crate::engine::fjall) fn read(bytes: &[u8], folder: &FolderId) -> Option<Self> {
        let mut bytes = Bytes::new(bytes);
        let read: FolderId = bytes.array()?;
        let [number, flushed] = [bytes.array()?, bytes.array()?].map(u64::from_be_bytes);
        (read == *folder && bytes.is_empty()).then_some(Self { folder: read, number, flushed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back_to_their_folder() {
        let mark = BatchMark { folder: [7; 16], number: u64::MAX, flushed: 3 };
        assert_eq!(BatchMark::read(&mark.write(), &[7; 16]), Some(mark));
        assert_eq!(BatchMark::read(&mark.write(), &[8; 16]), None);
        assert_eq!(BatchMark::read(&mark.write()[..31], &[7; 16]), None);
    }
}
