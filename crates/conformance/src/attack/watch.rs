//! The most that one side of this process holds, seen by looking again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use alula_tally::{Side, side};

/// How often one looks.
const LOOK: Duration = Duration::from_micros(200);

/// Watches what the threads of a side hold beyond what they held at first, until it is dropped.
pub(super) struct Watch {
    before: i64,
    watched: Arc<Watched>,
}

struct Watched {
    side: Side,
    peak: AtomicI64,
    ended: AtomicBool,
}

impl Watch {
    pub(super) fn on(side_of: Side) -> Self {
        let before = side(side_of).bytes_live();
        let watched =
            Arc::new(Watched { side: side_of, peak: AtomicI64::new(before), ended: AtomicBool::new(false) });
        thread::spawn({
            let watched = Arc::clone(&watched);
            move || watched.run()
        });
        Self { before, watched }
    }

    /// The most bytes that were held at once so far.
    pub(super) fn peak(&self) -> i64 {
        self.watched.look() - self.before
    }
}

impl Watched {
    fn look(&self) -> i64 {
        let held = side(self.side).bytes_live();
        self.peak.fetch_max(held, Ordering::Relaxed).max(held)
    }

    #[allow(clippy::disallowed_methods, reason = "what other threads hold is seen by looking again")]
    fn run(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            self.look();
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watched.ended.store(true, Ordering::Relaxed);
    }
}
