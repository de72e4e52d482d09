//! Buffers for what is read of large files, lent and given back.

use std::sync::{Mutex, PoisonError};

/// Octets that are read at once: enough that changing threads for it hardly shows, and not more than a peer is given for
/// each stream that it opens and leaves alone.
pub(super) const BUFFER_OCTETS: usize = 64 * 1024;

/// Buffers that are kept; who needs more at once has them made.
const SPARES_MAX: usize = 64;

/// A buffer and how much of it was read.
pub(super) struct Buffer {
    octets: Box<[u8]>,
    filled: usize,
}

/// Spare buffers.
#[derive(Default)]
pub(super) struct Buffers {
    spares: Mutex<Vec<Buffer>>,
}

impl Buffers {
    /// A spare, or a new one.
    pub(super) fn lend(&self) -> Buffer {
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Buffer { octets: vec![0; BUFFER_OCTETS].into(), filled: 0 })
    }

    /// Takes one back.
    pub(super) fn give(&self, buffer: Buffer) {
        let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < SPARES_MAX {
            spares.push(buffer);
        }
    }
}

impl Buffer {
    /// The first octets, to be filled; they are what was read from now on.
    pub(super) fn first(&mut self, octets: usize) -> &mut [u8] {
        self.filled = octets.min(self.octets.len());
        &mut self.octets[..self.filled]
    }

    /// What was read.
    pub(super) fn read(&self) -> &[u8] {
        &self.octets[..self.filled]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let buffers = Buffers::default();
        let lent: Vec<_> = (0..2 * SPARES_MAX).map(|_| buffers.lend()).collect();
        lent.into_iter().for_each(|buffer| buffers.give(buffer));
        assert_eq!(buffers.spares.lock().unwrap().len(), SPARES_MAX);
    }

    #[test]
    fn what_was_read_is_what_was_asked_for() {
        let mut buffer = Buffers::default().lend();
        buffer.first(3).copy_from_slice(b"abc");
        assert_eq!(buffer.read(), b"abc");
        assert_eq!(buffer.first(usize::MAX).len(), BUFFER_OCTETS);
    }
}
