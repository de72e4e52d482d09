//! Slots: a write from when it is queued until it is answered.
//!
//! A slot owns what is written. The one who waits for it may go away at any time, and the write goes on; only
//! until it is begun, its deadline takes it back.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::changes::Changes;
use super::queue::Room;
use crate::engine::fjall::errors::Cause;
use crate::engine::fjall::space::free::Space;
use crate::engine::fjall::tables::Tables;
use crate::engine::marks::Marks;
use crate::engine::{Durability, EngineError};
use crate::model::Record;

/// The bytes by which records of the same content may differ: later dots are longer.
const SAME_BYTES: usize = 32;

/// The work of a slot: a decision on what is stored, and its outcome.
pub(in crate::engine::fjall) trait Work: Send + 'static {
    /// The outcome for its caller.
    type Done: Send + 'static;

    /// Returns the name of the object that is written; `None` for a setting.
    fn key(&self) -> Option<&[u8]> {
        None
    }

    /// Reads what is stored, before it decides.
    fn load(&mut self, _: &Stored<'_>) -> Result<Loaded, Failure> {
        Ok(Loaded::default())
    }

    /// Decides, and adds its changes to the batch.
    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure>;

    /// Decides with the tables, which nothing else changes until then, and keeps the changes.
    fn decide_apart(&mut self, _: &Tables, _: &Marks) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the bytes that the decision of a helper made.
    fn bytes_decided(&self) -> usize {
        0
    }

    /// Returns the outcome, when the changes are kept.
    fn done(self) -> Self::Done;
}

/// Facts about what is stored, which decide where the write is decided.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine::fjall) struct Loaded {
    /// The record is long.
    pub(in crate::engine::fjall) is_large: bool,
    /// The record was changed by this batch, and is in no table yet.
    pub(in crate::engine::fjall) is_in_batch: bool,
}

/// The stored state that a write decides on.
pub(in crate::engine::fjall) struct Stored<'a> {
    pub(in crate::engine::fjall) tables: &'a Tables,
    pub(in crate::engine::fjall) changes: &'a mut Changes,
    pub(in crate::engine::fjall) marks: &'a Marks,
    pub(in crate::engine::fjall) space: &'a Space,
    /// The memory of a new record.
    pub(in crate::engine::fjall) out: &'a mut Vec<u8>,
}

impl Stored<'_> {
    /// Returns true if the disk has room for a new record in the place of another one, or if it says that the
    /// object was deleted.
    pub(in crate::engine::fjall) fn has_room(&self, before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
        let (before, after) = (before.map_or(0, <[u8]>::len), after.unwrap_or_default());
        let bytes = (self.changes.bytes() + after.len()) as u64;
        let grows = after.len() > before + SAME_BYTES;
        let has_room = self.space.has(bytes, grows, || self.tables.unwritten_bytes());
        has_room || Record::read(after).is_ok_and(|record| record.is_deleted())
    }
}

/// The reason for which a write was not carried out.
pub(in crate::engine::fjall) enum Failure {
    Engine(EngineError),
    /// The write panicked; the panic goes on in its caller. Nothing of it was written.
    Panicked(Box<dyn Any + Send>),
}

/// A write of any kind.
pub(in crate::engine::fjall) trait Slot: Send {
    /// Begins the write, unless its caller has been told that it timed out.
    fn begin(&self) -> bool;
    fn deadline(&self) -> Instant;
    fn durability(&self) -> Durability;
    /// Returns the bytes that the caller holds for the write, or those that a helper decided if these are
    /// more.
    fn bytes(&self) -> usize;
    /// Returns the name of the object, as in [`Work`]; so are the next three.
    fn key(&self) -> Option<&[u8]>;
    fn load(&mut self, stored: &Stored<'_>) -> Result<Loaded, Failure>;
    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure>;
    fn decide_apart(&mut self, tables: &Tables, marks: &Marks) -> Result<(), Failure>;
    /// Ends the write. The caller may be gone.
    fn answer(self: Box<Self>, outcome: Result<(), Failure>);
}

/// A write in the queue.
pub(in crate::engine::fjall) enum Entry {
    /// A write that is not begun.
    Waiting(Box<dyn Slot>),
    /// A write that a helper has decided.
    Decided(Decided),
}

/// The decision of a helper.
pub(in crate::engine::fjall) struct Decided {
    pub(in crate::engine::fjall) slot: Box<dyn Slot>,
    pub(in crate::engine::fjall) outcome: Result<(), Failure>,
    /// The actor for which it was decided.
    pub(in crate::engine::fjall) marks: Arc<Marks>,
}

impl Entry {
    pub(in crate::engine::fjall) fn bytes(&self) -> usize {
        match self {
            Self::Waiting(slot) | Self::Decided(Decided { slot, .. }) => slot.bytes(),
        }
    }

