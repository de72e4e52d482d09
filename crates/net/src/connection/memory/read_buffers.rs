//! Read buffers that a thread lends to its connections.
//!
//! A connection needs a large buffer only from when its socket is read until what came is handled. A thread
//! does that for one connection at a time, so its connections share a few buffers: an idle connection keeps
//! only the bytes that it could not handle yet.
//!
//! Rule 1: a buffer is lent and given back within one poll. Bytes still unread at its end move to memory of
//! their own size (`Connection::stow_input`).
//! Rule 2: large content that is handed over as it was read takes the buffer along (`connection/claim.rs`).
//! The connection reads into buffers of its own from then on, until it is idle.

use std::cell::{Cell, RefCell};

/// The bytes of a lent buffer, and so of one read.
pub(crate) const LENT_BYTES: usize = 64 * 1024;

/// The buffers that a thread keeps: encrypted and plain bytes of one connection, twice, since a connection
/// may lead through another.
const KEPT_MAX: usize = 4;

/// The kept buffers behind the next one.
const BEHIND_MAX: usize = KEPT_MAX - 1;

/// The bytes above which a buffer is not kept; content leaves larger ones behind.
const KEPT_BYTES_MAX: usize = 2 * LENT_BYTES;

thread_local! {
    /// The buffer that is lent next; empty if there is none. As a rule one is all that is in use.
    static NEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static BEHIND: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns a buffer of at least [`LENT_BYTES`] initialised bytes; allocates when this thread keeps none.
#[inline(always)]
pub(crate) fn lend() -> Vec<u8> {
    // A thread that is ending keeps nothing.
    match NEXT.try_with(Cell::take) {
        Ok(next) if !next.is_empty() => next,
        _ => lend_another(),
    }
}

#[inline(never)]
fn lend_another() -> Vec<u8> {
    let kept = BEHIND.try_with(|behind| behind.borrow_mut().pop()).ok().flatten();
    kept.unwrap_or_else(|| vec![0; LENT_BYTES])
}

/// Takes a buffer back, and keeps or frees it.
#[inline(always)]
pub(crate) fn give_back(buffer: Vec<u8>) {
    if buffer.len() < LENT_BYTES || buffer.capacity() > KEPT_BYTES_MAX {
        return;
    }
    // A thread that is ending keeps nothing.
    let Ok(other) = NEXT.try_with(|next| next.replace(buffer)) else { return };
    if !other.is_empty() {
        keep_behind(other);
    }
}

#[inline(never)]
fn keep_behind(buffer: Vec<u8>) {
    // A buffer that finds no place is freed.
    let _ = BEHIND.try_with(|behind| {
        let mut behind = behind.borrow_mut();
        if behind.len() < BEHIND_MAX {
            behind.push(buffer);
        }
    });
}

/// Frees what this thread keeps, so that what is left of a simulated run can be counted.
#[cfg(feature = "simulation")]
pub(crate) fn free_kept() {
    drop(NEXT.take());
    drop(BEHIND.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of buffers that this thread keeps.
    fn kept() -> usize {
        let next = NEXT.take();
        let kept = usize::from(!next.is_empty()) + BEHIND.with(|behind| behind.borrow().len());
        NEXT.set(next);
        kept
    }

    #[test]
    fn a_buffer_is_lent_again_and_few_are_kept() {
        let first = lend();
        let address = first.as_ptr();
        assert_eq!(first.len(), LENT_BYTES);
        give_back(first);
        let again = lend();
        assert_eq!(again.as_ptr(), address, "the same memory");
        for _ in 0..2 * KEPT_MAX {
            give_back(vec![0; LENT_BYTES]);
        }
        give_back(Vec::new());
        assert_eq!(kept(), KEPT_MAX);
    }

    #[test]
    fn a_buffer_that_is_too_small_or_too_large_is_not_kept() {
        give_back(vec![0; LENT_BYTES - 1]);
        give_back(vec![0; KEPT_BYTES_MAX + 1]);
        assert_eq!(kept(), 0);
    }
}
