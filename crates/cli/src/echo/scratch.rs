//! Buffers lent per request.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one request needs, empty when lent.
#[derive(Default)]
pub(super) struct Scratch {
    /// What was read, or what is answered.
    pub(super) content: Vec<u8>,
    pub(super) content_type: Vec<u8>,
}

/// What all spare buffers may hold together.
const SPARE_OCTETS_MAX: usize = 64 * 1024 * 1024;
/// One that has become larger is dropped: few requests need it.
const SPARE_OCTETS_EACH_MAX: usize = 1024 * 1024;

/// Spare buffers, bounded in what they hold.
#[derive(Default)]
pub(super) struct Pool {
    spares: Mutex<Spares>,
}

#[derive(Default)]
struct Spares {
    list: Vec<Scratch>,
    octets: usize,
}

impl Pool {
    /// A spare, or a new one.
    pub(super) fn lend(&self) -> Scratch {
        let mut spares = self.spares();
        let Some(scratch) = spares.list.pop() else { return Scratch::default() };
        spares.octets -= scratch.octets();
        scratch
    }

    /// Takes one back. A request that was dropped half-way does not come here: its buffers are freed.
    pub(super) fn give(&self, mut scratch: Scratch) {
        scratch.content.clear();
        scratch.content_type.clear();
        let octets = scratch.octets();
        let mut spares = self.spares();
        if octets <= SPARE_OCTETS_EACH_MAX && spares.octets + octets <= SPARE_OCTETS_MAX {
            spares.octets += octets;
            spares.list.push(scratch);
        }
    }

    fn spares(&self) -> MutexGuard<'_, Spares> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scratch {
    fn octets(&self) -> usize {
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
        assert_eq!(pool.spares().octets, 0);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pool = Pool::default();
        pool.give(Scratch { content: Vec::with_capacity(SPARE_OCTETS_EACH_MAX + 1), ..Scratch::default() });
        assert_eq!(pool.spares().list.len(), 0);
        for _ in 0..100 {
            pool.give(Scratch {
                content: Vec::with_capacity(SPARE_OCTETS_EACH_MAX / 2 + 1),
                ..Scratch::default()
            });
        }
        let spares = pool.spares();
        assert!(spares.octets <= SPARE_OCTETS_MAX && spares.list.len() > 60, "{}", spares.list.len());
    }
}
