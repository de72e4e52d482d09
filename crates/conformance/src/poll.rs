//! Waiting for something outside this process: by looking again, for a bounded time.

use std::thread;
use std::time::{Duration, Instant};

/// How often one looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks until `look` finds something, and gives up after `limit`.
#[allow(
    clippy::disallowed_methods,
    reason = "other programs say nothing when they are ready: one has to look again"
)]
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(PAUSE);
    }
}
