//! The buffers that a connection reads into: lent by the thread, or its own while large content comes.

use crate::{
    content::Content,
    lending::{LENT_OCTETS, give_back, lend},
    read_buf::ReadBuf,
    shared::Shared,
};

/// Octets of room that a socket is read into at least, in a buffer that is lent.
const ROOM_MIN: usize = 16 * 1024;

/// More octets than this stay where they were read: copying them costs more than the memory is worth.
const STOWED_MAX: usize = 16 * 1024;

impl Shared {
    /// Takes the buffer to read into; it begins with what is unread. [`Self::read_step`] says how much room to ask it for.
    #[inline(always)]
    pub(crate) fn take_input(&mut self) -> ReadBuf {
        if self.input.capacity() == 0 && !self.keeps_input {
            return ReadBuf::on(lend());
        }
        self.take_own_input()
    }

    #[inline(never)]
    fn take_own_input(&mut self) -> ReadBuf {
        let input = std::mem::take(&mut self.input);
        self.widened(input)
    }

    /// Octets of room to ask the buffer for.
    #[inline]
    pub(crate) fn read_step(&self) -> usize {
        if self.keeps_input { LENT_OCTETS } else { ROOM_MIN }
    }

    /// The same octets in a buffer with room.
    #[inline]
    pub(crate) fn widened(&mut self, own: ReadBuf) -> ReadBuf {
        match own.capacity() {
            0 if !self.keeps_input => ReadBuf::on(lend()),
            LENT_OCTETS.. => own,
            _ => self.widen(own),
        }
    }

    #[cold]
    fn widen(&mut self, own: ReadBuf) -> ReadBuf {
        match (self.keeps_input, own.capacity()) {
            (true, 0) => self.spare_input(),
            (true, _) => own,
            (false, _) => {
                let mut wide = ReadBuf::on(lend());
                wide.append(own.unread());
                self.stowed = own.into_memory();
                wide
            }
        }
    }

    /// Gives the buffers back that this thread has lent: this poll reads no more. What is unread moves to memory of its own size.
    #[inline]
    pub(crate) fn stow_input(&mut self) {
        #[cfg(feature = "tls")]
        let octets = self.input.capacity() | self.plain.capacity();
        #[cfg(not(feature = "tls"))]
        let octets = self.input.capacity();
        // Of two numbers, one has a bit that high.
        const { assert!(LENT_OCTETS.is_power_of_two()) };
        if octets >= LENT_OCTETS && !self.keeps_input {
            self.stow_wide();
        }
    }

    /// Takes the buffer back after a look at the socket that found nothing.
    #[inline]
    pub(crate) fn put_input_back(&mut self, input: ReadBuf) {
        if input.is_empty() && !self.keeps_input {
            give_back(input.into_memory());
        } else {
            self.input = input;
        }
        self.stow_input();
    }

    /// As [`Self::stow_input`], for a place that every exchange passes with one buffer in hand and nothing unread.
    #[inline(always)]
    pub(crate) fn stow_usual_input(&mut self) {
        if self.input.is_empty() && !self.keeps_input {
            give_back(std::mem::take(&mut self.input).into_memory());
        }
        self.stow_input();
    }

    #[inline(never)]
    fn stow_wide(&mut self) {
        if self.input.is_empty() {
            give_back(std::mem::take(&mut self.input).into_memory());
        }
        #[cfg(feature = "tls")]
        if self.plain.is_empty() && self.plain.capacity() > 0 {
            give_back(std::mem::take(&mut self.plain).into_memory());
        }
        if self.wide_octets() > 0 {
            self.stow_unread();
        }
    }

    /// Octets that the buffers to read into have, if they are large ones.
    #[inline]
    fn wide_octets(&self) -> usize {
        let wide = |buffer: &ReadBuf| if buffer.capacity() < LENT_OCTETS { 0 } else { buffer.capacity() };
        #[cfg(feature = "tls")]
        let plain = wide(&self.plain);
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        wide(&self.input) + plain
    }

    /// Octets of the buffers to read into that are the connection's own.
    #[inline]
    pub(crate) fn input_octets(&self) -> usize {
        #[cfg(feature = "tls")]
        let plain = self.plain.capacity();
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        let lent = if self.keeps_input { 0 } else { self.wide_octets() };
        self.input.capacity() + plain - lent + self.stowed.capacity()
    }

    #[cold]
    fn stow_unread(&mut self) {
        let input = std::mem::take(&mut self.input);
        self.input = self.stowed(input);
        #[cfg(feature = "tls")]
        {
            let plain = std::mem::take(&mut self.plain);
            self.plain = self.stowed(plain);
        }
        // What is too much to be moved has made the buffer it is in the connection's own.
        self.keeps_input = self.wide_octets() > 0;
        self.settle_memory();
    }

    fn stowed(&mut self, wide: ReadBuf) -> ReadBuf {
        if wide.capacity() < LENT_OCTETS || wide.unread().len() > STOWED_MAX {
            return wide;
        }
        let mut own = std::mem::take(&mut self.stowed);
        own.clear();
        own.extend_from_slice(wide.unread());
        give_back(wide.into_memory());
        ReadBuf::of(own)
    }

    /// Keeps no buffer of its own any more, beyond what is unread.
    pub(crate) fn trim_input(&mut self) {
        self.keeps_input = false;
        self.stow_input();
        self.stowed = Vec::new();
    }

    /// Memory that content has left behind, the largest there is, which soon is as large as it has to be.
    pub(crate) fn spare_input(&mut self) -> ReadBuf {
        let sizes = self.contents.iter().map(Content::initialised).enumerate();
        let Some((place, _)) = sizes.max_by_key(|(_, size)| *size) else { return ReadBuf::default() };
        let Some(mut spare) = self.contents.remove(place) else { return ReadBuf::default() };
        self.contents_octets -= spare.capacity();
        self.held.content_went(spare.capacity());
        let memory = spare.take_memory();
        if self.list.is_none() {
            self.list = spare;
        }
        ReadBuf::on(memory)
    }
}
