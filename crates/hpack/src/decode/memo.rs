//! A memory of the meaning of whole blocks.
//!
//! A client that repeats itself sends blocks of nothing but indexes, byte for byte the same. As long as the
//! table has not changed, such a block means what it meant before, and whatever the caller made of it can be
//! used again.

use alloc::boxed::Box;

use crate::decode::decoder::Decoder;

/// The last blocks of short indexes that one decoder has seen, each with an item of the caller's.
///
/// Limits and rules that depend on the message are to be applied again on a hit. Belongs to one decoder;
/// allocates once, when a block comes twice in a row: most connections never repeat themselves.
///
/// ```
/// use alula::hpack::{Decoded, Decoder, DecoderLimits, Memo};
///
/// let (mut decoder, mut memo) = (Decoder::new(DecoderLimits::default()), Memo::new());
/// let block = b"\x82\x84\x87";
/// assert!(memo.get(&decoder, block).is_none());
/// for _ in 0..2 {
///     let mut count = 0;
///     decoder.decode(block, true, &mut |_: Decoded<'_>| count += 1)?;
///     memo.put(&decoder, block, |kept: &mut u32| *kept = count);
/// }
/// assert_eq!(memo.get(&decoder, block), Some(&3));
///
/// decoder.decode(b"\x40\x01a\x01b", true, &mut |_: Decoded<'_>| ())?;
/// assert!(memo.get(&decoder, block).is_none());
/// # Ok::<(), alula::hpack::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Memo<T> {
    /// The rows; `None` before a block came twice in a row.
    rows: Option<Box<[Row<T>; ROWS]>>,
    /// A digest of the first block, while there are no rows; zero before it.
    first: u64,
    /// The row to replace next.
    oldest: usize,
}

#[derive(Debug)]
struct Row<T> {
    epoch: u64,
    /// The length of the block; zero for an empty row.
    len: u8,
    block: [u8; BLOCK_BYTES_MAX],
    kept: T,
}

/// The number of rows: a connection rarely repeats more than a few requests.
const ROWS: usize = 4;

/// The most bytes of a remembered block; requests and answers have 10 to 25 fields.
const BLOCK_BYTES_MAX: usize = 32;

impl<T: Default> Default for Memo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> Memo<T> {
    /// Creates an empty memo; allocates nothing yet.
    pub const fn new() -> Self {
        Self { rows: None, first: 0, oldest: 0 }
    }

    /// Remembers the block that the decoder has just decoded completely; `keep` changes what an older block
    /// left behind.
    ///
    /// Does nothing if the block is empty, longer than 32 bytes, or holds anything but short indexes, since
    /// then it may have changed the table.
    #[inline]
    pub fn put(&mut self, decoder: &Decoder, block: &[u8], keep: impl FnOnce(&mut T)) {
        if block.is_empty()
            || block.len() > BLOCK_BYTES_MAX
            || !block.iter().all(|&byte| is_short_index(byte))
        {
            return;
        }
        if !decoder.is_between_blocks() {
            return;
        }
        if self.rows.is_none() && !self.comes_again(block) {
            return;
        }
        let rows = self.rows.get_or_insert_with(|| Box::new(core::array::from_fn(|_| Row::new())));
        let row = &mut rows[self.oldest];
        self.oldest = (self.oldest + 1) % ROWS;
        row.epoch = decoder.epoch();
        row.len = block.len() as u8;
        row.block[..block.len()].copy_from_slice(block);
        keep(&mut row.kept);
    }

    /// Returns true if the block probably equals the one before, by a few of its bits; a wrong answer only
    /// costs memory.
    fn comes_again(&mut self, block: &[u8]) -> bool {
        let mix =
            |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(5);
        let block = block.iter().fold(1, mix) | 1;
        core::mem::replace(&mut self.first, block) == block
    }
}

impl<T> Memo<T> {
    /// Returns the item for this whole block, if the decoder would decode it in the same way now.
    ///
    /// On a hit the block need not be decoded: it leaves the table as it is.
    #[inline]
    pub fn get(&self, decoder: &Decoder, block: &[u8]) -> Option<&T> {
        if !decoder.is_between_blocks() {
            return None;
        }
        let epoch = decoder.epoch();
        let row = self.rows.as_ref()?.iter().find(|row| row.epoch == epoch && row.is_for(block))?;
        Some(&row.kept)
    }

    /// Returns the bytes of memory outside the struct, without those of the caller's items.
    pub fn memory_bytes(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| size_of_val(&**rows))
    }

    /// Returns the kept items, even outdated ones, so that a caller can free their memory.
    pub fn kept_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut().flat_map(|rows| rows.iter_mut()).map(|row| &mut row.kept)
    }

    /// Forgets every block; the items stay for reuse.
    pub fn clear(&mut self) {
        for row in self.rows.iter_mut().flat_map(|rows| rows.iter_mut()) {
            row.len = 0;
        }
    }
}

impl<T: Default> Row<T> {
    fn new() -> Self {
        Self { epoch: 0, len: 0, block: [0; BLOCK_BYTES_MAX], kept: T::default() }
    }
}

impl<T> Row<T> {
    #[inline]
    fn is_for(&self, block: &[u8]) -> bool {
        self.len != 0
            && usize::from(self.len) == block.len()
            && self.block.get(..block.len()).is_some_and(|own| own == block)
    }
}

/// Returns true for an index below 127, which is one byte; index 0 is an error and no index.
#[inline]
const fn is_short_index(byte: u8) -> bool {
    byte > 0x80 && byte < 0xff
}
