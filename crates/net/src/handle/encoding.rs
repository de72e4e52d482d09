//! The encoders of one message that is written piece by piece, and the encoded bytes that had no room yet.

use std::cell::RefCell;

use crate::{error::Error, message::encoder::Encoder};

/// The bytes that are encoded at once: few enough that many messages may wait with their output.
const STEP_BYTES: usize = 16 * 1024;

/// The chains of encoders that a thread keeps for the next messages.
const SPARES_MAX: usize = 16;

/// The bytes of memory above which a buffer of a chain is freed.
const KEPT_BYTES_MAX: usize = 32 * 1024;

thread_local! {
    #[expect(clippy::vec_box, reason = "they are handed on from hand to hand")]
    static SPARES: RefCell<Vec<Box<Parts>>> = const { RefCell::new(Vec::new()) };
}

/// Encoders in the order in which content passes them; its memory is used again by the messages of this
/// thread.
pub struct Encoding(Option<Box<Parts>>);

#[derive(Default)]
struct Parts {
    encoders: Vec<Box<dyn Encoder>>,
    /// The encoded bytes, and how many of them were sent.
    made: Vec<u8>,
    sent: usize,
    /// The output of one encoder, for the next.
    between: Vec<u8>,
    /// True once the encoders have produced all of their output.
    is_finished: bool,
}

impl Encoding {
    /// Creates a chain without encoders, which leaves content unchanged.
    pub fn lend() -> Self {
        let used = SPARES.try_with(|spares| spares.borrow_mut().pop()).ok().flatten();
        Self(Some(used.unwrap_or_default()))
    }

    /// Adds an encoder for the output of those before it.
    pub fn push(&mut self, encoder: Box<dyn Encoder>) {
        self.parts().encoders.push(encoder);
    }

    /// Returns the encoded bytes that were not sent.
    pub(crate) fn unsent(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], |parts| &parts.made[parts.sent..])
    }

    /// Returns true if the encoders have finished.
    pub(crate) fn is_finished(&self) -> bool {
        self.0.as_deref().is_some_and(|parts| parts.is_finished)
    }

    /// Counts encoded bytes that were sent.
    pub(crate) fn note_sent(&mut self, bytes: usize) {
        self.parts().sent += bytes;
    }

    /// Encodes the next step of `content`, of which `taken` bytes were encoded; the last step flushes the
    /// encoders, or finishes them if the message `ends`. Returns false if nothing is left to do. Output of
    /// earlier steps must be sent first.
    pub(crate) fn step(&mut self, content: &[u8], taken: &mut usize, ends: bool) -> Result<bool, Error> {
        let rest = &content[*taken..];
        if rest.is_empty() && (!ends || self.is_finished()) {
            return Ok(false);
        }
        let (now, later) = rest.split_at(rest.len().min(STEP_BYTES));
        let parts = self.parts();
        parts.run(now, if later.is_empty() { Some(ends) } else { None })?;
        *taken += now.len();
        Ok(true)
    }

    fn parts(&mut self) -> &mut Parts {
        self.0.get_or_insert_default()
    }
}

impl Parts {
    /// Sends content through all encoders, which are flushed then, or finished, if it `is_last`.
    fn run(&mut self, content: &[u8], is_last: Option<bool>) -> Result<(), Error> {
        debug_assert!(self.sent == self.made.len());
        self.made.clear();
        self.sent = 0;
        self.made.extend_from_slice(if self.encoders.is_empty() { content } else { &[] });
        for (number, encoder) in self.encoders.iter_mut().enumerate() {
            if number > 0 {
                std::mem::swap(&mut self.made, &mut self.between);
                self.made.clear();
            }
            let content = if number > 0 { &self.between } else { content };
            encoder.encode(content, &mut self.made)?;
            match is_last {
                Some(true) => encoder.finish(&mut self.made)?,
                Some(false) => encoder.flush(&mut self.made)?,
                None => {}
            }
        }
        self.is_finished = is_last == Some(true);
        Ok(())
    }

    /// Resets the chain for another message.
    fn reset(&mut self) {
        self.encoders.drain(..).for_each(Encoder::give_back);
        for buffer in [&mut self.made, &mut self.between] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES_MAX);
        }
        (self.sent, self.is_finished) = (0, false);
    }
}

impl Drop for Encoding {
    fn drop(&mut self) {
        let Some(mut parts) = self.0.take() else { return };
        parts.reset();
        // A thread that ends keeps nothing.
        let _ = SPARES.try_with(|spares| {
            let mut spares = spares.borrow_mut();
            if spares.len() < SPARES_MAX {
                spares.push(parts);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes each byte twice, the last one when it is flushed.
    #[derive(Default)]
    struct Twice(Option<u8>);

    impl Encoder for Twice {
        fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
            for &byte in content {
                out.extend(self.0.replace(byte).into_iter().flat_map(|last| [last, last]));
            }
            Ok(())
        }

        fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
            out.extend(self.0.take().into_iter().flat_map(|last| [last, last]));
            Ok(())
        }

        fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
            self.flush(out)?;
            out.push(b'.');
            Ok(())
        }
    }

    /// Returns all that the encoders produce of this content, and in how many steps.
    fn made(encoding: &mut Encoding, content: &[u8], ends: bool) -> (Vec<u8>, usize) {
        let (mut out, mut taken, mut steps) = (Vec::new(), 0, 0);
        while encoding.step(content, &mut taken, ends).unwrap() {
            out.extend_from_slice(encoding.unsent());
            encoding.note_sent(encoding.unsent().len());
            steps += 1;
        }
        (out, steps)
    }

    #[test]
    fn content_passes_all_encoders_in_their_order() {
        let mut encoding = Encoding::lend();
        assert_eq!(made(&mut encoding, b"ab", false), (b"ab".to_vec(), 1));
        encoding.push(Box::new(Twice::default()));
        assert_eq!(made(&mut encoding, b"ab", false), (b"aabb".to_vec(), 1));
        encoding.push(Box::new(Twice::default()));
        assert_eq!(made(&mut encoding, b"c", false), (b"cccc".to_vec(), 1));
        assert_eq!(made(&mut encoding, b"", true), (b"...".to_vec(), 1));
        assert!(encoding.is_finished());
        assert_eq!(made(&mut encoding, b"", true), (b"".to_vec(), 0));
    }

    #[test]
    fn much_content_is_encoded_step_by_step() {
        let mut encoding = Encoding::lend();
        encoding.push(Box::new(Twice::default()));
        let content = vec![b'x'; 3 * STEP_BYTES + 1];
        let (out, steps) = made(&mut encoding, &content, true);
        assert_eq!((out.len(), steps), (2 * content.len() + 1, 4));
    }

    #[test]
    fn a_chain_comes_back_empty() {
        let mut encoding = Encoding::lend();
        encoding.push(Box::new(Twice::default()));
        let mut taken = 0;
        assert!(encoding.step(b"half", &mut taken, true).unwrap());
        drop(encoding);
        let mut again = Encoding::lend();
        assert!(again.unsent().is_empty() && !again.is_finished());
        assert_eq!(made(&mut again, b"ab", false), (b"ab".to_vec(), 1));
    }
}
