//! Buffers that a thread lends and takes back.
//!
//! A buffer goes back to the thread on which it is dropped. Buffers in use are not counted: what a peer can
//! make a handler hold in one is the handler's to bound, with [`Exchange::reserve`](crate::Exchange::reserve)
//! for instance.

use std::{
    cell::RefCell,
    fmt,
    ops::{Deref, DerefMut},
};

/// The spare buffers of a thread: enough for a few handlers.
const SPARES_MAX: usize = 16;

/// The capacity above which a buffer is freed: JSON and events are a few KiB. A thread keeps 1 MiB at most.
const KEPT_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static SPARES: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A growing buffer, empty when lent, whose memory is reused after it is dropped.
///
/// A thread keeps 16 spare buffers of up to 64 KiB each. Lending and giving back allocate nothing once the
/// thread has as many as are in use at once. May be held across `await` and dropped on another thread.
///
/// ```
/// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
/// use std::io::Write as _;
/// use alula::{Scratch, Status};
///
/// let mut page = Scratch::lend();
/// let _ = write!(*page, "you asked for {}\n", exchange.request().path());
/// exchange.respond(Status::OK).send(&*page).await
/// # }
/// ```
#[derive(Default)]
pub struct Scratch(Vec<u8>);

impl Scratch {
    /// Lends an empty buffer of this thread, or a new one without memory.
    pub fn lend() -> Self {
        Self(SPARES.try_with(|spares| spares.borrow_mut().pop()).ok().flatten().unwrap_or_default())
    }

    /// Lends an empty buffer of at most so many bytes of capacity, or a new one: for buffers that are held
    /// long, such as while content arrives. It may grow beyond that.
    pub fn lend_within(capacity_max: usize) -> Self {
        let fitting = |spares: &RefCell<Vec<Vec<u8>>>| {
            let mut spares = spares.borrow_mut();
            let place = spares.iter().rposition(|spare| spare.capacity() <= capacity_max)?;
            Some(spares.swap_remove(place))
        };
        Self(SPARES.try_with(fitting).ok().flatten().unwrap_or_default())
    }

    /// Lends an empty buffer with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut scratch = Self::lend();
        scratch.reserve(bytes);
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.0);
        if buffer.capacity() == 0 || buffer.capacity() > KEPT_BYTES_MAX {
            return;
        }
        buffer.clear();
        // A thread that ends keeps nothing.
        let _ = SPARES.try_with(|spares| {
            let mut spares = spares.borrow_mut();
            if spares.len() < SPARES_MAX {
                spares.push(buffer);
            }
        });
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl AsRef<[u8]> for Scratch {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Shows the length only, because the content may be a secret.
impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spares() -> usize {
        SPARES.with_borrow(Vec::len)
    }

    #[test]
    fn a_buffer_that_is_too_long_is_not_lent() {
        drop([Scratch::with_capacity(100), Scratch::with_capacity(1_000)]);
        let (short, none) = (Scratch::lend_within(500), Scratch::lend_within(50));
        assert!((100..=500).contains(&short.capacity()), "{}", short.capacity());
        assert_eq!(none.capacity(), 0);
        assert!(Scratch::lend_within(1_000).capacity() >= 1_000);
    }

    #[test]
    fn a_buffer_comes_back_empty_and_warm() {
        let mut scratch = Scratch::lend();
        scratch.extend_from_slice(b"content");
        drop(scratch);
        let again = Scratch::lend();
        assert!(again.is_empty() && again.capacity() >= 7);
    }

    #[test]
    fn spare_buffers_are_few_and_small() {
        drop(Scratch::with_capacity(KEPT_BYTES_MAX + 1));
        assert_eq!(spares(), 0);
        let lent: Vec<_> = (0..2 * SPARES_MAX).map(|_| Scratch::with_capacity(10)).collect();
        drop(lent);
        assert_eq!(spares(), SPARES_MAX);
    }
}
