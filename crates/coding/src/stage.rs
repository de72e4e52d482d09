//! One coding while it is being decoded.

/// Decodes a coding, step by step.
pub(crate) trait Coder: Send + Sync {
    /// Decodes from the front of `input` into the remaining capacity of `out`; returns the bytes taken. What
    /// comes out may be kept back only for want of room.
    ///
    /// # Errors
    /// The bytes are not in this coding; the text says why.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str>;

    /// Returns true if the input may end here.
    fn is_whole(&self) -> bool;

    /// Resets it for the next message; returns false if it is not worth keeping.
    fn reset(&mut self) -> bool;
}

/// A coder, with counts of its input and output.
pub(crate) struct Stage {
    coder: Box<dyn Coder>,
    /// The bytes it took.
    pub(crate) taken: u64,
    /// The bytes it made.
    pub(crate) made: u64,
    /// It may hold output for which there was no room.
    may_hold: bool,
}

impl Stage {
    pub(crate) fn new(coder: Box<dyn Coder>) -> Self {
        Self { coder, taken: 0, made: 0, may_hold: false }
    }

    /// Does the same as [`Coder::step`], unless there is nothing to do.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        if input.is_empty() && !self.may_hold {
            return Ok(0);
        }
        let before = out.len();
        let taken = self.coder.step(input, out)?;
        self.may_hold = out.len() == out.capacity();
        self.taken += taken as u64;
        self.made += (out.len() - before) as u64;
        Ok(taken)
    }

    /// Returns true if the input may end here; an empty input may in any coding.
    pub(crate) fn is_whole(&self) -> bool {
        self.taken == 0 || self.coder.is_whole()
    }

    pub(crate) fn reset(&mut self) -> bool {
        (self.taken, self.made, self.may_hold) = (0, 0, false);
        self.coder.reset()
    }
}
