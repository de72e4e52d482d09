//! The key by which drivers and machines name a stream to each other.

use core::fmt;

/// Names a stream of a machine while its slot is kept. Eight bytes; keys of freed slots are told apart and
/// find nothing.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamKey {
    slot: u32,
    generation: u32,
}

impl StreamKey {
    /// Creates the key of a slot that is used for the `generation`-th time; for machines.
    #[inline]
    pub const fn new(slot: u32, generation: u32) -> Self {
        Self { slot, generation }
    }

    /// Returns the slot's number, which is below the largest number of simultaneous streams: an index for
    /// tables of the driver.
    ///
    /// ```
    /// # use alula::machine::StreamKey;
    /// fn table_entry(table: &mut Vec<Option<u64>>, stream: StreamKey) -> &mut Option<u64> {
    ///     let at = stream.slot();
    ///     if table.len() <= at {
    ///         table.resize(at + 1, None);
    ///     }
    ///     &mut table[at]
    /// }
    /// ```
    #[inline]
    pub const fn slot(self) -> usize {
        self.slot as usize
    }

    /// Returns the number of times that the slot had been used before this stream.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// The error of a key whose stream has ended, or never existed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownStream;

impl fmt::Display for UnknownStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream is gone")
    }
}

impl core::error::Error for UnknownStream {}
