//! Sending content and trailers.

use alula_fields::FieldSection;
use alula_machine::{OutBuf, StreamKey};

use super::{Connection, Sending};
use crate::error::SendError;
use crate::head::head_out;
use crate::head::outgoing;

/// The most bytes of the size line of a chunk, line end included.
const SIZE_BYTES_MAX: usize = 16 + 2;

impl Connection {
    /// Sends content, and returns how many bytes were taken: all, or none while the peer has not agreed to
    /// another protocol; [`Notice::Writable`](crate::Notice::Writable) follows then. With `end` the message
    /// ends.
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
        self.check_message(stream)?;
        match self.sending {
            Sending::Undecided if !end => return Ok(0),
            Sending::Length(left) => self.send_some(left, data, end, out)?,
            Sending::Chunks => write_chunk(data, end, out),
            Sending::UntilClose => out.extend(data),
            Sending::Undecided if !data.is_empty() => return Ok(0),
            _ if data.is_empty() => {}
            _ => return Err(SendError::ContentLength),
        }
        if end {
            self.sent_all();
        }
        Ok(data.len())
    }

    /// Returns the bytes of the stated length that are still to be sent; `None` for content without one, and
    /// when none may be sent.
    pub fn length_left(&self, stream: StreamKey) -> Option<u64> {
        match self.sending {
            Sending::Length(left) if self.check_message(stream).is_ok() => Some(left),
            _ => None,
        }
    }

    /// Counts bytes of content that the driver has sent itself, after all of the machine's output.
    ///
    /// # Errors
    /// The content has no stated length, or the bytes are more than is left of it; nothing has changed then.
    pub fn count_data(&mut self, stream: StreamKey, bytes: u64) -> Result<(), SendError> {
        self.check_message(stream)?;
        let Sending::Length(left) = self.sending else { return Err(SendError::ContentLength) };
        self.take_length(left, bytes)
    }

    /// Returns false while the peer has not agreed to another protocol, so that content would be taken
    /// without being sent; [`Notice::Writable`](crate::Notice::Writable) follows then.
    pub fn takes_content(&self) -> bool {
        !matches!(self.sending, Sending::Undecided)
    }

    /// Ends a message with trailers, after all of its content. A peer of HTTP/1.0 has no place for them: it
    /// gets none.
    ///
    /// # Errors
    /// When they cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.check_message(stream)?;
        outgoing::trailers(trailers)?;
        match self.sending {
            Sending::Chunks => head_out::trailers(trailers, self.config.spelling, out),
            Sending::UntilClose if !self.is_tunnel => {}
            _ => return Err(SendError::Trailers),
        }
        self.sent_all();
        Ok(())
    }

    /// Sends content of a stated length: no more and no less.
    #[inline]
    fn send_some(&mut self, left: u64, data: &[u8], end: bool, out: &mut OutBuf) -> Result<(), SendError> {
        if end && left > data.len() as u64 {
            return Err(SendError::ContentLength);
        }
        self.take_length(left, data.len() as u64)?;
        out.extend(data);
        Ok(())
    }

    #[inline]
    fn take_length(&mut self, left: u64, bytes: u64) -> Result<(), SendError> {
        let left = left.checked_sub(bytes).ok_or(SendError::ContentLength)?;
        self.sending = if left > 0 { Sending::Length(left) } else { Sending::Nothing };
        Ok(())
    }

    fn check_message(&self, stream: StreamKey) -> Result<(), SendError> {
        match self.sending {
            _ if self.error.is_some() => Err(SendError::Closed),
            _ if !self.is_current(stream) => Err(SendError::UnknownStream),
            _ if self.is_over => Err(SendError::StreamEnded),
            Sending::Ended => Err(SendError::StreamEnded),
            Sending::Head => Err(SendError::HeadNotSent),
            _ => Ok(()),
        }
    }

    #[inline]
    pub(super) fn sent_all(&mut self) {
        self.sending = Sending::Ended;
        self.settle();
    }
}

/// Writes one chunk, and the last one at the end.
#[inline]
fn write_chunk(data: &[u8], end: bool, out: &mut OutBuf) {
    const LAST: &[u8] = b"0\r\n\r\n";
    let space = out.spare(SIZE_BYTES_MAX + data.len() + 2 + LAST.len());
    let mut at = 0;
    if !data.is_empty() {
        at = write_size(data.len(), space);
        space[at..at + data.len()].copy_from_slice(data);
        at += data.len();
        space[at..at + 2].copy_from_slice(b"\r\n");
        at += 2;
    }
    if end {
        space[at..at + LAST.len()].copy_from_slice(LAST);
        at += LAST.len();
    }
    out.commit(at);
}

/// Writes the size line of a chunk, and returns its length.
fn write_size(size: usize, space: &mut [u8]) -> usize {
    let digits = ((usize::BITS - size.leading_zeros()).div_ceil(4) as usize).max(1);
    for (at, digit) in space[..digits].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[size >> (4 * (digits - 1 - at)) & 0xf];
    }
    space[digits..digits + 2].copy_from_slice(b"\r\n");
    digits + 2
}
