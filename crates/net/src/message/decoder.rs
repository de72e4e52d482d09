//! Content that is not what the message carries: the place where a decoder stands between the two.

use alula_fields::FieldSection;

use crate::error::Error;

/// Makes what a [`Body`](crate::Body) gives out of the coded bytes that came (RFC 9110 §8.4).
///
/// It owns the coded bytes that are being decoded: the connection's buffer is swapped in, and is given back
/// with the body.
pub trait Decoder: Send + Sync {
    /// Returns the buffer of the coded bytes, all of which were decoded: the next ones are put in their
    /// place.
    fn refill(&mut self) -> &mut Vec<u8>;

    /// Makes the next content, once all of the last was taken; false when more coded bytes are needed.
    /// `is_over` says that there are none: false means then that the content is whole.
    ///
    /// # Errors
    /// The bytes are not in the coding they are said to be in, they end before it does, or they grow over
    /// what they may. The same error comes again then.
    fn decode(&mut self, is_over: bool) -> Result<bool, Error>;

    /// Returns the content that was made and not taken.
    fn unread(&self) -> &[u8];

    /// Takes so many bytes of that.
    fn take(&mut self, bytes: usize) -> &[u8];

    /// Keeps a copy of the fields of the message, which tell of the coded content.
    fn keep_fields(&mut self, fields: &FieldSection);

    /// Returns the fields that were kept.
    fn fields(&self) -> &FieldSection;

    /// Gives the memory of the coded bytes back.
    fn give_back(self: Box<Self>) -> Vec<u8>;
}
