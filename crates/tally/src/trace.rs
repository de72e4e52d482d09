//! The call stacks of the allocations that one side makes while it is watched.
//!
//! A count says that something allocates, a stack says what. While a stack is taken, the thread neither
//! counts nor is watched, since taking it allocates.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use crate::side::Side;

/// The stacks that are kept at most. More would say no more.
const STACKS_MAX: usize = 4_096;
/// The index that no side has.
const NOBODY: u8 = u8::MAX;

static WATCHED: AtomicU8 = AtomicU8::new(NOBODY);
static STACKS: Mutex<Vec<Backtrace>> = Mutex::new(Vec::new());

thread_local! {
    static TAKES_STACK: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the call stack of every allocation of this side from now on, up to 4,096 of them, until [`stacks`]
/// is called. Allocates an unwound stack per allocation, which is counted nowhere.
///
/// ```
/// use alula_tally::{Side, Tally};
///
/// #[global_allocator]
/// static ALLOCATOR: Tally = Tally::system();
///
/// alula_tally::watch(Side::NONE);
/// let kept = vec![0u8; 100];
/// assert!(!alula_tally::stacks().is_empty());
/// # drop(kept);
/// ```
pub fn watch(side: Side) {
    kept().clear();
    WATCHED.store(side.index(), Relaxed);
}

/// Returns the call stacks of the allocations since [`watch`], each with how often it was seen, the rarest
/// first, and ends the watch. Resolves names, which takes seconds.
pub fn stacks() -> Vec<(usize, String)> {
    WATCHED.store(NOBODY, Relaxed);
    let mut seen = BTreeMap::new();
    for stack in kept().drain(..) {
        *seen.entry(stack.to_string()).or_insert(0) += 1;
    }
    let mut stacks: Vec<_> = seen.into_iter().map(|(stack, times)| (times, stack)).collect();
    stacks.sort();
    stacks
}

/// Returns true while the calling thread takes a stack, and its allocations are to be counted nowhere.
#[inline]
pub(crate) fn is_taking() -> bool {
    TAKES_STACK.try_with(Cell::get).unwrap_or(false)
}

/// Keeps the stack of an allocation of this side, if that is watched.
#[inline]
pub(crate) fn allocated(side: Side) {
    if WATCHED.load(Relaxed) == side.index() {
        keep();
    }
}

#[cold]
fn keep() {
    // A thread that is being taken down has no such local any more, and is not watched.
    if TAKES_STACK.try_with(|takes| takes.replace(true)).is_err() {
        return;
    }
    let mut kept = kept();
    if kept.len() < STACKS_MAX {
        kept.push(Backtrace::force_capture());
    }
    drop(kept);
    TAKES_STACK.set(false);
}

fn kept() -> std::sync::MutexGuard<'static, Vec<Backtrace>> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}
