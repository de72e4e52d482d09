//! Slots: a write from the moment at which it is queued to its answer.
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
use super::errors::Cause;
use super::queue::Room;
use super::space::Space;
use super::tables::Tables;
use crate::engine::marks::Marks;
use crate::engine::{Durability, EngineError};
use crate::model::Record;

/// The bytes by which records of the same content may differ: later dots are longer.
const SAME_OCTETS: usize = 32;

/// The work of a slot: it decides with what is stored, and tells the outcome.
pub(super) trait Work: Send + 'static {
    /// The outcome for its caller.
    type Done: Send + 'static;

    /// Leaves changes.
    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure>;

    /// Returns the outcome, when the changes are kept.
    fn done(self) -> Self::Done;
}

/// The stored state that a write decides with.
pub(super) struct Stored<'a> {
    pub(super) tables: &'a Tables,
    pub(super) changes: &'a mut Changes,
    pub(super) marks: &'a Marks,
    pub(super) space: &'a Space,
    /// The memory of a new record.
    pub(super) out: &'a mut Vec<u8>,
}

impl Stored<'_> {
    /// Returns true if the disk has room for the new record in the place of one of so many bytes, or if it
    /// says that the object was deleted.
    pub(super) fn has_room(&self, before: usize) -> bool {
        let octets = (self.changes.octets() + self.out.len()) as u64;
        let grows = self.out.len() > before + SAME_OCTETS;
        let has_room = self.space.has(octets, grows, || self.tables.unwritten_octets());
        has_room || Record::read(self.out).is_ok_and(|record| record.is_deleted())
    }
}

/// The reason for which a write was not carried out.
pub(super) enum Failure {
    Engine(EngineError),
    /// It panicked, which its caller does in its place. Nothing of it was written.
    Panicked(Box<dyn Any + Send>),
}

/// A write of any kind.
pub(super) trait Slot: Send {
    /// Begins the write, unless its caller has been told that it timed out.
    fn begin(&self) -> bool;
    fn deadline(&self) -> Instant;
    fn durability(&self) -> Durability;
    /// The octets that its caller holds for it.
    fn octets(&self) -> usize;
    fn decide(&mut self, stored: &mut Stored<'_>) -> Result<(), Failure>;
    /// Ends the write. The caller may be gone.
    fn answer(self: Box<Self>, outcome: Result<(), Failure>);
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
pub(super) struct Answer<T> {
    deadline: Instant,
    is_begun: Arc<AtomicBool>,
    answer: oneshot::Receiver<Result<T, Failure>>,
}

/// A slot and the caller's end of it.
pub(super) fn new<W: Work>(
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

    fn octets(&self) -> usize {
        self.room.octets()
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
    pub(super) async fn wait(mut self) -> Result<T, EngineError> {
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
