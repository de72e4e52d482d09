//! Encoders: the interface between the content that the program writes and the bytes of a message.

use crate::error::Error;

/// Encodes the content of a message piece by piece.
///
/// ```
/// use alula::{Encoder, Error};
///
/// /// Puts two spaces before each line.
/// struct Indent { at_start: bool }
///
/// impl Encoder for Indent {
///     fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
///         for &byte in content {
///             if std::mem::replace(&mut self.at_start, byte == b'\n') {
///                 out.extend(b"  ");
///             }
///             out.push(byte);
///         }
///         Ok(())
///     }
/// }
///
/// let (mut indent, mut out) = (Indent { at_start: true }, Vec::new());
/// indent.encode(b"one\ntwo\n", &mut out)?;
/// assert_eq!(out, b"  one\n  two\n");
/// # Ok::<(), Error>(())
/// ```
pub trait Encoder: Send + Sync {
    /// Appends the encoded form of `content` to `out`; some may be held back. A piece has 16 KiB at most
    /// where a message is written piece by piece.
    ///
    /// # Errors
    /// The content cannot be encoded: the stream is reset, or answered with 500 if its head has not left.
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends the bytes that were held back, as far as the other side can use them. Called after each piece
    /// that the program writes, which leaves then.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }

    /// Appends the rest, at the end of the content.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }

    /// Takes the encoder back after its message, complete or not, to be used again.
    fn give_back(self: Box<Self>) {}
}
