//! The memory that a connection needs while a request is under way, and has from its thread: a slot, and buffers for output and content.
//!
//! A connection takes a kit when something is to be done, and keeps it while few do so. Once [`FEW`] connections of a server or of a client
//! have one, each leaves its own as soon as nothing is under way, and at the latest when it has rested for a while. So thousands of
//! connections that are used in turn hold, and touch, as little as those that are used at once.
//!
//! Rule: a kit that is taken back allocates nothing, and taking one does not as long as the thread keeps any.

use std::cell::RefCell;

use alula_machine::OutBuf;

use crate::{connection::slot::Slot, content::Content};

/// Connections that keep their kits between two requests, of one server or client.
pub(crate) const FEW: usize = 64;

/// Kits that a thread keeps.
const KEPT_MAX: usize = 64;

/// A buffer for output that is larger does not go along.
pub(crate) const OUTPUT_OCTETS_MAX: usize = 16 * 1024;

/// A buffer for content that is larger does not go along either.
const CONTENT_OCTETS_MAX: usize = 16 * 1024;

/// The memory that is used again; parts that the connection had not made yet are empty.
#[derive(Default)]
pub(crate) struct Kit {
    /// One slot at most, which belongs to no stream.
    pub(crate) slots: Vec<Slot>,
    /// The buffers for output, the larger one first.
    pub(crate) output: [OutBuf; 2],
    /// A buffer for content, which holds none.
    pub(crate) content: Content,
}

thread_local! {
    static KEPT: RefCell<Vec<Kit>> = const { RefCell::new(Vec::new()) };
}

/// A kit that this thread has kept, or an empty one.
pub(crate) fn take() -> Kit {
    // A thread that is ending keeps nothing.
    KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Keeps a kit for another connection; one too many is freed, and so are buffers that are large.
pub(crate) fn leave(mut kit: Kit) {
    for buffer in &mut kit.output {
        if buffer.capacity() > OUTPUT_OCTETS_MAX {
            *buffer = OutBuf::new();
        }
    }
    if kit.content.capacity() > CONTENT_OCTETS_MAX {
        kit.content = Content::default();
    }
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_MAX {
            kept.push(kit);
        }
    });
}

/// Frees what this thread keeps, so that what is left of a simulated run can be counted.
#[cfg(feature = "simulation")]
pub(crate) fn free_kept() {
    drop(KEPT.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kit(octets: usize) -> Kit {
        let (mut output, mut content) = (OutBuf::new(), Content::default());
        output.extend(&vec![0; octets]);
        output.clear();
        content.append(&vec![0; octets], true);
        Kit { slots: vec![Slot::default()], output: [output, OutBuf::new()], content }
    }

    #[test]
    fn a_kit_is_taken_again_and_few_are_kept() {
        for _ in 0..2 * KEPT_MAX {
            leave(kit(100));
        }
        assert_eq!(KEPT.with_borrow(Vec::len), KEPT_MAX);
        for _ in 0..KEPT_MAX {
            let kit = take();
            assert!(kit.slots.len() == 1 && kit.output[0].capacity() >= 100 && kit.content.capacity() >= 100);
        }
        assert!(take().slots.is_empty());
    }

    #[test]
    fn a_large_buffer_is_freed() {
        leave(kit(2 * OUTPUT_OCTETS_MAX.max(CONTENT_OCTETS_MAX)));
        let kit = take();
        assert_eq!((kit.slots.len(), kit.output[0].capacity(), kit.content.capacity()), (1, 0, 0));
    }
}
