//! The content of an answer in one buffer: short content is sent whole with its length, longer content in
//! pieces.

use alula::{BodyWriter, Error, Reply, Scratch, Sent};

/// The bytes of a piece: few enough that many lists may be under way, and that a buffer of 32 KiB has room
/// for one name more.
pub(super) const PIECE_BYTES: usize = 24 * 1024;

/// Content being made. Dropped before it was [begun](Self::is_begun) it leaves the request to its handler;
/// afterwards it resets the stream.
pub(super) struct Output {
    /// The reply; `None` once the answer has begun.
    reply: Option<Reply>,
    /// The writer of the content; `None` until the answer has begun.
    writer: Option<BodyWriter>,
    text: Scratch,
}

impl Output {
    pub(super) fn new(reply: Reply) -> Self {
        Self { reply: Some(reply), writer: None, text: Scratch::lend_within(2 * PIECE_BYTES) }
    }

    /// Returns the bytes that have not been sent yet.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Returns the memory that it holds.
    pub(super) fn capacity_bytes(&self) -> usize {
        self.text.capacity()
    }

    /// Returns true if there are enough bytes for a piece.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= PIECE_BYTES
    }

    /// Returns true if the head of the answer was sent.
    pub(super) const fn is_begun(&self) -> bool {
        self.reply.is_none()
    }

    /// Returns true if content is not sent because the request is HEAD.
    pub(super) fn is_muted(&self) -> bool {
        self.writer.as_ref().is_some_and(BodyWriter::is_muted)
    }

    /// Sends the bytes as a piece, waiting while the client takes nothing.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        if let Some(reply) = self.reply.take() {
            self.writer = Some(reply.stream().await?);
        }
        if let Some(writer) = &mut self.writer {
            writer.write(&self.text).await?;
        }
        self.text.clear();
        Ok(())
    }

    /// Sends the remaining bytes and ends the answer.
    pub(super) async fn finish(self) -> Result<Sent, Error> {
        match (self.reply, self.writer) {
            (Some(reply), _) => reply.send(&self.text).await,
            (None, Some(writer)) => writer.finish_content(&self.text).await,
            (None, None) => Err(Error::usage("the head of this answer could not be sent")),
        }
    }
}
