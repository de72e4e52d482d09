//! Sending: heads and content go from the handles of streams to the machine, as far as there is room for
//! them.

use std::io;

use alula_fields::{FieldSection, ResponseHead, Status};
use alula_machine::{StreamKey, Time};

use crate::{
    connection::{
        Connection,
        stream::slot::{Expectation, Sides, SlotKey},
    },
    drive::reader::Side,
    error::{Error, Phase},
    message::timing::Marks,
};

impl Connection {
    pub(crate) fn answer(
        &mut self,
        at: SlotKey,
        head: &ResponseHead<'_>,
        content: &[u8],
        reads_on: bool,
        sent: &mut usize,
    ) -> Result<bool, Error> {
        let is_whole = content.is_empty();
        self.send_head(at, head, is_whole, reads_on)?;
        match is_whole {
            true => Ok(true),
            false => self.write(at, content, true, sent).map_or(Ok(false), |written| written.map(|()| true)),
        }
    }

    /// Sends an answer in pieces; the message ends with the last piece that is not empty.
    pub(crate) fn answer_parts(
        &mut self,
        at: SlotKey,
        head: &ResponseHead<'_>,
        parts: &[&[u8]],
        reads_on: bool,
        sent: &mut usize,
    ) -> Result<bool, Error> {
        let last = parts.iter().rposition(|part| !part.is_empty());
        self.send_head(at, head, last.is_none(), reads_on)?;
        let Some(last) = last else { return Ok(true) };
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let mut of_part = 0;
            let written = self.write(at, part, index == last, &mut of_part);
            *sent += of_part;
            match written {
                Some(written) => written?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Sends the final head of an answer.
    #[inline]
    pub(crate) fn send_head(
        &mut self,
        at: SlotKey,
        head: &ResponseHead<'_>,
        end: bool,
        reads_on: bool,
    ) -> Result<(), Error> {
        let slot = self.slots.get(at).ok_or_else(Error::cancelled)?;
        if let Some(error) = &slot.failed {
            return Err(error.clone().during(Phase::Send));
        }
        let stream = slot.stream.ok_or_else(Error::cancelled)?;
        let is_accepted = head.status.is_success();
        let reads_on = reads_on && slot.held.has(Sides::READ);
        if slot.expectation == Expectation::Waiting {
            self.meet_expectation(at, is_accepted && reads_on);
        }
        if !reads_on {
            self.machine.decline_content(stream);
        }
        self.machine.send_response(stream, head, end, self.output.buffer()).map_err(Error::refused)?;
        let now = self.now;
        let slot = &mut self.slots[at.index];
        slot.pace.answered(is_accepted);
        slot.answer.head_sent(head.status, now);
        if self.first_head.is_watched()
            && let Some(bytes) = self.first_head.answered(head.status)
        {
            self.machine.bound_heads(bytes);
        }
        Ok(())
    }

    /// Tells a client that waits for 100 (Continue) to send its content, before the answer, if somebody is
    /// going to read it.
    #[cold]
    fn meet_expectation(&mut self, at: SlotKey, is_wanted: bool) {
        let Some(slot) = self.slots.get(at) else { return };
        match is_wanted {
            true => self.invite_content(at),
            false => slot.expectation = Expectation::Declined,
        }
    }

    pub(crate) fn write(
        &mut self,
        at: SlotKey,
        data: &[u8],
        end: bool,
        sent: &mut usize,
    ) -> Option<Result<(), Error>> {
        let slot = self.slots.get(at)?;
        if let Some(error) = &slot.failed {
            return Some(Err(error.clone().during(Phase::Send)));
        }
        let Some(stream) = slot.stream else { return Some(Err(Error::cancelled())) };
        if slot.incoming.has_ended() && self.machine.is_client() {
            // The response is whole: nobody waits for the rest of the request.
            return Some(Ok(()));
        }
        let rest = &data[*sent..];
        let is_crowded = || self.ledger.memory.is_crowded();
        let Some(room) = self.room.for_content(slot, rest.len(), self.output.unsent(), is_crowded) else {
            self.await_room(at, stream);
            return None;
        };
        let (is_last, is_all) = (end, room == rest.len());
        self.room.prepare(room, self.output.buffer());
        match self.machine.send_data(stream, &rest[..room], end && is_all, self.output.buffer()) {
            Ok(taken) => {
                *sent += taken;
                let slot = &mut self.slots[at.index];
                slot.counts.send(taken);
                if is_last && *sent == data.len() {
                    slot.marks.iter_mut().for_each(Marks::request_is_sent);
                }
                self.room.note_written(slot, taken);
                if taken == room && !is_all {
                    // The machine has taken all that it was given: the output tells when to go on.
                    self.await_room(at, stream);
                }
            }
            Err(error) => return Some(Err(Error::refused(error))),
        }
        (*sent == data.len()).then_some(Ok(()))
    }

    /// Ends a message with trailers. They are dropped with what is left of a request whose response is whole:
    /// behind content that was dropped they would make it look whole.
    pub(crate) fn write_trailers(&mut self, at: SlotKey, trailers: &FieldSection) -> Result<(), Error> {
        if self.has_whole_response(at) {
            return Ok(());
        }
        let slot = self.slots.get(at).ok_or_else(Error::cancelled)?;
        if let Some(error) = &slot.failed {
            return Err(error.clone().during(Phase::Send));
        }
        let stream = slot.stream.ok_or_else(Error::cancelled)?;
        self.machine.send_trailers(stream, trailers, self.output.buffer()).map_err(Error::refused)?;
        self.slots[at.index].marks.iter_mut().for_each(Marks::request_is_sent);
        Ok(())
    }

    /// Returns true if the response to a request is complete: nobody waits for the rest of the request.
    pub(crate) fn has_whole_response(&mut self, at: SlotKey) -> bool {
        self.machine.is_client() && self.slots.get(at).is_some_and(|slot| slot.incoming.has_ended())
    }

    /// Returns true if the final head of the response has come and nobody has taken it.
    pub(crate) fn is_head_here(&mut self, at: SlotKey) -> bool {
        self.slots.get(at).is_some_and(|slot| slot.incoming.is_head_here())
    }

    /// Returns the bytes of content that a stream may send now; if there are none, its writer is woken when
    /// that changes.
    pub(crate) fn await_room_of(&mut self, at: SlotKey) -> Option<Result<usize, Error>> {
        let slot = self.slots.get(at)?;
        if let Some(error) = &slot.failed {
            return Some(Err(error.clone().during(Phase::Send)));
        }
        let Some(stream) = slot.stream else { return Some(Err(Error::cancelled())) };
        if slot.incoming.has_ended() && self.machine.is_client() {
            // The response is whole: whatever is written is taken and dropped.
            return Some(Ok(self.output_bound()));
        }
        let is_crowded = || self.ledger.memory.is_crowded();
        let Some(room) = self.room.for_content(slot, usize::MAX, self.output.unsent(), is_crowded) else {
            self.await_room(at, stream);
            return None;
        };
        let room = self.machine.await_capacity(stream).min(room);
        (room > 0).then_some(Ok(room))
    }

    /// Tells a client that waits for 100 (Continue) to send its content.
    #[cold]
    pub(crate) fn invite_content(&mut self, at: SlotKey) {
        let Some(slot) = self.slots.get(at) else { return };
        slot.expectation = Expectation::None;
        if let Some(stream) = slot.stream {
            let head = ResponseHead { status: Status::CONTINUE, fields: &FieldSection::new() };
            // A stream that is gone needs no content.
            let _ = self.machine.send_interim(stream, &head, self.output.buffer());
        }
    }
}

/// Room for content in the output.
impl Connection {
    /// Returns true if a writer has to wait until the output has drained.
    #[inline]
    pub(crate) fn output_is_full(&self) -> bool {
        self.room.is_full(self.output.unsent(), || self.ledger.memory.is_crowded())
    }

    /// Returns the bytes of output that may wait now.
    fn output_bound(&self) -> usize {
        self.room.bound(self.ledger.memory.is_crowded())
    }

    /// Records that a stream has more content than room; its writer is woken when it may go on.
    #[cold]
    pub(crate) fn await_room(&mut self, at: SlotKey, stream: StreamKey) {
        // A machine that schedules calls the streams.
        if !self.machine.await_room(stream)
            && let Some(slot) = self.slots.get(at)
        {
            self.room.enqueue(at, slot);
        }
    }

    /// Calls streams that wait for room, after all output was written.
    pub(crate) fn output_drained(&mut self) {
        if !self.output.is_drained() {
            return;
        }
        if self.room.is_awaited() {
            self.call_next();
        }
        if self.machine.awaits_room() {
            self.machine.give_room(self.output_bound() as u32);
            self.take_notices();
        }
    }

    /// Calls further streams if all output was written and the called ones have written nothing for a while.
    #[inline]
    pub(crate) fn call_again(&mut self) {
        if self.calls_again_at().is_some_and(|at| at <= self.now) {
            self.call_next();
        }
    }

    /// Returns the time at which streams are called that wait although there is room; `None` while the socket
    /// has none.
    pub(crate) fn calls_again_at(&self) -> Option<Time> {
        self.room.calls_again_at(self.output.unsent()).filter(|_| !self.output.is_blocked())
    }

    #[cold]
    fn call_next(&mut self) {
        let (hand_over, wake) = (&mut self.hand_over, &mut self.wake);
        let is_crowded = self.ledger.memory.is_crowded();
        self.room.call_next(&mut self.slots, self.now, is_crowded, |slot| {
            hand_over.wake_caller(&mut slot.waits[Side::Write as usize], wake);
        });
    }
}

/// Output.
impl Connection {
    /// Returns false if there is certainly nothing to write: most turns only read. The output of TLS is not
    /// looked into.
    #[inline]
    pub(crate) fn may_have_output(&self) -> bool {
        self.is_secure() || self.output.unsent() > 0 || self.machine.wants_write()
    }

    /// Prepares the bytes that leave next. False when there is nothing.
    pub(crate) fn stage(&mut self) -> bool {
        self.machine.poll_transmit(self.now, self.output.buffer());
        if self.output.drop_if_failed() {
            return false;
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            let (waiting, leaving) = self.output.begin_to_encrypt();
            self.room.prepare(waiting.len(), leaving);
            let encrypted = tls.encrypt(waiting, leaving);
            let is_any = !leaving.is_empty();
            if let Err(error) = encrypted {
                self.end(error);
            }
            return is_any;
        }
        self.output.stage()
    }

    /// Records that the socket is full; the task waits for room.
    pub(crate) fn output_blocked(&mut self) {
        self.output.block();
        self.look_soon();
        self.wake_task();
    }

    /// Gives up the output alone: bytes that the peer sent before it closed are still worth reading, and a
    /// read will show that it closed.
    pub(crate) fn write_failed(&mut self, error: io::Error) {
        self.output.fail(Error::io(Phase::Send, error));
        self.end_if_cut();
    }
}
