//! Buffers lent per request.

use std::sync::{Mutex, MutexGuard, PoisonError};

use alula::{Ledger, Reservation};

/// The buffers of a request, empty when lent.
#[derive(Default)]
pub(super) struct Scratch {
    /// The content that was read, or that is answered.
    pub(super) content: Vec<u8>,
    pub(super) content_type: Vec<u8>,
    /// The reservation for `content` in the memory of all connections; kept while the buffer is spare.
    held: Option<Reservation>,
}

/// The bytes that all spare buffers may hold together.
const SPARE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The size above which a buffer is dropped instead of kept: few requests need it.
const SPARE_BYTES_EACH_MAX: usize = 1024 * 1024;

/// Spare buffers, bounded in what they hold.
#[derive(Default)]
pub(super) struct Pool {
    spares: Mutex<Spares>,
}

#[derive(Default)]
struct Spares {
    list: Vec<Scratch>,
    bytes: usize,
}

impl Pool {
    /// A spare, or a new one.
    pub(super) fn lend(&self) -> Scratch {
        let mut spares = self.spares();
        let Some(scratch) = spares.list.pop() else { return Scratch::default() };
        spares.bytes -= scratch.bytes();
        scratch
    }

    /// Takes one back. A request that was dropped half-way does not come here: its buffers are freed.
    pub(super) fn give(&self, mut scratch: Scratch) {
        scratch.content.clear();
        scratch.content_type.clear();
        let bytes = scratch.bytes();
        let mut spares = self.spares();
        if bytes <= SPARE_BYTES_EACH_MAX && spares.bytes + bytes <= SPARE_BYTES_MAX {
            spares.bytes += bytes;
            spares.list.push(scratch);
        }
    }

    fn spares(&self) -> MutexGuard<'_, Spares> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scratch {
    /// Appends to the content, of which there may be `bytes_max`. False when there is no memory for more;
    /// nothing has changed then.
    pub(super) fn append(&mut self, chunk: &[u8], bytes_max: usize, ledger: &Ledger) -> bool {
        let bytes = self.content.len() + chunk.len();
        if bytes > self.content.capacity() {
            // Twice as much each time, as a `Vec` grows by itself, but not beyond what there may be.
            let capacity = bytes.max((2 * self.content.capacity()).min(bytes_max));
            // Charged before it is allocated: many bodies at once must not pass the limit together.
            if !self.charge(capacity as u64, ledger) {
                return false;
            }
            self.content.reserve_exact(capacity - self.content.len());
        }
        self.content.extend_from_slice(chunk);
        true
    }

    fn charge(&mut self, bytes: u64, ledger: &Ledger) -> bool {
        match &mut self.held {
            Some(held) => held.resize(bytes),
            None => {
                self.held = ledger.reserve(bytes);
                self.held.is_some()
            }
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.content.capacity() + self.content_type.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_warm() {
        let pool = Pool::default();
        let mut scratch = pool.lend();
        scratch.content.extend_from_slice(b"content");
        scratch.content_type.extend_from_slice(b"type");
        pool.give(scratch);
        let scratch = pool.lend();
        assert!(scratch.content.is_empty() && scratch.content_type.is_empty());
        assert!(scratch.content.capacity() >= 7);
        assert_eq!(pool.spares().bytes, 0);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pool = Pool::default();
        pool.give(Scratch { content: Vec::with_capacity(SPARE_BYTES_EACH_MAX + 1), ..Scratch::default() });
        assert_eq!(pool.spares().list.len(), 0);
        for _ in 0..100 {
            pool.give(Scratch {
                content: Vec::with_capacity(SPARE_BYTES_EACH_MAX / 2 + 1),
                ..Scratch::default()
            });
        }
        let spares = pool.spares();
        assert!(spares.bytes <= SPARE_BYTES_MAX && spares.list.len() > 60, "{}", spares.list.len());
    }
}
