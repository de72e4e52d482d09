//! Spare heads for messages.
//!
//! A connection keeps those it has used for its next streams. When it rests or is over, its thread keeps some
//! of them for other connections: so opening one, asking once and closing it allocates no head.

use std::cell::RefCell;

use alula_fields::Head;

use crate::few::Few;

/// The bytes of all heads that a connection keeps. It only ever has as many as were in use at once: a
/// thousand requests in flight, of which each has some 10 fields, need less.
const SPARES_BYTES_MAX: usize = 2 << 20;
/// The memory that a head may keep, in bytes.
const SPARE_BYTES: usize = 4 * 1024;

/// The bytes of all heads that a thread keeps.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The heads that a thread keeps.
#[derive(Default)]
struct Kept {
    // Boxed, because heads are handed on from hand to hand.
    #[expect(clippy::vec_box, reason = "heads are handed on in their boxes")]
    heads: Vec<Box<Head>>,
    bytes: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { heads: Vec::new(), bytes: 0 }) };
}

/// The heads that a connection keeps for its next streams. They are empty, and boxed because they are handed
/// on from hand to hand.
#[derive(Default)]
pub(crate) struct Heads {
    own: Few<Box<Head>>,
    bytes: usize,
}

impl Heads {
    /// Returns an empty head, preferably a used one.
    #[inline]
    pub(crate) fn lend(&mut self) -> Box<Head> {
        self.pop_own().unwrap_or_else(of_thread)
    }

    /// Returns a head that this connection has used before, if there is one.
    #[inline]
    fn pop_own(&mut self) -> Option<Box<Head>> {
        let head = self.own.pop()?;
        self.bytes -= bytes_of(&head);
        Some(head)
    }

    /// Takes a head back.
    #[inline]
    pub(crate) fn give(&mut self, mut head: Box<Head>) {
        head.clear();
        head.trim(SPARE_BYTES);
        let bytes = bytes_of(&head);
        if self.bytes + bytes <= SPARES_BYTES_MAX {
            self.bytes += bytes;
            self.own.push(head);
        }
    }

    /// Makes room for so many heads to be given back.
    pub(crate) fn expect(&mut self, most: usize) {
        self.own.expect(most);
    }

    /// Returns the bytes that they hold.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves the heads to the thread.
    #[inline]
    pub(crate) fn leave(&mut self) {
        if self.bytes > 0 || self.own.capacity() > 0 {
            self.leave_all();
        }
    }

    fn leave_all(&mut self) {
        self.bytes = 0;
        self.own.drain().for_each(keep);
        self.own.shrink_to_fit();
    }
}

impl Drop for Heads {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Returns an empty head that this thread has kept, or a new one.
pub(crate) fn of_thread() -> Box<Head> {
    kept_by_thread().unwrap_or_default()
}

/// Returns an empty head that this thread has kept, if there is one.
fn kept_by_thread() -> Option<Box<Head>> {
    // A thread that is ending keeps nothing.
    KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten()
}

/// Keeps the memory of a head that is not needed any more, for the next messages of this thread.
pub fn keep_head(mut head: Box<Head>) {
    head.clear();
    keep(head);
}

/// Returns an empty head, a used one if this thread has kept one.
pub fn lend_head() -> Box<Head> {
    of_thread()
}

/// Keeps an empty head for another connection; one that has no memory, or too much, is freed.
fn keep(head: Box<Head>) {
    if (1..=SPARE_BYTES).contains(&head.capacity_bytes()) {
        let _ = KEPT.try_with(|kept| kept.borrow_mut().push(head));
    }
}

impl Kept {
    fn pop(&mut self) -> Option<Box<Head>> {
        let head = self.heads.pop()?;
        self.bytes -= bytes_of(&head);
        Some(head)
    }

    fn push(&mut self, head: Box<Head>) {
        let bytes = bytes_of(&head);
        if self.bytes + bytes <= KEPT_BYTES_MAX {
            self.bytes += bytes;
            self.heads.push(head);
        }
    }
}

fn bytes_of(head: &Head) -> usize {
    size_of::<Head>() + head.capacity_bytes()
}

/// Frees what this thread keeps, so that what is left of a simulated run can be counted.
#[cfg(feature = "simulation")]
pub(crate) fn free_kept() {
    drop(KEPT.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(bytes: usize) -> Box<Head> {
        let mut head = Box::new(Head::new());
        head.fields.append("x-used", "a".repeat(bytes)).expect("it is allowed");
        head
    }

    fn kept() -> usize {
        KEPT.with_borrow(|kept| kept.heads.len())
    }

    #[test]
    fn a_head_is_lent_to_the_next_connection() {
        let mut heads = Heads::default();
        heads.give(used(10));
        assert_eq!(kept(), 0);
        drop(heads);
        assert_eq!(kept(), 1);
        let lent = Heads::default().lend();
        assert!(lent.capacity_bytes() > 0 && lent.fields.is_empty());
        assert_eq!(kept(), 0);
    }

    #[test]
    fn a_connection_keeps_so_many_bytes() {
        let mut heads = Heads::default();
        for _ in 0..1_000 {
            heads.give(used(1_000));
        }
        assert_eq!(heads.own.iter().count(), 1_000, "{} bytes", heads.bytes());
        (0..1_000).for_each(|_| heads.give(used(SPARE_BYTES)));
        let held: usize = heads.own.iter().map(|head| bytes_of(head)).sum();
        assert_eq!(heads.bytes(), held);
        assert!((SPARES_BYTES_MAX - 2 * SPARE_BYTES..=SPARES_BYTES_MAX).contains(&held), "{held}");
        while heads.pop_own().is_some() {}
        assert_eq!(heads.bytes(), 0);
    }

    #[test]
    fn a_thread_keeps_few_bytes_and_no_large_heads() {
        let mut heads = Heads::default();
        for _ in 0..2 * KEPT_BYTES_MAX / size_of::<Head>() {
            heads.give(used(10));
            heads.leave();
        }
        let (count, bytes) = KEPT.with_borrow(|kept| (kept.heads.len(), kept.bytes));
        assert!(bytes <= KEPT_BYTES_MAX && bytes + 2 * bytes / count > KEPT_BYTES_MAX, "{count}: {bytes}");
        drop(KEPT.take());
        heads.give(Box::default());
        heads.leave();
        keep_head(used(2 * SPARE_BYTES));
        assert_eq!((kept(), heads.bytes()), (0, 0));
    }
}
