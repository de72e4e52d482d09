//! Content that is not what the program wrote: the place where an encoder stands between the two.

use crate::error::Error;

/// Makes the content of a message out of what is written, piece by piece.
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
    /// Appends to `out` what `content` becomes; content may be kept back. A piece has 16 KiB at most where a
    /// message is written piece by piece.
    ///
    /// # Errors
    /// The content cannot be encoded: the stream is reset, or answered with 500 if its head has not left.
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends what was kept back, as far as the other side can do something with it. Called after each piece
    /// that the program writes, which leaves then.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }

    /// Appends what is left; the content is whole.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }

    /// Takes the encoder back when its message is over, whole or not, to be used again.
    fn give_back(self: Box<Self>) {}
}
