//! The counts and the label of one thread.
//!
//! Rule: nothing here allocates, panics or registers a destructor, since the allocator itself calls it, also
//! while a thread is being taken down. The thread-local is therefore made at compile time, has no `Drop`, and
//! is reached with `try_with`.

use std::cell::Cell;

use crate::{counts::Counts, side::Side, trace};

struct Local {
    allocations: Cell<u64>,
    deallocations: Cell<u64>,
    bytes: Cell<u64>,
    bytes_freed: Cell<u64>,
    /// The most bytes that were live at once since it was set last.
    peak: Cell<i64>,
    side: Cell<Side>,
}

impl Local {
    #[inline]
    fn live(&self) -> i64 {
        self.bytes.get().wrapping_sub(self.bytes_freed.get()) as i64
    }
}

const _: () = assert!(!std::mem::needs_drop::<Local>());

thread_local! {
    static LOCAL: Local = const {
        Local {
            allocations: Cell::new(0),
            deallocations: Cell::new(0),
            bytes: Cell::new(0),
            bytes_freed: Cell::new(0),
            peak: Cell::new(0),
            side: Cell::new(Side::NONE),
        }
    };
}

#[inline]
pub(crate) fn allocated(bytes: usize) {
    let bytes = bytes as u64;
    if trace::is_taking() {
        return;
    }
    let side = LOCAL.try_with(|local| {
        add(&local.allocations, 1);
        add(&local.bytes, bytes);
        local.peak.set(local.peak.get().max(local.live()));
        local.side.get()
    });
    let side = side.unwrap_or(Side::NONE);
    side.shared().allocated(bytes);
    trace::allocated(side);
}

#[inline]
pub(crate) fn freed(bytes: usize) {
    if trace::is_taking() {
        return;
    }
    let bytes = bytes as u64;
    let side = LOCAL.try_with(|local| {
        add(&local.deallocations, 1);
        add(&local.bytes_freed, bytes);
        local.side.get()
    });
    side.unwrap_or(Side::NONE).shared().freed(bytes);
}

#[inline]
pub(crate) fn counts() -> Counts {
    let counts = LOCAL.try_with(|local| Counts {
        allocations: local.allocations.get(),
        deallocations: local.deallocations.get(),
        bytes: local.bytes.get(),
        bytes_freed: local.bytes_freed.get(),
    });
    counts.unwrap_or_default()
}

/// Returns the bytes that are live, and begins a new peak with them; the old peak comes second.
pub(crate) fn begin_peak() -> (i64, i64) {
    LOCAL.try_with(|local| (local.live(), local.peak.replace(local.live()))).unwrap_or_default()
}

/// Returns the peak since [`begin_peak`], and goes on with the greater of it and the one before.
pub(crate) fn end_peak(before: i64) -> i64 {
    let peak = LOCAL.try_with(|local| local.peak.replace(before.max(local.peak.get())));
    peak.unwrap_or_default()
}

#[inline]
pub(crate) fn set_side(side: Side) -> Side {
    LOCAL.try_with(|local| local.side.replace(side)).unwrap_or(Side::NONE)
}

#[inline]
fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get().wrapping_add(more));
}
