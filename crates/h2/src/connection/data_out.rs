//! Sent DATA (RFC 9113 §6.1, §6.9): as much as both windows allow, in frames that the peer accepts.

use alula_machine::{OutBuf, StreamKey};

use super::Connection;
use crate::error::SendError;
use crate::frame::{FrameHeader, FrameKind, HEADER_BYTES, flag};
use crate::stream::Stream;
use crate::stream::half::Outgoing;

impl Connection {
    /// Sends as much content as the windows allow, and returns the number of bytes. When it was less than
    /// all, [`Notice::Writable`](crate::Notice::Writable) follows once there is room, and the rest is to be
    /// sent then. With `end` the message ends when all of `data` was taken; an empty `data` with `end` needs
    /// no window.
    ///
    /// # Errors
    /// When it cannot be sent at all; nothing has changed then, and nothing is written.
    pub fn send_data(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<usize, SendError> {
        let entry = self.check_stream(stream)?;
        entry.state.sent(Outgoing::Data { end_stream: end })?;
        entry.content_out.check(data.len() as u64, end).map_err(|_| SendError::ContentLength)?;
        let taken = data.len().min(self.capacity(stream, entry) as usize);
        let is_all = taken == data.len();
        // END_STREAM goes with the last byte, not with the last that fits.
        let end = end && is_all;
        let state = entry.state.sent(Outgoing::Data { end_stream: end })?;
        let content = entry.content_out.check(taken as u64, end).map_err(|_| SendError::ContentLength)?;

        let entry = self.streams.get_mut(stream).ok_or(SendError::UnknownStream)?;
        (entry.state, entry.content_out, entry.is_blocked) = (state, content, !is_all);
        entry.window_out.take(taken as u32);
        self.window_out.take(taken as u32);
        let (id, waits_for_connection) = (entry.id, !is_all && entry.window_out.available() > 0);
        // An empty DATA frame is sent only to end the message; it needs no window (RFC 9113 §6.9).
        if taken > 0 || end {
            self.flush(out);
            self.write_data(id, &data[..taken], end, out);
        }
        if waits_for_connection || self.turns.is_on() {
            self.wait_in_line(stream, taken as u32, waits_for_connection);
        }
        if end {
            self.close_if_ended(stream);
        }
        Ok(taken)
    }

    /// Returns how many bytes of content can be sent now. If none can,
    /// [`Notice::Writable`](crate::Notice::Writable) follows once there is room, as after a
    /// [`send_data`](Self::send_data) that took nothing. Zero for a stream that is gone.
    pub fn await_capacity(&mut self, stream: StreamKey) -> usize {
        let Some(entry) = self.streams.get(stream) else { return 0 };
        let capacity = self.capacity(stream, entry);
        if capacity == 0 && entry.state.is_open() {
            self.block(stream);
        }
        capacity as usize
    }

    /// Records that the windows block the content of a stream.
    fn block(&mut self, stream: StreamKey) {
        let Some(entry) = self.streams.get_mut(stream) else { return };
        entry.is_blocked = true;
        let waits_for_connection = entry.window_out.available() > 0;
        if waits_for_connection || self.turns.is_on() {
            self.wait_in_line(stream, 0, waits_for_connection);
        }
    }

    /// Returns how many bytes both windows allow, without those promised to other streams.
    #[inline]
    pub(super) fn capacity(&self, stream: StreamKey, entry: &Stream) -> u32 {
        let shared = if self.turns.is_on() {
            self.turns.share(stream, entry, self.window_out.available())
        } else {
            self.window_out.available()
        };
        entry.window_out.available().min(shared)
    }

    #[inline(always)]
    fn write_data(&mut self, id: u32, data: &[u8], end: bool, out: &mut OutBuf) {
        let max = self.peer.frame_bytes_max as usize;
        let mut left = data;
        loop {
            let (piece, after) = left.split_at(left.len().min(max));
            let flags = if end && after.is_empty() { flag::END_STREAM } else { 0 };
            let header = FrameHeader { length: piece.len() as u32, kind: FrameKind::DATA, flags, stream: id };
            let spare = out.spare(HEADER_BYTES + piece.len());
            spare[..HEADER_BYTES].copy_from_slice(&header.bytes());
            spare[HEADER_BYTES..HEADER_BYTES + piece.len()].copy_from_slice(piece);
            out.commit(HEADER_BYTES + piece.len());
            self.sent(header, &[]);
            // A peer answers DATA by WINDOW_UPDATE, for the stream and for the connection.
            self.allow_updates();
            left = after;
            if left.is_empty() {
                return;
            }
        }
    }
}
