//! Buffers for what is read of large files, lent and given back. There are few, and none is held while a peer is waited for.

use std::sync::{Arc, Mutex, PoisonError};

use alula::{Ledger, Reservation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Octets that are read at once: enough that changing threads for it hardly shows.
pub(super) const BUFFER_OCTETS: usize = 64 * 1024;

/// Buffers in all, and so reads at once: more than disks carry out at a time.
pub(super) const BUFFERS_MAX: usize = 16;

/// A buffer and how much of it was read.
pub(super) struct Buffer {
    octets: Box<[u8]>,
    filled: usize,
    place: OwnedSemaphorePermit,
}

/// The buffers that are not lent, and places for those that are.
pub(super) struct Buffers {
    spares: Mutex<Vec<Box<[u8]>>>,
    places: Arc<Semaphore>,
    /// What all of them hold. A server that has no room for it has none for requests either.
    _held: Option<Reservation>,
}

impl Buffers {
    /// No buffers yet; all that there may be are charged.
    pub(super) fn new(ledger: &Ledger) -> Self {
        Self {
            spares: Mutex::default(),
            places: Arc::new(Semaphore::new(BUFFERS_MAX)),
            _held: ledger.reserve((BUFFERS_MAX * BUFFER_OCTETS) as u64),
        }
    }

    /// Waits until a buffer is free; nothing was read into it.
    pub(super) async fn lend(&self) -> Buffer {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes it");
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let octets = spare.unwrap_or_else(|| vec![0; BUFFER_OCTETS].into());
        Buffer { octets, filled: 0, place }
    }

    /// Takes one back. One that is dropped instead makes room for a new one.
    pub(super) fn give(&self, buffer: Buffer) {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner).push(buffer.octets);
        drop(buffer.place);
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
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use alula::Limits;

    use super::*;

    fn lend(buffers: &Buffers) -> Option<Buffer> {
        match pin!(buffers.lend()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(buffer) => Some(buffer),
            Poll::Pending => None,
        }
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let ledger = Ledger::new(&Limits::default());
        let buffers = Buffers::new(&ledger);
        assert_eq!(ledger.memory_held(), 1024 * 1024);
        let mut lent: Vec<_> = (0..BUFFERS_MAX).filter_map(|_| lend(&buffers)).collect();
        assert!(lent.len() == BUFFERS_MAX && lend(&buffers).is_none());
        lent.pop().into_iter().for_each(|buffer| buffers.give(buffer));
        assert!(lend(&buffers).is_some(), "it came back");
        drop(lent.pop());
        assert!(lend(&buffers).is_some(), "another takes the place of one that is gone");
        lent.into_iter().for_each(|buffer| buffers.give(buffer));
        assert!(buffers.spares.lock().unwrap().len() <= BUFFERS_MAX);
        drop(buffers);
        assert_eq!(ledger.memory_held(), 0);
    }

    #[test]
    fn what_was_read_is_what_was_asked_for() {
        let buffers = Buffers::new(&Ledger::new(&Limits::default()));
        let mut buffer = lend(&buffers).unwrap();
        buffer.first(3).copy_from_slice(b"abc");
        assert_eq!(buffer.read(), b"abc");
        assert_eq!(buffer.first(usize::MAX).len(), BUFFER_OCTETS);
    }
}