    /// Refuses a write of which nothing was written.
    pub(in crate::engine::fjall) fn refuse(self) {
        match self {
            Self::Waiting(slot) if !slot.begin() => {}
            Self::Waiting(slot) | Self::Decided(Decided { slot, .. }) => {
                slot.answer(Err(EngineError::WritesRefused.into()));
            }
        }
    }
}

struct Queued<W: Work> {
    work: W,
    deadline: Instant,
    durability: Durability,
    is_begun: Arc<AtomicBool>,
    answer: oneshot::Sender<Result<W::Done, Failure>>,
    room: Room,
}

/// The caller's end of a slot.
pub(in crate::engine::fjall) struct Answer<T> {
    deadline: Instant,
    is_begun: Arc<AtomicBool>,
    answer: oneshot::Receiver<Result<T, Failure>>,
}

/// Creates a slot, and the caller's end of it.
pub(in crate::engine::fjall) fn new<W: Work>(
    work: W,
    room: Room,
    durability: Durability,
    deadline: Instant,
) -> (Box<dyn Slot>, Answer<W::Done>) {
    let (sender, receiver) = oneshot::channel();
    let is_begun = Arc::new(AtomicBool::new(false));
    let answer = Answer { deadline, is_begun: Arc::clone(&is_begun), answer: receiver };
    (Box::new(Queued { work, deadline, durability, is_begun, answer: sender, room }), answer)
}

impl<W: Work> Slot for Queued<W> {
    fn begin(&self) -> bool {
        !self.is_begun.swap(true, Ordering::SeqCst)
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn durability(&self) -> Durability {
        self.durability
    }

    fn bytes(&self) -> usize {
        self.room.bytes().max(self.work.bytes_decided())
    }

    fn key(&self) -> Option<&[u8]> {
        self.work.key()
    }

    fn load(&mut self, stored: &Stored<'_>) -> Result<Loaded, Failure> {
        self.work.load(stored)
    }

    fn decide_apart(&mut self, tables: &Tables, marks: &Marks) -> Result<(), Failure> {
        self.work.decide_apart(tables, marks)
    }

    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure> {
        self.work.decide(stored)
    }

    fn answer(self: Box<Self>, outcome: Result<(), Failure>) {
        // The room is given back first: a caller that was answered finds it.
        let Self { work, answer, room, .. } = *self;
        drop(room);
        let _ = answer.send(outcome.map(|()| work.done()));
    }
}

impl<T> Answer<T> {
    /// Waits for the write, or until its deadline if it is not begun by then.
    ///
    /// # Panics
    /// The write panicked.
    pub(in crate::engine::fjall) async fn wait(mut self) -> Result<T, EngineError> {
        let answer = match timeout_at(self.deadline, &mut self.answer).await {
            Ok(answer) => answer,
            Err(_) if !self.is_begun.swap(true, Ordering::SeqCst) => return Err(EngineError::TimedOut),
            Err(_) => self.answer.await,
        };
        match answer {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Failure::Engine(error))) => Err(error),
            Ok(Err(Failure::Panicked(panic))) => resume_unwind(panic),
            Err(_) => Err(EngineError::Unknown(Arc::new(Cause::Stopped))),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}
