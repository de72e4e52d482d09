//! The memory that a connection needs while requests are under way, and has from its thread: slots, streams of the machine, heads, lists,
//! and buffers for output and content.
//!
//! A connection takes a kit when something is to be done, and keeps it while few do so. Once [`FEW`] connections of a server or of a client
//! have one, each leaves its own as soon as nothing is under way, and at the latest when it has rested for a while. So thousands of
//! connections that are used in turn hold, and touch, as little as those that are used at once.
//!
//! Rule: a kit that is taken back allocates nothing, and taking one does not as long as the thread keeps any of the same version.

use std::{cell::RefCell, task::Waker};

use alula_h2::StreamMemory;
use alula_machine::OutBuf;

use crate::{
    connection::{contents::Contents, inbox::Inbox, open_queue::Callers, slots::Slots},
    heads::Heads,
    version::Version,
};

/// Connections that keep their kits between two requests, of one server or client.
pub(crate) const FEW: usize = 64;

/// Kits of a version that a thread keeps.
const KEPT_MAX: usize = 64;

/// The octets of all kits that a thread keeps: [`KEPT_MAX`] of connections with a few streams each.
const KEPT_OCTETS_MAX: usize = 4 << 20;

/// The octets of buffers for output with which a connection leaves its kit at once.
pub(crate) const OUTPUT_OCTETS_MAX: usize = 64 * 1024;

/// Buffers for content with more octets stay with their connection until it rests.
pub(crate) const CONTENTS_OCTETS_MAX: usize = 16 * 1024;

/// The memory that is used again; parts that the connection had not made yet are empty.
#[derive(Default)]
pub(crate) struct Kit {
    /// Slots that belong to no stream.
    pub(crate) slots: Slots,
    pub(crate) streams: StreamMemory,
    pub(crate) heads: Heads,
    pub(crate) inbox: Inbox,
    pub(crate) callers: Callers,
    pub(crate) wakers: Vec<Waker>,
    /// The buffers for output, the larger one first.
    pub(crate) output: [OutBuf; 2],
    /// Buffers for content, which hold none.
    pub(crate) contents: Contents,
}

impl Kit {
    /// The octets that it holds, but for those of the lists.
    fn octets(&self) -> usize {
        let output: usize = self.output.iter().map(OutBuf::capacity).sum();
        self.slots.octets()
            + self.streams.memory_bytes()
            + self.heads.octets()
            + output
            + self.contents.octets()
    }
}

/// The kits that a thread keeps, and their octets.
#[derive(Default)]
struct Kept {
    http1: Vec<(Kit, usize)>,
    http2: Vec<(Kit, usize)>,
    octets: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { http1: Vec::new(), http2: Vec::new(), octets: 0 }) };
}

/// A kit that this thread has kept, or an empty one.
pub(crate) fn take(version: Version) -> Kit {
    // A thread that is ending keeps nothing.
    KEPT.try_with(|kept| kept.borrow_mut().pop(version)).ok().flatten().unwrap_or_default()
}

/// Keeps a kit for another connection; one too many is freed, and so is one that is large.
pub(crate) fn leave(version: Version, kit: Kit) {
    let octets = kit.octets();
    let _ = KEPT.try_with(|kept| kept.borrow_mut().push(version, kit, octets));
}

impl Kept {
    fn of(&mut self, version: Version) -> &mut Vec<(Kit, usize)> {
        match version {
            Version::Http1 => &mut self.http1,
            Version::Http2 => &mut self.http2,
        }
    }

    fn pop(&mut self, version: Version) -> Option<Kit> {
        let (kit, octets) = self.of(version).pop()?;
        self.octets -= octets;
        Some(kit)
    }

    fn push(&mut self, version: Version, kit: Kit, octets: usize) {
        let has_room = self.octets + octets <= KEPT_OCTETS_MAX;
        let kept = self.of(version);
        if has_room && kept.len() < KEPT_MAX {
            kept.push((kit, octets));
            self.octets += octets;
        }
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

    fn kit(octets: usize) -> Kit {
        let mut output = OutBuf::new();
        output.extend(&vec![0; octets]);
        output.clear();
        let mut kit = Kit { output: [output, OutBuf::new()], ..Kit::default() };
        kit.slots.add();
        kit
    }

    fn kept() -> (usize, usize, usize) {
        KEPT.with_borrow(|kept| (kept.http1.len(), kept.http2.len(), kept.octets))
    }

    #[test]
    fn a_kit_is_taken_again_by_its_version_and_few_are_kept() {
        for _ in 0..2 * KEPT_MAX {
            leave(Version::Http2, kit(100));
        }
        leave(Version::Http1, kit(100));
        assert_eq!((kept().0, kept().1), (1, KEPT_MAX));
        for _ in 0..KEPT_MAX {
            let kit = take(Version::Http2);
            assert!(kit.slots.count() == 1 && kit.output[0].capacity() >= 100);
        }
        assert_eq!(take(Version::Http2).slots.count(), 0);
        assert_eq!((take(Version::Http1).slots.count(), kept()), (1, (0, 0, 0)));
    }

    #[test]
    fn a_thread_keeps_so_many_octets() {
        for _ in 0..KEPT_MAX {
            leave(Version::Http2, kit(KEPT_OCTETS_MAX / 8));
        }
        let (_, count, octets) = kept();
        assert!(count == 7 && octets <= KEPT_OCTETS_MAX, "{count}: {octets}");
        (0..count).for_each(|_| drop(take(Version::Http2)));
        assert_eq!(kept(), (0, 0, 0));
    }
}
