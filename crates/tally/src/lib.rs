//! The counting allocator: how many heap allocations a piece of code makes, by thread and by side.
//!
//! A binary installs it as the global allocator; then every call to the allocator is counted for the thread
//! that made it, for that thread's *side* (a label such as client or server, to tell the two apart in one
//! process), and for the whole process. Counts are read without allocating. In a binary that does not install
//! it, all counts are zero and [`is_installed`] says so: a test should ask before it trusts a zero.
//!
//! A count that is not zero does not say which code allocates: [`watch`] keeps the call stacks of one side's
//! allocations, and [`stacks`] folds them.
//!
//! Calls are counted as follows: a call to `alloc` or `alloc_zeroed` is an allocation, a call to `realloc` is
//! an allocation and a deallocation, and a call that fails is nothing. Allocators hidden behind a crate's own
//! calls to `malloc` are not seen.
//!
//! ```
//! use alula_tally::{Side, Tally};
//!
//! #[global_allocator]
//! static ALLOCATOR: Tally = Tally::system();
//!
//! assert!(alula_tally::is_installed());
//! let (list, counts) = alula_tally::counted(|| vec![0_u8; 100]);
//! assert_eq!((counts.allocations, counts.bytes), (1, 100));
//!
//! let before = alula_tally::side(Side::SERVER);
//! {
//!     let _guard = alula_tally::enter(Side::SERVER);
//!     drop(list);
//! }
//! assert_eq!((alula_tally::side(Side::SERVER) - before).deallocations, 1);
//! ```
//!
//! This is the one crate of Alula that starts with unsafe code: an allocator cannot be written without. It
//! needs `std` for the system's allocator and for thread-locals.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod allocator;
mod counts;
mod local;
mod side;
mod trace;

pub use allocator::Tally;
pub use counts::Counts;
pub use side::{Side, SideGuard, enter, set_side};
pub use trace::{stacks, watch};

/// Returns the counts of the calling thread since it started. Allocates nothing.
#[inline]
pub fn thread() -> Counts {
    local::counts()
}

/// Returns the counts of all threads with this label, for the time in which they had it. Allocates nothing.
///
/// Threads still running may be counted up to any moment; ordered with what is known to have happened before.
#[inline]
pub fn side(side: Side) -> Counts {
    side::counts(side)
}

/// Returns the counts of the whole process since it started: the sum over all sides. Allocates nothing.
pub fn process() -> Counts {
    Side::all().map(side::counts).fold(Counts::default(), |sum, counts| sum + counts)
}

/// Runs the closure and says what the calling thread did meanwhile.
///
/// Other threads are not counted, neither is what the closure's result does when it is dropped.
#[inline]
pub fn counted<R>(run: impl FnOnce() -> R) -> (R, Counts) {
    let before = thread();
    let result = run();
    (result, thread() - before)
}

/// Runs the closure and returns the most bytes that the calling thread held at once meanwhile, beyond those
/// that it held before.
///
/// Calls may be within each other. Other threads are not counted; memory that they gave to this one and it
/// freed counts as less. A block that grows counts with its new size alone. Allocates nothing.
///
/// ```
/// use alula_tally::Tally;
///
/// #[global_allocator]
/// static ALLOCATOR: Tally = Tally::system();
///
/// let (sum, peak) = alula_tally::peak(|| {
///     drop(vec![0_u8; 1000]);
///     vec![1_u8; 600].iter().map(|byte| u32::from(*byte)).sum::<u32>()
/// });
/// assert_eq!((sum, peak), (600, 1000));
/// ```
pub fn peak<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let (live, before) = local::begin_peak();
    let result = run();
    let peak = local::end_peak(before) - live;
    (result, u64::try_from(peak).unwrap_or_default())
}

/// Returns true if [`Tally`] is this binary's global allocator, so that counts mean something.
///
/// Allocates once when nothing has been counted yet on this process, and never after.
pub fn is_installed() -> bool {
    if process().allocations == 0 {
        drop(std::hint::black_box(Box::new(0_u8)));
    }
    process().allocations != 0
}
