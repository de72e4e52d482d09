//! The part of a connection's state that content of a file passes by: what is counted of it, and the wait for
//! output that goes first.

use std::io;

use alula_machine::StreamKey;

use crate::{
    connection::{Connection, stream::slot::SlotKey},
    error::{Error, Phase},
};

impl Connection {
    /// Returns the rest of the content's stated length, if bytes of a file may follow the output.
    pub(crate) fn length_for_file(&mut self, at: SlotKey) -> Option<u64> {
        let stream = self.stream_for_file(at)?;
        self.machine.length_left(stream).filter(|_| !self.is_secure() && !self.machine.is_client())
    }

    fn stream_for_file(&mut self, at: SlotKey) -> Option<StreamKey> {
        self.slots.get(at).filter(|slot| slot.failed.is_none()).and_then(|slot| slot.stream)
    }

    pub(crate) fn failure_of(&mut self, at: SlotKey) -> Option<Error> {
        self.slots.get(at).and_then(|slot| slot.failed.clone()).map(|error| error.during(Phase::Send))
    }

    /// Records how much the socket has taken. A failure is not told apart here: whether it is the file's or
    /// the socket's, reading the part and writing it finds out.
    pub(crate) fn sent_of_file(
        &mut self,
        at: SlotKey,
        sent: &io::Result<usize>,
    ) -> Result<Option<usize>, Error> {
        self.output.end_to_bypass(*sent.as_ref().unwrap_or(&0));
        match sent {
            Ok(bytes) if *bytes > 0 => self.count_of_file(at, *bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.output_blocked();
                Ok(Some(0))
            }
            _ => Ok(None),
        }
    }

    /// Counts bytes of a file that were sent. A stream that has failed meanwhile counts none; its writer
    /// learns of the failure next.
    fn count_of_file(&mut self, at: SlotKey, bytes: usize) -> Result<Option<usize>, Error> {
        if let Some(stream) = self.stream_for_file(at) {
            self.machine.count_data(stream, bytes).map_err(Error::refused)?;
            self.slots[at.index].counts.send(bytes);
        }
        self.output_drained();
        Ok(Some(bytes))
    }

    pub(crate) fn await_drained(&mut self, at: SlotKey) -> Option<Result<(), Error>> {
        if let Some(failure) = self.failure_of(at) {
            return Some(Err(failure));
        }
        let Some(stream) = self.stream_for_file(at) else { return Some(Err(Error::cancelled())) };
        if self.has_whole_response(at) {
            return Some(Ok(()));
        }
        if self.output.may_be_bypassed() || self.output.failure().is_some() {
            return Some(Ok(()));
        }
        self.await_room(at, stream);
        None
    }
}
