//! The allocator that counts, around one that allocates.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::local;

/// A global allocator that counts each call and leaves the work to another, as a rule the system's.
///
/// Costs a few plain additions per call for the thread's counts and two atomic ones for its side's.
#[derive(Copy, Clone, Debug, Default)]
pub struct Tally<A = System> {
    inner: A,
}

impl Tally {
    /// Counts around the system's allocator.
    pub const fn system() -> Self {
        Self::around(System)
    }
}

impl<A> Tally<A> {
    /// Counts around another allocator.
    pub const fn around(inner: A) -> Self {
        Self { inner }
    }
}

// SAFETY: every call is passed on unchanged to an allocator that keeps the contract of `GlobalAlloc`, and its
// answer is returned unchanged. Counting neither allocates nor unwinds (see `local.rs`).
unsafe impl<A: GlobalAlloc> GlobalAlloc for Tally<A> {
    /// # Safety
    /// As [`GlobalAlloc::alloc`]: the layout is not empty.
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is that of the inner one.
        let block = unsafe { self.inner.alloc(layout) };
        count(block, layout.size());
        block
    }

    /// # Safety
    /// As [`GlobalAlloc::alloc_zeroed`]: the layout is not empty.
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is that of the inner one.
        let block = unsafe { self.inner.alloc_zeroed(layout) };
        count(block, layout.size());
        block
    }

    /// # Safety
    /// As [`GlobalAlloc::dealloc`]: this allocator gave the block out with this layout, and it is still out.
    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        local::freed(layout.size());
        // SAFETY: the block came from the inner allocator through this one, with the same layout.
        unsafe { self.inner.dealloc(block, layout) }
    }

    /// # Safety
    /// As [`GlobalAlloc::realloc`]: as `dealloc`, and the new size is neither zero nor too large for the
    /// alignment.
    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the block came from the inner allocator through this one, with the same layout; the caller
        // keeps the contract for the new size.
        let moved = unsafe { self.inner.realloc(block, layout, new_size) };
        if !moved.is_null() {
            local::freed(layout.size());
        }
        count(moved, new_size);
        moved
    }
}

/// Counts an allocation, unless it failed.
#[inline]
fn count(block: *mut u8, bytes: usize) {
    if !block.is_null() {
        local::allocated(bytes);
    }
}
