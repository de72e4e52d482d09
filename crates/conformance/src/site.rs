//! Content that both sides can make: a folder of files to serve, and bodies to send.

use crate::folder::Folder;

/// The size of [`Site::BIG`].
pub const BIG_BYTES: usize = 10 * 1024 * 1024;

/// A folder with a small file, an empty one and one of 10 MiB.
#[derive(Debug)]
pub struct Site {
    folder: Folder,
}

impl Site {
    /// A file of 26 bytes.
    pub const SMALL: &'static str = "small.txt";
    /// A file of no bytes.
    pub const EMPTY: &'static str = "empty.txt";
    /// A file of [`BIG_BYTES`].
    pub const BIG: &'static str = "big.bin";
    /// A file that is not there.
    pub const ABSENT: &'static str = "absent.txt";

    /// Writes the files.
    #[must_use]
    pub fn new() -> Self {
        let folder = Folder::new();
        for name in [Self::SMALL, Self::EMPTY, Self::BIG] {
            folder.write(name, Self::content(name));
        }
        Self { folder }
    }

    /// What the file holds.
    #[must_use]
    pub fn content(name: &str) -> Vec<u8> {
        match name {
            Self::SMALL => b"a feather of little weight".to_vec(),
            Self::BIG => bytes(1, BIG_BYTES),
            _ => Vec::new(),
        }
    }

    /// Where the files are.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

/// So many bytes without a pattern, the same for the same seed (xorshift64*).
#[must_use]
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes()
    };
    let mut all: Vec<u8> = std::iter::repeat_with(&mut next).take(length.div_ceil(8)).flatten().collect();
    all.truncate(length);
    all
}

/// Holds two bodies against each other without printing megabytes.
///
/// # Panics
/// With the lengths and the first difference when they differ.
#[track_caller]
pub fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    if found == expected {
        return;
    }
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let lengths = (found.len(), expected.len());
    panic!("{what}: {} bytes instead of {}, different from byte {same} on", lengths.0, lengths.1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_repeat_for_the_same_seed_only() {
        assert_eq!(bytes(7, 1000), bytes(7, 1000));
        assert_ne!(bytes(7, 1000), bytes(8, 1000));
        assert_eq!(bytes(7, 13).len(), 13);
    }

    #[test]
    #[should_panic(expected = "2 bytes instead of 3, different from byte 1 on")]
    fn a_difference_is_located() {
        assert_same(b"ax", b"abc", "body");
    }
}
