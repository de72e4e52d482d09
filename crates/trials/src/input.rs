//! Octets as decisions: whoever needs a number, a flag or a string takes it from the front.

/// What is left of the octets of a trial. When they run out every number is zero and every string is empty.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) const fn new(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn octet(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.octet(), self.octet()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    /// A number below the bound, out of one octet or, where that is too small, two.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let number = if bound > 256 { usize::from(self.u16()) } else { usize::from(self.octet()) };
        number % bound.max(1)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.octet() & 1 == 1
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// So many octets, or all when there are fewer.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A string below 255 octets, which its first octet says; 255 stands for all the rest.
    pub(crate) fn string(&mut self) -> &'a [u8] {
        match self.octet() {
            255 => self.take(usize::MAX),
            len => self.take(usize::from(len)),
        }
    }

    /// A string whose length four octets say, or all that is left when that is shorter.
    pub(crate) fn take_counted(&mut self) -> &'a [u8] {
        let len = self.u32();
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Any string as text: each octet is a character, so that nothing is lost.
    pub(crate) fn text(&mut self) -> String {
        self.string().iter().map(|&octet| char::from(octet)).collect()
    }
}
