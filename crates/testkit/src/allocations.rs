//! Allocation assertions.

/// The number of times that the calling thread allocates while the closure runs.
///
/// # Panics
/// When the binary has not installed [`Tally`](crate::Tally): every count would be zero then, and mean
/// nothing.
///
/// ```
/// use alula_testkit::{Tally, allocations};
///
/// #[global_allocator]
/// static ALLOCATOR: Tally = Tally::system();
///
/// let mut list = Vec::with_capacity(10);
/// assert_eq!(allocations(|| list.extend([0; 10])), 0);
/// assert_eq!(allocations(|| list.push(0)), 1);
/// ```
pub fn allocations(run: impl FnOnce()) -> u64 {
    assert!(
        alula_tally::is_installed(),
        "this test binary must have alula_tally::Tally as its global allocator"
    );
    alula_tally::counted(run).1.allocations
}
