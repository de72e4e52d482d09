//! Threads that decide writes of large objects.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::slot::{Decided, Failure, Slot};
use crate::engine::fjall::shared::Shared;
use crate::engine::fjall::tables::Tables;
use crate::engine::marks::Marks;

/// The decisions that are made at the same time. Each holds its record, the new one, and what it decodes.
pub(in crate::engine::fjall) const HELPERS: usize = 2;

/// A write that was begun and is to be decided.
pub(in crate::engine::fjall) struct Job {
    pub(in crate::engine::fjall) slot: Box<dyn Slot>,
    pub(in crate::engine::fjall) tables: Arc<Tables>,
    pub(in crate::engine::fjall) marks: Arc<Marks>,
}

/// Starts the threads, which end when the sender of their jobs is dropped.
pub(in crate::engine::fjall) fn start(
    shared: &Arc<Shared>,
) -> io::Result<(Sender<Job>, Vec<JoinHandle<()>>)> {
    let (sender, jobs) = channel();
    let jobs = Arc::new(Mutex::new(jobs));
    let start = |_| {
        let (shared, jobs) = (Arc::clone(shared), Arc::clone(&jobs));
        Builder::new().name("alula-store-large".into()).spawn(move || run(&shared, &jobs))
    };
    let threads = (0..HELPERS).map(start).collect::<io::Result<_>>()?;
    Ok((sender, threads))
}

fn run(shared: &Shared, jobs: &Mutex<Receiver<Job>>) {
    while let Some(job) = next(jobs) {
        let Job { mut slot, tables, marks } = job;
        let decided = catch_unwind(AssertUnwindSafe(|| slot.decide_apart(&tables, &marks)));
        let outcome = decided.unwrap_or_else(|panic| Err(Failure::Panicked(panic)));
        // Tables that are opened anew wait for those who read them.
        drop(tables);
        shared.queue.hand_back(Decided { slot, outcome, marks });
    }
}

/// Waits for a job; `None` when there will be none.
fn next(jobs: &Mutex<Receiver<Job>>) -> Option<Job> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
