//! Kits: the memory that a connection borrows from its thread while requests are under way: slots, streams of
//! the machine, heads, lists, and buffers for output and content.
//!
//! A connection takes a kit when something is to be done, and keeps it while few do so. Once [`FEW`]
//! connections of a server or of a client have one, each leaves its own as soon as nothing is under way, and
//! at the latest when it has rested for a while. Thousands of connections that are used in turn hold, and
//! touch, no more memory than the few that are used at the same time.
//!
//! Rule 1: a kit that is taken back allocates nothing, and taking one does not as long as the thread keeps
//! any of the same version.
//! Rule 2: a kit stays where it is: a connection exchanges its parts for those of the kit, one by one. Kits
//! passed on by value would be copied several times, which costs more than all other work of the exchange.

use std::{cell::RefCell, task::Waker};

use alula_h2::StreamMemory;
use alula_machine::OutBuf;

use crate::{
    connection::{
        inbox::Lists,
        memory::{contents::Contents, heads::Heads},
        open_queue::Callers,
        stream::table::Slots,
    },
    establish::version::Version,
};

/// The connections of one server or client that may keep their kits between two requests.
pub(crate) const FEW: usize = 64;

/// The kits of one version that a thread keeps.
const KEPT_MAX: usize = 64;

/// The bytes of all kits that a thread keeps: [`KEPT_MAX`] of connections with a few streams each.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The bytes of output buffers up to which a connection gives its kit back at once.
pub(crate) const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The bytes of content buffers above which they stay with their connection until it rests.
pub(crate) const CONTENTS_BYTES_MAX: usize = 16 * 1024;

/// A kit; parts that the connection had not made yet are empty.
#[derive(Default)]
pub(crate) struct Kit {
    /// The slots, which belong to no stream.
    pub(crate) slots: Slots,
    pub(crate) streams: StreamMemory,
    pub(crate) heads: Heads,
    pub(crate) inbox: Lists,
    pub(crate) callers: Callers,
    pub(crate) wakers: Vec<Waker>,
    /// The buffers for output, the larger one first.
    pub(crate) output: [OutBuf; 2],
    /// The empty buffers for content.
    pub(crate) contents: Contents,
}

impl Kit {
    /// Returns the bytes of the kit without those of its lists.
    fn bytes(&self) -> usize {
        let output: usize = self.output.iter().map(OutBuf::capacity).sum();
        self.slots.bytes() + self.streams.memory_bytes() + self.heads.bytes() + output + self.contents.bytes()
    }
}

/// The kits of one version that a thread keeps.
struct Shelf {
    /// The kits with their bytes. Behind those that have memory lie empty ones: the places for the kits that
    /// are left next.
    kits: Vec<(Kit, usize)>,
    /// The number of kits that have memory.
    full: usize,
}

/// The kits that a thread keeps, and their bytes.
struct Kept {
    http1: Shelf,
    http2: Shelf,
    bytes: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept::new()) };
}

/// Lets `empty` take all memory out of a kit, if this thread has kept one.
pub(crate) fn take(version: Version, empty: impl FnOnce(&mut Kit)) {
    // A thread that is ending keeps nothing.
    let _ = KEPT.try_with(|kept| kept.try_borrow_mut().ok()?.take(version).map(empty));
}

/// Lets `fill` put memory into an empty kit, for another connection; a kit too many, or a large one, is
/// freed.
pub(crate) fn leave(version: Version, fill: &mut dyn FnMut(&mut Kit)) {
    // A waker is dropped with its slot, and may be the last to hold a task with another connection: that one
    // is freed.
    let has_place =
        KEPT.try_with(|kept| kept.try_borrow_mut().is_ok_and(|mut kept| kept.leave(version, fill)));
    if has_place != Ok(true) {
        fill(&mut Kit::default());
    }
}

impl Shelf {
    const fn new() -> Self {
        Self { kits: Vec::new(), full: 0 }
    }

