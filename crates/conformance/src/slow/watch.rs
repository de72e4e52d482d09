//! A look, again and again, at what a server holds for slow connections.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::process::{held, memory};

/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections of bystanders, and those by which slowhttptest looks whether the server is there.
const OTHERS_MAX: usize = 16;

/// Descriptors and memory of a process.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The most connections at once.
    connections: usize,
    peak_kib: u64,
    /// The moment since which there have been none but those of bystanders, if they had been there before.
    free_after: Option<Duration>,
}

pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Held>,
}

impl Watch {
    /// Begins before anybody connects.
    pub(super) fn start(id: u32) -> Self {
        let (stop, before) = (Arc::new(AtomicBool::new(false)), held(id).descriptors);
        let thread = thread::spawn({
            let stop = Arc::clone(&stop);
            move || look(id, before, &stop)
        });
        Self { stop, thread }
    }

    /// Stops looking.
    pub(super) fn stop(self) -> Held {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("the server runs")
    }
}

#[expect(clippy::disallowed_methods, reason = "what another process holds is seen by looking again")]
fn look(id: u32, before: usize, stop: &AtomicBool) -> Held {
    let (start, mut all) = (Instant::now(), Held::default());
    while !stop.load(Ordering::Acquire) {
        all.add(held(id).descriptors.saturating_sub(before), start.elapsed());
        thread::sleep(PAUSE);
    }
    all.peak_kib = memory(id).peak_kib;
    all
}

impl Held {
    /// Only the first time counts at which all had gone.
    fn add(&mut self, connections: usize, time: Duration) {
        self.connections = self.connections.max(connections);
        if connections <= OTHERS_MAX && self.connections > OTHERS_MAX {
            self.free_after.get_or_insert(time);
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = self.peak_kib as f64 / 1024.0;
        write!(f, "at most {} connections at once, {mib:.1} MiB", self.connections)?;
        match self.free_after {
            Some(time) => write!(f, "; all slow ones closed after {:.1} s", time.as_secs_f64()),
            None => write!(f, "; some slow ones open to the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_gone_when_only_bystanders_are_left() {
        let mut all = Held::default();
        for (second, connections) in [(0, 4), (5, 1004), (10, 400), (15, 4), (20, 1004), (25, 5)] {
            all.add(connections, Duration::from_secs(second));
        }
        assert_eq!((all.connections, all.free_after), (1004, Some(Duration::from_secs(15))));
    }
}
