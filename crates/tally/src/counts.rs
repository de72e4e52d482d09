//! A set of counts, and its atomic twin.

use std::ops::{Add, Sub};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Calls to the allocator and the bytes they were about. Subtract two of them for what happened in between.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Calls to `alloc`, `alloc_zeroed` and `realloc` that succeeded.
    pub allocations: u64,
    /// Calls to `dealloc`, and to `realloc` that succeeded.
    pub deallocations: u64,
    /// The bytes asked for by the allocations.
    pub bytes: u64,
    /// The bytes given back by the deallocations.
    pub bytes_freed: u64,
}

impl Counts {
    /// Returns the bytes still held, as far as these counts know: memory freed by another thread or side
    /// counts there.
    #[inline]
    pub const fn bytes_live(&self) -> i64 {
        self.bytes.wrapping_sub(self.bytes_freed) as i64
    }
}

impl Add for Counts {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            allocations: self.allocations.wrapping_add(other.allocations),
            deallocations: self.deallocations.wrapping_add(other.deallocations),
            bytes: self.bytes.wrapping_add(other.bytes),
            bytes_freed: self.bytes_freed.wrapping_add(other.bytes_freed),
        }
    }
}

impl Sub for Counts {
    type Output = Self;

    #[inline]
    fn sub(self, before: Self) -> Self {
        Self {
            allocations: self.allocations.wrapping_sub(before.allocations),
            deallocations: self.deallocations.wrapping_sub(before.deallocations),
            bytes: self.bytes.wrapping_sub(before.bytes),
            bytes_freed: self.bytes_freed.wrapping_sub(before.bytes_freed),
        }
    }
}

/// Counts that many threads add to; on cache lines of their own.
#[repr(align(128))]
pub(crate) struct Shared {
    allocations: AtomicU64,
    deallocations: AtomicU64,
    bytes: AtomicU64,
    bytes_freed: AtomicU64,
}

impl Shared {
    pub(crate) const fn new() -> Self {
        Self {
            allocations: AtomicU64::new(0),
            deallocations: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            bytes_freed: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(crate) fn allocated(&self, bytes: u64) {
        self.allocations.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    #[inline]
    pub(crate) fn freed(&self, bytes: u64) {
        self.deallocations.fetch_add(1, Relaxed);
        self.bytes_freed.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn load(&self) -> Counts {
        Counts {
            allocations: self.allocations.load(Relaxed),
            deallocations: self.deallocations.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            bytes_freed: self.bytes_freed.load(Relaxed),
        }
    }
}
