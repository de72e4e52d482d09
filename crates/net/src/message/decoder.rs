//! Decoders: the interface between the bytes of a message and its decoded content.

use alula_fields::FieldSection;

use crate::error::Error;

/// Decodes the bytes of a message for a [`Body`](crate::Body) (RFC 9110 §8.4).
///
/// It owns the coded bytes that are being decoded: the connection's buffer is swapped in, and is given back
/// with the body.
pub trait Decoder: Send + Sync {
    /// Returns the buffer of the coded bytes, all of which were decoded; the next ones replace them.
    fn refill(&mut self) -> &mut Vec<u8>;

    /// Decodes more content, once the last was taken; returns false if more coded bytes are needed. `is_over`
    /// says that there are none: false means then that the content is whole.
    ///
    /// # Errors
    /// The bytes are not in the coding they are said to be in, they end before it does, or they grow over
    /// what they may. The same error comes again then.
    fn decode(&mut self, is_over: bool) -> Result<bool, Error>;

    /// Returns the decoded content that was not taken.
    fn unread(&self) -> &[u8];

    /// Takes so many bytes of the decoded content.
    fn take(&mut self, bytes: usize) -> &[u8];

    /// Keeps a copy of the fields of the message, which describe the coded content.
    fn keep_fields(&mut self, fields: &FieldSection);

    /// Returns the fields that were kept.
    fn fields(&self) -> &FieldSection;

    /// Gives the memory of the coded bytes back.
    fn give_back(self: Box<Self>) -> Vec<u8>;
}
