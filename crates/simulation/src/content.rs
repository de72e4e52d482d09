//! What messages carry: bytes that tell which message they belong to, and where in it they stand.

use std::sync::LazyLock;

use alula_testkit::Rng;

/// The longest content.
pub const BYTES_MAX: usize = 100 * 1024;

/// In how many places contents begin. A prime, so that near numbers begin far from each other.
const BEGINNINGS: usize = 4_093;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| Rng::new(0).bytes(BEGINNINGS + BYTES_MAX));

/// The content of the message with this number.
///
/// # Panics
/// When it is to be longer than [`BYTES_MAX`].
#[must_use]
pub fn content(number: u64, bytes: usize) -> &'static [u8] {
    let from = (number.wrapping_mul(1_031) % BEGINNINGS as u64) as usize;
    assert!(bytes <= BYTES_MAX);
    &BYTES[from..from + bytes]
}

/// Compares what arrives, piece by piece, with the content it should be.
#[derive(Debug)]
pub struct Expected {
    left: &'static [u8],
}

impl Expected {
    /// The content with this number.
    #[must_use]
    pub fn new(number: u64, bytes: usize) -> Self {
        Self { left: content(number, bytes) }
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// It is not what comes next.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        self.left = self.left.strip_prefix(piece).ok_or(Wrong)?;
        Ok(())
    }

    /// The number of bytes that are still to come.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }
}

/// What arrived is not what was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wrong;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_doubled_or_of_another_message_is_noticed() {
        let sent = content(7, 1_000);
        let mut whole = Expected::new(7, 1_000);
        assert_eq!((whole.take(&sent[..400]), whole.take(&sent[400..])), (Ok(()), Ok(())));
        assert_eq!(whole.left(), 0);
        assert_eq!(whole.take(&sent[..1]), Err(Wrong));
        let mut gap = Expected::new(7, 1_000);
        assert_eq!((gap.take(&sent[..400]), gap.take(&sent[401..])), (Ok(()), Err(Wrong)));
        assert_eq!(Expected::new(8, 1_000).take(sent), Err(Wrong));
    }
}
