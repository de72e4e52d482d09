//! Small numbers for threads.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Returns the number of this thread: threads that first ask one after the other have neighbouring numbers.
#[inline]
pub(super) fn number() -> usize {
    // A thread that is ending has none any more.
    match NUMBER.try_with(Cell::get) {
        Ok(usize::MAX) => take_number(),
        Ok(number) => number,
        Err(_) => 0,
    }
}

#[cold]
fn take_number() -> usize {
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % usize::MAX;
    let _ = NUMBER.try_with(|own| own.set(number));
    number
}