    /// Returns the place for another kit, unless enough are kept.
    fn place(&mut self) -> Option<&mut (Kit, usize)> {
        if self.full == self.kits.len() && self.full < KEPT_MAX {
            self.kits.push(Default::default());
        }
        self.kits.get_mut(self.full)
    }
}

impl Kept {
    const fn new() -> Self {
        Self { http1: Shelf::new(), http2: Shelf::new(), bytes: 0 }
    }

    fn shelf(&mut self, version: Version) -> &mut Shelf {
        match version {
            Version::Http1 => &mut self.http1,
            Version::Http2 => &mut self.http2,
        }
    }

    /// Takes the kit that was left last.
    fn take(&mut self, version: Version) -> Option<&mut Kit> {
        let shelf = self.shelf(version);
        shelf.full = shelf.full.checked_sub(1)?;
        let bytes = shelf.kits[shelf.full].1;
        self.bytes -= bytes;
        let shelf = self.shelf(version);
        Some(&mut shelf.kits[shelf.full].0)
    }

    /// Returns true if there was a place for a kit. It stays empty if the bytes of all would be too many.
    fn leave(&mut self, version: Version, fill: &mut dyn FnMut(&mut Kit)) -> bool {
        let room = KEPT_BYTES_MAX - self.bytes;
        let shelf = self.shelf(version);
        let Some((kit, bytes)) = shelf.place() else { return false };
        fill(kit);
        *bytes = kit.bytes();
        if *bytes > room {
            *kit = Kit::default();
            return true;
        }
        let bytes = *bytes;
        shelf.full += 1;
        self.bytes += bytes;
        true
    }
}

/// Frees what this thread keeps, so that what is left of a simulated run can be counted.
#[cfg(feature = "simulation")]
pub(crate) fn free_kept() {
    drop(KEPT.replace(Kept::new()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kit(bytes: usize) -> Kit {
        let mut output = OutBuf::new();
        output.extend(&vec![0; bytes]);
        output.clear();
        let mut kit = Kit { output: [output, OutBuf::new()], ..Kit::default() };
        kit.slots.add();
        kit
    }

    /// Kits with memory by version, and their bytes; places without memory have none.
    fn kept() -> (usize, usize, usize) {
        KEPT.with_borrow(|kept| {
            let shelves = [&kept.http1, &kept.http2];
            let places = shelves.iter().flat_map(|shelf| &shelf.kits[shelf.full..]);
            assert!(places.into_iter().all(|(kit, _)| kit.bytes() == 0));
            (kept.http1.full, kept.http2.full, kept.bytes)
        })
    }

    fn leave(version: Version, mut kit: Kit) {
        super::leave(version, &mut |place| std::mem::swap(place, &mut kit));
    }

    fn take(version: Version) -> Kit {
        let mut taken = Kit::default();
        super::take(version, |kit| std::mem::swap(kit, &mut taken));
        taken
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
    fn a_connection_that_is_dropped_while_a_kit_is_filled_or_emptied_keeps_none() {
        super::leave(Version::Http2, &mut |place| {
            leave(Version::Http2, kit(100));
            *place = kit(200);
        });
        assert_eq!((kept().0, kept().1), (0, 1));
        super::take(Version::Http2, |kit| {
            assert_eq!(take(Version::Http2).slots.count(), 0);
            assert_eq!(std::mem::take(kit).slots.count(), 1);
        });
        assert_eq!(kept(), (0, 0, 0));
    }

    #[test]
    fn a_thread_keeps_so_many_bytes() {
        for _ in 0..KEPT_MAX {
            leave(Version::Http2, kit(KEPT_BYTES_MAX / 8));
        }
        let (_, count, bytes) = kept();
        assert!(count == 7 && bytes <= KEPT_BYTES_MAX, "{count}: {bytes}");
        (0..count).for_each(|_| drop(take(Version::Http2)));
        assert_eq!(kept(), (0, 0, 0));
    }
}
