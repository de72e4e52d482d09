//! PRIORITY_UPDATE (RFC 9218 §7.1), and the priorities of streams that are not open yet.

use alula_machine::{StreamKey, Time};

use super::Connection;
use crate::error::{ConnectionError, SendError};
use crate::frame::phase::{Phase, Step};
use crate::frame::priority::{Priority, URGENCY_MAX};
use crate::frame::{FrameHeader, FrameKind, HEADER_BYTES, MAX_31};
use crate::guard::violation::Violation;
use crate::trace::Detail;

/// The longest value that is parsed; present ones have up to six bytes.
const VALUE_BYTES_MAX: u32 = 128;

impl Connection {
    /// Tells the server another priority for an awaited response (RFC 9218 §6). A request says its own with
    /// the field `priority`. Nothing is sent once the response is whole.
    ///
    /// # Errors
    /// On a server; with an urgency above 7; when the stream or the connection is gone.
    pub fn reprioritise(&mut self, stream: StreamKey, priority: Priority) -> Result<(), SendError> {
        if !self.is_client {
            return Err(SendError::WrongRole);
        }
        if priority.urgency > URGENCY_MAX {
            return Err(SendError::Setting);
        }
        let entry = self.check_stream(stream)?;
        if !entry.state.is_receiving() {
            return Ok(());
        }
        let id = entry.id;
        self.queue_priority_update(id, priority);
        Ok(())
    }

    fn queue_priority_update(&mut self, id: u32, priority: Priority) {
        const VALUE: &[u8; 6] = b"u=0, i";
        let mut payload = [0; 4 + VALUE.len()];
        payload[..4].copy_from_slice(&id.to_be_bytes());
        payload[4..].copy_from_slice(VALUE);
        payload[6] = b'0' + priority.urgency;
        let length = if priority.incremental { payload.len() } else { 4 + b"u=0".len() };
        let kind = FrameKind::PRIORITY_UPDATE;
        let header = FrameHeader { length: length as u32, kind, flags: 0, stream: 0 };
        let mut frame = [0; HEADER_BYTES + 4 + VALUE.len()];
        frame[..HEADER_BYTES].copy_from_slice(&header.bytes());
        frame[HEADER_BYTES..].copy_from_slice(&payload);
        self.queue(&frame[..HEADER_BYTES + length]);
    }

    #[cold]
    pub(super) fn priority_update_header(
        &mut self,
        header: FrameHeader,
    ) -> Result<Step<'static>, ConnectionError> {
        if self.is_client {
            return Err(Violation::PRIORITY_UPDATE_TO_CLIENT.into());
        }
        if header.stream != 0 {
            return Err(Violation::PRIORITY_UPDATE_ON_STREAM.into());
        }
        if header.length < 4 {
            return Err(Violation::PRIORITY_UPDATE_LENGTH.into());
        }
        self.phase = Phase::Small(header);
        Ok(Step::More)
    }

    /// Begins a PRIORITY_UPDATE whose stream is known.
    #[cold]
    pub(super) fn priority_update_stream(
        &mut self,
        header: FrameHeader,
        id: u32,
    ) -> Result<Step<'static>, ConnectionError> {
        let id = id & MAX_31;
        // Streams of ours have even identifiers, and there are none.
        if id == 0 || id.is_multiple_of(2) {
            return Err(Violation::PRIORITY_UPDATE_OF_NOTHING.into());
        }
        self.updates.begin(id);
        self.phase = Phase::PriorityValue { header, left: header.length - 4 };
        Ok(Step::More)
    }

    #[cold]
    pub(super) fn priority_value(
        &mut self,
        header: FrameHeader,
        left: u32,
        rest: &mut &[u8],
        now: Time,
    ) -> Result<Step<'static>, ConnectionError> {
        let (bytes, after) = rest.split_at(rest.len().min(left as usize));
        *rest = after;
        let is_kept = header.length <= VALUE_BYTES_MAX + 4;
        if is_kept {
            self.updates.extend(bytes);
        }
        let left = left - bytes.len() as u32;
        if left > 0 {
            self.phase = Phase::PriorityValue { header, left };
            return Ok(Step::Starved);
        }
        self.phase = Phase::Header;
        let (id, priority) = self.updates.received();
        let priority = priority.filter(|_| is_kept);
        self.trace.record_with(false, header, || {
            priority.map_or(Detail::None, |priority| Detail::Priority(id, priority))
        });
        match priority {
            Some(priority) => self.priority_update_in(id, priority, now)?,
            None => self.glitch(1, now)?,
        }
        Ok(Step::More)
    }

    /// Records the priority of a stream. The first one for an idle stream is free, as browsers send them; the
    /// others cost, whatever stream they name.
    fn priority_update_in(&mut self, id: u32, priority: Priority, now: Time) -> Result<(), ConnectionError> {
        if !self.is_idle(id) {
            if let Some(stream) = self.streams.find(id) {
                self.set_priority(stream, priority);
            }
            return self.glitch(1, now);
        }
        if let Some(known) = self.updates.foretold_mut(id) {
            *known = priority;
            return self.glitch(1, now);
        }
        let limit = self.local.newest().streams_max.unwrap_or(self.config.limits.streams);
        if self.open as usize + self.updates.foretold() < limit as usize {
            self.updates.foretell(id, priority);
            return Ok(());
        }
        // A client that has not seen our SETTINGS yet cannot know.
        match self.local.await_ack() {
            true => self.glitch(1, now),
            false => Err(Violation::PRIORITY_UPDATES_TOO_MANY.into()),
        }
    }

    /// Sets the priority of a stream that opens: an earlier PRIORITY_UPDATE goes before its request's field
    /// (RFC 9218 §7).
    #[cold]
    #[inline(never)]
    pub(super) fn set_first_priority(&mut self, stream: StreamKey, id: u32, said: Option<Priority>) {
        if let Some(priority) = self.updates.take_foretold(id).or(said) {
            self.set_priority(stream, priority);
        }
    }

    fn set_priority(&mut self, stream: StreamKey, priority: Priority) {
        if let Some(entry) = self.streams.get_mut(stream) {
            entry.priority = Some(priority);
            self.turns.turn_on();
        }
    }
}
