//! Requests whose handler dropped the responder: the right to answer returns to the task that runs the
//! handlers.
//!
//! A handler that ends with an error has as a rule dropped its exchange by then. The slot of the stream keeps
//! the right to answer until the task of the connection takes it, which answers with the result of the
//! handler. Only such requests pay for this.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    connection::stream::{
        answer_notes::LeftNote,
        slot::{Sides, SlotKey},
    },
    drive::{server_task::StreamName, shared::Conn},
    handle::stream::Stream,
};

/// The right to answer a request whose handler dropped the responder.
pub struct Left {
    /// The stream that is to be answered on.
    pub stream: Stream,
    /// The facts about the request that its answer depends on.
    pub note: LeftNote,
}

impl Conn {
    /// Notes that the responder of a stream was dropped; false when the stream is gone.
    pub(crate) fn note_left(&self, at: SlotKey, note: LeftNote) -> bool {
        let mut connection = self.lock();
        let Some(slot) = connection.slots.get(at).filter(|slot| slot.failed.is_none()) else { return false };
        slot.answer.leave(note);
        self.has_left.store(true, Ordering::SeqCst);
        connection.wake_task();
        self.unlock_and_wake(connection);
        true
    }

    /// Returns true if a responder may have been dropped without an answer; reads an atomic, without the
    /// lock.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }

    /// Returns the streams whose responder was dropped.
    #[cold]
    pub fn left(&self) -> Vec<StreamName> {
        let connection = self.lock();
        let names: Vec<_> =
            connection.slots.keys_of(|slot| slot.answer.is_left()).map(StreamName::new).collect();
        self.has_left.store(!names.is_empty(), Ordering::SeqCst);
        names
    }

    /// Returns the right to answer a request whose handler has dropped it.
    #[cold]
    pub fn reclaim(self: &Arc<Self>, name: StreamName) -> Option<Left> {
        let mut connection = self.lock();
        let note = connection.slots.get(name.at())?.answer.reclaim()?;
        drop(connection);
        Some(Left { stream: Stream::new(self.clone(), name.at(), Sides::WRITE), note })
    }
}
