//! Heads that wait for messages.
//!
//! A connection keeps those it has used for its next streams. When it rests or is over, its thread keeps some of them for other
//! connections: so opening one, asking once and closing it allocates no head.

use std::cell::RefCell;

use alula_fields::Head;

use crate::few::Few;

/// Heads that a connection keeps.
const SPARES_MAX: usize = 256;
/// The memory that a head may keep, in octets.
const SPARE_OCTETS: usize = 4 * 1024;

/// Heads that a thread keeps.
const KEPT_MAX: usize = 64;
/// A larger head is not kept by a thread.
const KEPT_OCTETS_MAX: usize = 1024;

/// Boxed, because heads are handed on from hand to hand.
type Kept = Vec<Box<Head>>;

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Vec::new()) };
}

/// The heads that a connection keeps for its next streams. They are empty, and boxed because they are handed on from hand to hand.
#[derive(Default)]
pub(crate) struct Heads {
    own: Few<Box<Head>>,
}

impl Heads {
    /// A head that was used on this connection before, if there is any.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Box<Head>> {
        self.own.pop()
    }

    /// An empty head, a used one if there is any.
    #[inline]
    pub(crate) fn lend(&mut self) -> Box<Head> {
        self.own.pop().unwrap_or_else(of_thread)
    }

    /// Takes a head back.
    #[inline]
    pub(crate) fn give(&mut self, mut head: Box<Head>) {
        if self.own.len() < SPARES_MAX {
            head.clear();
            head.trim(SPARE_OCTETS);
            self.own.push(head);
        }
    }

    /// The octets that they hold.
    pub(crate) fn octets(&self) -> usize {
        self.own.iter().map(|head| size_of::<Head>() + head.capacity_bytes()).sum()
    }

    /// Leaves them to the thread.
    pub(crate) fn leave(&mut self) {
        self.own.drain().for_each(keep);
        self.own.shrink_to_fit();
    }
}

impl Drop for Heads {
    fn drop(&mut self) {
        self.leave();
    }
}

/// An empty head that this thread has kept, or a new one.
pub(crate) fn of_thread() -> Box<Head> {
    // A thread that is ending keeps nothing.
    KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Keeps an empty head for another connection; one that has no memory, or too much, is freed.
fn keep(head: Box<Head>) {
    if (1..=KEPT_OCTETS_MAX).contains(&head.capacity_bytes()) {
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() < KEPT_MAX {
                kept.push(head);
            }
        });
    }
}

/// Frees what this thread keeps, so that what is left of a simulated run can be counted.
#[cfg(feature = "simulation")]
pub(crate) fn free_kept() {
    drop(KEPT.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(octets: usize) -> Box<Head> {
        let mut head = Box::new(Head::new());
        head.fields.append("x-used", "a".repeat(octets)).expect("it is allowed");
        head
    }

    fn kept() -> usize {
        KEPT.with_borrow(Vec::len)
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
    fn a_thread_keeps_few_heads_and_no_large_ones() {
        let mut heads = Heads::default();
        heads.give(used(KEPT_OCTETS_MAX));
        heads.give(Box::default());
        heads.leave();
        assert_eq!((kept(), heads.octets()), (0, 0));
        (0..2 * KEPT_MAX).for_each(|_| heads.give(used(10)));
        heads.leave();
        assert_eq!(kept(), KEPT_MAX);
    }
}
