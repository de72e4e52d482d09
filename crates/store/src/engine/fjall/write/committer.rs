//! The thread that decides, writes and flushes batches.
//!
//! Rule 1: it is the only one that writes, so that what a write reads is what it replaces.
//! Rule 2: the writes that wait become one batch, flushed once if any of them asked for it, and are answered
//! after that.
//! Rule 3: writes of large objects are [decided apart](super::apart), and what they come to is kept here.
//! Rule 4: after a batch failed nothing is written until the engine has been opened anew, with a new actor.

use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::apart::{Apart, begun, refuse};
use super::batch_mark::BatchMark;
use super::changes::Changes;
use super::helpers::{HELPERS, Job};
use super::queue::Taken;
use super::slot::{Decided, Entry, Failure, Slot, Stored};
use crate::engine::fjall::errors::Cause;
use crate::engine::fjall::event::FjallEvent;
use crate::engine::fjall::failure::FjallFailure;
use crate::engine::fjall::faults::Step;
use crate::engine::fjall::open::reopening::open_anew;
use crate::engine::fjall::shared::Shared;
use crate::engine::fjall::space::removed::RemovedRows;
use crate::engine::fjall::tables::Tables;
use crate::engine::marks::Marks;
use crate::engine::{Durability, EngineError};

/// The pause between two checks whether there is room for a batch.
const LOOK: Duration = Duration::from_millis(5);

/// The time without writes after which the snapshot of reads is renewed.
const IDLE: Duration = Duration::from_secs(1);

/// The memory of a record that is kept between batches.
const OUT_BYTES_MAX: usize = 1024 * 1024;

pub(in crate::engine::fjall) struct Committer {
    shared: Arc<Shared>,
    marks: Arc<Marks>,
    apart: Apart,
    helpers: Sender<Job>,
    /// The number of the last batch, and of the last one that is known to be flushed.
    last_batch: u64,
    last_flushed: u64,
    changes: Changes,
    out: Vec<u8>,
    /// The cause of the last failure.
    failure: Option<EngineError>,
}

/// The engine failed, and has to be opened anew.
struct Failed;

impl Committer {
    pub(in crate::engine::fjall) fn new(
        shared: Arc<Shared>,
        helpers: Sender<Job>,
        marks: Marks,
        last_batch: u64,
    ) -> Self {
        let (changes, out) = (Changes::default(), Vec::new());
        let (marks, apart) = (Arc::new(marks), Apart::new(shared.options.writes_waiting_max));
        Self {
            shared,
            marks,
            apart,
            helpers,
            last_batch,
            last_flushed: last_batch,
            changes,
            out,
            failure: None,
        }
    }

    /// Writes until the queue is closed and empty.
    pub(in crate::engine::fjall) fn run(mut self) {
        loop {
            if self.shared.removed.wants_snapshot() {
                self.renew_snapshot();
            }
            let first = match self.shared.queue.take(IDLE) {
                Taken::Entry(first) => first,
                Taken::Closed => return,
                // Without writes the old snapshot would keep files and memory for as long.
                Taken::Nothing => {
                    self.renew_snapshot();
                    continue;
                }
            };
            // A panic may leave half a batch in memory: it counts as a batch that failed.
            let kept = catch_unwind(AssertUnwindSafe(|| self.keep_batch(first)));
            if matches!(kept, Ok(Ok(()))) {
                continue;
            }
            self.refuse_waiting();
            let failure = self.failure.take().unwrap_or(EngineError::WritesRefused);
            self.shared.tell(&FjallEvent::WriteFailed(Arc::new(failure)));
            let Some((marks, last_batch)) = open_anew(&self.shared) else { return };
            self.shared.tell(&FjallEvent::OpenedAnew);
            self = Self::new(self.shared, self.helpers, marks, last_batch);
        }
    }

    fn renew_snapshot(&self) {
        if let Some(tables) = self.shared.tables() {
            tables.renew_snapshot();
        }
        self.shared.removed.renewed_snapshot();
    }

    fn keep_batch(&mut self, first: Entry) -> Result<(), Failed> {
        let Some(tables) = self.shared.tables() else { return self.refuse(first) };
        if !self.wait_for_room(&tables, first.bytes()) {
            return self.refuse(first);
        }
        let (slots, durability) = self.decide(&tables, first);
        // Writes that changed nothing have nothing to be kept or flushed.
        if self.changes.is_empty() {
            slots.into_iter().for_each(|slot| slot.answer(Ok(())));
            self.decide_apart(&tables);
            return Ok(());
        }
        match self.commit(&tables, durability) {
            Ok(()) => {
                slots.into_iter().for_each(|slot| slot.answer(Ok(())));
                self.decide_apart(&tables);
                Ok(())
            }
            Err(error) => {
                self.failure = error.source().map(|_| error.clone());
                // Before the first answer: one who is told of it finds that the engine takes no writes.
                self.refuse_waiting();
                slots.into_iter().for_each(|slot| slot.answer(Err(error.clone().into())));
                Err(Failed)
            }
        }
    }

    /// Waits until a batch that begins with so many bytes can be written. Writes whose time passes meanwhile
    /// are taken back by their callers. Returns false if fjall takes no batches any more.
    fn wait_for_room(&self, tables: &Tables, bytes: usize) -> bool {
        while !tables.have_room(bytes) {
            if !tables.take_batches() {
                return false;
            }
            std::thread::park_timeout(LOOK);
        }
        true
    }

