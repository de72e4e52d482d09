//! Buffers for what is read of large files, lent and given back. There are few, and none is held while a peer
//! is waited for.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use alula_net::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that are read at once: enough that changing threads for it hardly shows.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// Buffers in all, and so reads at once: more than disks carry out at a time.
pub(super) const BUFFERS_MAX: usize = 16;

/// A buffer and how much of it was read.
pub(super) struct Buffer {
    bytes: Box<[u8]>,
    filled: usize,
    place: OwnedSemaphorePermit,
}

/// Buffers for reading files: 16 of 64 KiB, the spare ones kept, lent for one read at a time.
pub(crate) struct FileBuffers {
    spares: Mutex<Vec<Box<[u8]>>>,
    places: Arc<Semaphore>,
}

impl FileBuffers {
    fn new() -> Self {
        Self { spares: Mutex::default(), places: Arc::new(Semaphore::new(BUFFERS_MAX)) }
    }

    /// Returns the buffers of the process, which no ledger is charged with.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<FileBuffers> = LazyLock::new(FileBuffers::new);
        &SHARED
    }

    /// Waits until a buffer is free; nothing was read into it.
    pub(super) async fn lend(&self) -> Result<Buffer, Error> {
        // Nobody closes it.
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(Error::other)?;
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = spare.unwrap_or_else(|| vec![0; BUFFER_BYTES].into());
        Ok(Buffer { bytes, filled: 0, place })
    }

    /// Takes one back. One that is dropped instead makes room for a new one.
    pub(super) fn give(&self, buffer: Buffer) {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner).push(buffer.bytes);
        drop(buffer.place);
    }
}

impl Buffer {
    /// Returns the first bytes of the buffer, to be filled; they are what was read from now on.
    pub(super) fn first(&mut self, bytes: usize) -> &mut [u8] {
        self.filled = bytes.min(self.bytes.len());
        &mut self.bytes[..self.filled]
    }

    /// Returns the bytes that were read.
    pub(super) fn read(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn lend(buffers: &FileBuffers) -> Option<Buffer> {
        match pin!(buffers.lend()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(buffer) => buffer.ok(),
            Poll::Pending => None,
        }
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let buffers = FileBuffers::new();
        let mut lent: Vec<_> = (0..BUFFERS_MAX).filter_map(|_| lend(&buffers)).collect();
        assert!(lent.len() == BUFFERS_MAX && lend(&buffers).is_none());
        lent.pop().into_iter().for_each(|buffer| buffers.give(buffer));
        assert!(lend(&buffers).is_some(), "it came back");
        drop(lent.pop());
        assert!(lend(&buffers).is_some(), "another takes the place of one that is gone");
        lent.into_iter().for_each(|buffer| buffers.give(buffer));
        assert!(buffers.spares.lock().unwrap().len() <= BUFFERS_MAX);
    }

    #[test]
    fn what_was_read_is_what_was_asked_for() {
        let buffers = FileBuffers::new();
        let mut buffer = lend(&buffers).unwrap();
        buffer.first(3).copy_from_slice(b"abc");
        assert_eq!(buffer.read(), b"abc");
        assert_eq!(buffer.first(usize::MAX).len(), BUFFER_BYTES);
    }
}
