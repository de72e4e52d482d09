//! Bytes as decisions: whoever needs a number, a flag or a string takes it from the front.

/// What is left of the bytes of a trial. When they run out every number is zero and every string is empty.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    /// A number below the bound, out of one byte or, where that is too small, two.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let number = if bound > 256 { usize::from(self.u16()) } else { usize::from(self.byte()) };
        number % bound.max(1)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// So many bytes, or all when there are fewer.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A string below 255 bytes, which its first byte says; 255 stands for all the rest.
    pub(crate) fn string(&mut self) -> &'a [u8] {
        match self.byte() {
            255 => self.take(usize::MAX),
            len => self.take(usize::from(len)),
        }
    }

    /// A string whose length four bytes say, or all that is left when that is shorter.
    pub(crate) fn take_counted(&mut self) -> &'a [u8] {
        let len = self.u32();
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Any string as text: each byte is a character, so that nothing is lost.
    pub(crate) fn text(&mut self) -> String {
        self.string().iter().map(|&byte| char::from(byte)).collect()
    }
}

/// Returns so many in 160 of these bytes, or all of them: a part that is not zero moves something, so that
/// the last bytes get through.
pub(crate) fn part_of(bytes: usize, part: u8) -> usize {
    (bytes * usize::from(part)).div_ceil(160).min(bytes)
}