    /// Lets the writes that wait decide, as many as a batch takes, and returns those that are part of it.
    fn decide(&mut self, tables: &Tables, first: Entry) -> (Vec<Box<dyn Slot>>, Durability) {
        let mut slots: Vec<Box<dyn Slot>> = Vec::new();
        let mut durability = Durability::Buffered;
        let mut next = Some(first);
        while let Some(entry) = next {
            if let Some(slot) = self.decide_one(tables, entry) {
                durability = durability.max(slot.durability());
                slots.push(slot);
            }
            let options = &self.shared.options;
            let is_full =
                slots.len() >= options.batch_writes_max || self.changes.bytes() >= options.batch_bytes_max;
            next = if is_full { None } else { self.shared.queue.take_waiting() };
        }
        (slots, durability)
    }

    fn decide_one(&mut self, tables: &Tables, entry: Entry) -> Option<Box<dyn Slot>> {
        match entry {
            Entry::Waiting(slot) => self.decide_waiting(tables, slot),
            Entry::Decided(decided) if Arc::ptr_eq(&decided.marks, &self.marks) => {
                let Decided { slot, outcome, .. } = decided;
                if let Some(key) = slot.key() {
                    self.apart.decided(key);
                }
                self.leave(tables, slot, outcome)
            }
            // It was decided before the engine was opened anew.
            stale @ Entry::Decided(_) => {
                stale.refuse();
                None
            }
        }
    }

    fn decide_waiting(&mut self, tables: &Tables, slot: Box<dyn Slot>) -> Option<Box<dyn Slot>> {
        let mut slot = self.apart.wait_behind(slot)?;
        let (marks, space, changes, out) =
            (&*self.marks, &self.shared.space, &mut self.changes, &mut self.out);
        let loaded = slot.load(&Stored { tables, marks, space, changes, out });
        if let Some(loaded) = loaded.as_ref().ok().filter(|loaded| loaded.is_large) {
            self.apart.take(slot, loaded.is_in_batch);
            return None;
        }
        let slot = begun(slot)?;
        self.leave(tables, slot, loaded.map(drop))
    }

    /// Adds the changes of a write to the batch, unless it failed before.
    fn leave(
        &mut self,
        tables: &Tables,
        mut slot: Box<dyn Slot>,
        outcome: Result<(), Failure>,
    ) -> Option<Box<dyn Slot>> {
        let (marks, space, changes, out) =
            (&*self.marks, &self.shared.space, &mut self.changes, &mut self.out);
        let decided = outcome.and_then(|()| slot.decide(&mut Stored { tables, marks, space, changes, out }));
        if self.out.capacity() > OUT_BYTES_MAX {
            self.out = Vec::new();
        }
        match decided {
            Ok(()) => Some(slot),
            Err(failure) => {
                slot.answer(Err(failure));
                None
            }
        }
    }

    /// Hands writes of large objects to helpers, once the batch with their decisions is kept.
    fn decide_apart(&mut self, tables: &Arc<Tables>) {
        self.apart.batch_kept();
        while self.apart.has_turns() && self.shared.queue.apart() < HELPERS {
            let Some(slot) = self.apart.next() else { return };
            self.shared.queue.hand_out();
            let job = Job { slot, tables: Arc::clone(tables), marks: Arc::clone(&self.marks) };
            // Helpers wait for jobs as long as this thread does for writes.
            if let Err(unsent) = self.helpers.send(job) {
                let Job { slot, marks, .. } = unsent.0;
                let outcome = Err(EngineError::WritesRefused.into());
                self.shared.queue.hand_back(Decided { slot, outcome, marks });
            }
        }
    }

    fn commit(&mut self, tables: &Tables, durability: Durability) -> Result<(), EngineError> {
        let number = self.last_batch + 1;
        let mark = BatchMark { folder: *self.shared.folder.id(), number, flushed: self.last_flushed };
        let faults = &self.shared.faults;
        let mut removed = RemovedRows::default();
        let bytes = self.changes.bytes() as u64;
        let rows = self.changes.drain().inspect(|(table, _, row)| removed.count(*table, row.is_none()));
        let commit = || {
            faults.check(Step::Commit)?;
            tables.commit(&mark, rows, durability)?;
            faults.check(Step::Committed).map_err(::fjall::Error::from)
        };
        match catch_unwind(AssertUnwindSafe(commit)) {
            Ok(Ok(())) => {}
            // A thread of fjall failed before: the batch was not begun.
            Ok(Err(::fjall::Error::Poisoned)) => return Err(EngineError::WritesRefused),
            Ok(Err(error)) => {
                self.shared.space.hear_of_failure(&error);
                return Err(EngineError::Unknown(Arc::new(FjallFailure(error))));
            }
            Err(_) => return Err(EngineError::Unknown(Arc::new(Cause::Stopped))),
        }
        self.last_batch = number;
        self.shared.removed.add(&removed);
        self.shared.space.spend(bytes);
        if durability == Durability::Flushed {
            self.last_flushed = number;
        }
        Ok(())
    }

    /// Refuses a write of which nothing was written, and those behind it.
    fn refuse(&mut self, entry: Entry) -> Result<(), Failed> {
        self.refuse_waiting();
        entry.refuse();
        Err(Failed)
    }

    fn refuse_waiting(&mut self) {
        self.shared.queue.refuse().into_iter().for_each(Entry::refuse);
        self.apart.take_all().for_each(|slot| refuse(slot, EngineError::WritesRefused));
    }
}
