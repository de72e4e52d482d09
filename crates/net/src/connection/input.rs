//! The bytes that come in: the buffers that a connection reads into, lent by the thread or its own while
//! large content comes, and how far the peer has come in sending.
//!
//! Rule 1: between two polls a connection holds no buffer that its thread has lent; what is unread moves to
//! memory of its own size.
//! Rule 2: the buffers become the connection's own while large content comes, since content is handed over
//! where it was read.

use crate::{
    connection::memory::{
        read_buffers::{LENT_BYTES, give_back, lend},
        spares::Spares,
    },
    transport::read_buf::ReadBuf,
};

/// Bytes of room that a socket is read into at least, in a buffer that is lent.
const ROOM_MIN: usize = 16 * 1024;

/// More bytes than this stay where they were read: copying them costs more than the memory is worth.
const STOWED_MAX: usize = 16 * 1024;

/// Bytes that a peer of HTTP/1.1 may send ahead before reading stops.
const AHEAD_BYTES_MAX: usize = 64 * 1024;

/// Reads that do not ask the reactor first, after one that asked and found something to read.
const READS_UNASKED: u8 = 16;

#[derive(Default)]
pub(crate) struct Input {
    /// The bytes that were read and are not used yet; within a poll also the buffer to read into.
    buffer: ReadBuf,
    /// The bytes that TLS has decrypted and that are not used yet.
    #[cfg(feature = "tls")]
    plain: ReadBuf,
    /// Large content comes, or much is unread: the buffers are the connection's own.
    is_kept: bool,
    /// They are for what is unread, and are given back once that is used.
    is_for_unread: bool,
    /// Memory for what is unread between two polls.
    stowed: Vec<u8>,
    end: End,
    /// The machine has left bytes that it takes once the exchange before them is over.
    is_held_back: bool,
    /// The socket was not read, because the machine wanted nothing.
    is_stopped: bool,
    next_read: NextRead,
    /// The number of reads that do not ask, after one that did and found something: asking counts for the
    /// budget of the task.
    reads_unasked: u8,
}

/// The way of the next read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum NextRead {
    /// By the reactor, which is known or likely to have something.
    #[default]
    Usual,
    /// The last read has emptied the socket, as far as it told: the reactor is asked before a buffer is
    /// taken.
    AskFirst,
    /// By the system itself: the reactor was made to believe that there is nothing to read
    /// ([`ReadHalf::poll_closed`](crate::transport::ReadHalf::poll_closed)).
    BySystem,
}

/// The end of what the peer sends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum End {
    /// More may come.
    #[default]
    Open,
    /// The peer has closed its side, and the machine was not told yet.
    Closed {
        /// It did without saying so over TLS (close_notify).
        is_truncated: bool,
    },
    /// The machine was told.
    Told,
}

/// The buffers.
impl Input {
    /// Takes the buffer to read into; it begins with what is unread. [`Self::read_step`] says how much room
    /// to ask it for.
    #[inline(always)]
    pub(crate) fn take_to_fill(&mut self, spares: &mut Spares) -> ReadBuf {
        if self.buffer.capacity() == 0 && !self.is_kept {
            return ReadBuf::on(lend());
        }
        self.take_own(spares)
    }

    #[inline(never)]
    fn take_own(&mut self, spares: &mut Spares) -> ReadBuf {
        let own = std::mem::take(&mut self.buffer);
        if std::mem::take(&mut self.is_for_unread) {
            // The next read may fill all of it.
            self.is_kept = false;
        }
        self.widened(own, spares)
    }

    /// Bytes of room to ask the buffer for.
    #[inline]
    pub(crate) fn read_step(&self) -> usize {
        if self.is_kept { LENT_BYTES } else { ROOM_MIN }
    }

    /// Returns the same bytes in a buffer with room.
    #[inline]
    fn widened(&mut self, own: ReadBuf, spares: &mut Spares) -> ReadBuf {
        match own.capacity() {
            0 if !self.is_kept => ReadBuf::on(lend()),
            LENT_BYTES.. => own,
            _ => self.widen(own, spares),
        }
    }

    #[cold]
    fn widen(&mut self, own: ReadBuf, spares: &mut Spares) -> ReadBuf {
        match (self.is_kept, own.capacity()) {
            (true, 0) => spares.widest_memory(),
            (true, _) => own,
            (false, _) => {
                let mut wide = ReadBuf::on(lend());
                wide.append(own.unread());
                self.stowed = own.into_memory();
                wide
            }
        }
    }

    /// Takes the buffer out, to feed the machine from it.
    #[inline]
    pub(crate) fn take(&mut self) -> ReadBuf {
        std::mem::take(&mut self.buffer)
    }

    /// Puts the buffer back, with what is left in it.
    #[inline]
    pub(crate) fn put(&mut self, buffer: ReadBuf) {
        self.buffer = buffer;
    }

    /// Puts the buffer back that a read found nothing for.
    #[inline]
    pub(crate) fn put_unfilled(&mut self, buffer: ReadBuf) {
        if buffer.is_empty() && !self.is_kept {
            give_back(buffer.into_memory());
        } else {
            self.buffer = buffer;
        }
    }

    /// Gives back the buffer that is lent and has nothing unread, as it is after most exchanges.
    #[inline(always)]
    pub(crate) fn give_back_used(&mut self) {
        if self.buffer.is_empty() && !self.is_kept {
            give_back(std::mem::take(&mut self.buffer).into_memory());
        }
    }

    /// Returns true if a buffer is lent, or as large as one that is.
    #[inline]
    pub(crate) fn is_wide(&self) -> bool {
        // One of two numbers has a bit that high.
        const { assert!(LENT_BYTES.is_power_of_two()) };
        #[cfg(feature = "tls")]
        let bytes = self.buffer.capacity() | self.plain.capacity();
        #[cfg(not(feature = "tls"))]
        let bytes = self.buffer.capacity();
        bytes >= LENT_BYTES && !self.is_kept
    }

    /// Gives the lent buffers back: this poll reads no more. Returns true if bytes were unread and have
    /// moved.
    #[inline(never)]
    pub(crate) fn stow(&mut self) -> bool {
        self.give_back_used();
        #[cfg(feature = "tls")]
        if self.plain.is_empty() && self.plain.capacity() > 0 {
            give_back(std::mem::take(&mut self.plain).into_memory());
        }
        let is_unread = self.wide_bytes() > 0;
        if is_unread {
            self.stow_unread();
        }
        is_unread
    }

    #[cold]
    fn stow_unread(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.buffer = self.stowed(buffer);
        #[cfg(feature = "tls")]
        {
            let plain = std::mem::take(&mut self.plain);
            self.plain = self.stowed(plain);
        }
        // Bytes that are too many to be moved have made their buffer the connection's own.
        self.is_kept = self.wide_bytes() > 0;
        self.is_for_unread = self.is_kept;
    }

    fn stowed(&mut self, wide: ReadBuf) -> ReadBuf {
        if wide.capacity() < LENT_BYTES || wide.unread().len() > STOWED_MAX {
            return wide;
        }
        let mut own = std::mem::take(&mut self.stowed);
        own.clear();
        own.extend_from_slice(wide.unread());
        give_back(wide.into_memory());
        ReadBuf::of(own)
    }

    /// Bytes that the buffers have, if they are large ones.
    #[inline]
    fn wide_bytes(&self) -> usize {
        let wide = |buffer: &ReadBuf| if buffer.capacity() < LENT_BYTES { 0 } else { buffer.capacity() };
        #[cfg(feature = "tls")]
        let plain = wide(&self.plain);
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        wide(&self.buffer) + plain
    }

    /// Bytes of the buffers that are the connection's own.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        #[cfg(feature = "tls")]
        let plain = self.plain.capacity();
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        let lent = if self.is_kept { 0 } else { self.wide_bytes() };
        self.buffer.capacity() + plain - lent + self.stowed.capacity()
    }

    /// Hands the buffer over to content; what is left in it moves to other memory. From then on the
    /// connection reads into buffers of its own, which take turns with those that content holds.
    pub(crate) fn hand_over(&mut self, spares: &mut Spares) -> Vec<u8> {
        (self.is_kept, self.is_for_unread) = (true, false);
        let buffer = std::mem::take(&mut self.buffer);
        let left = buffer.unread();
        if !left.is_empty() {
            self.buffer = spares.widest_memory();
            self.buffer.append(left);
        }
        buffer.into_memory()
    }

    /// Keeps no buffer of its own from now on, nor memory for what is unread.
    pub(crate) fn trim(&mut self) {
        (self.is_kept, self.is_for_unread) = (false, false);
        if self.is_wide() {
            self.stow();
        }
        self.stowed = Vec::new();
    }
}

/// TLS.
#[cfg(feature = "tls")]
impl Input {
    /// Returns what was read, encrypted, and the buffer to decrypt it into, which has room.
    pub(crate) fn begin_to_decrypt(&mut self, spares: &mut Spares) -> (&mut ReadBuf, &mut ReadBuf) {
        if self.plain.capacity() == 0 || !self.buffer.is_empty() {
            let plain = std::mem::take(&mut self.plain);
            self.plain = self.widened(plain, spares);
        }
        (&mut self.buffer, &mut self.plain)
    }

    /// Exchanges what is encrypted and what is not.
    pub(crate) fn swap_plain(&mut self) {
        std::mem::swap(&mut self.buffer, &mut self.plain);
    }
}

/// The progress of the peer.
impl Input {
    /// The peer has closed its side; over TLS it is to say so before (RFC 8446 §6.1).
    pub(crate) fn close(&mut self, is_truncated: bool) {
        if self.end == End::Open {
            self.end = End::Closed { is_truncated };
        }
    }

    /// Returns true if the peer has closed its side.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.end != End::Open
    }

    /// Returns true once the machine is to be told that nothing more comes: it has taken all that came.
    #[inline]
    pub(crate) fn is_end_untold(&self) -> bool {
        matches!(self.end, End::Closed { .. }) && !self.is_held_back
    }

    /// Notes that the machine is told of the end; returns true if it came without a word over TLS.
    pub(crate) fn tell_end(&mut self) -> bool {
        std::mem::replace(&mut self.end, End::Told) == End::Closed { is_truncated: true }
    }

    /// Notes whether the machine leaves what is unread until the exchange before it is over; `is_holding`
    /// says that it leaves what comes.
    #[inline]
    pub(crate) fn hold_back(&mut self, is_holding: bool, unread: &ReadBuf) {
        self.is_held_back = is_holding && (self.is_over() || !unread.is_empty());
    }

    /// Returns true if the machine has left bytes until the exchange before them is over.
    #[inline]
    pub(crate) fn is_held_back(&self) -> bool {
        self.is_held_back
    }

    /// Returns true unless the peer has closed its side, or has sent so much ahead that it can wait.
    #[inline]
    pub(crate) fn takes_more(&self) -> bool {
        let can_wait = self.is_held_back && self.is_much_left();
        !self.is_over() && !can_wait
    }

    fn is_much_left(&self) -> bool {
        #[cfg(feature = "tls")]
        let plain = self.plain.unread().len();
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        self.buffer.unread().len() + plain >= AHEAD_BYTES_MAX
    }

    /// Notes whether the socket is read, or is not because the machine wants nothing.
    #[inline]
    pub(crate) fn set_stopped(&mut self, is_stopped: bool) {
        self.is_stopped = is_stopped;
    }

    /// Returns true if the socket was not read, because the machine wanted nothing.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}

/// The reactor is asked before a read that would mostly find nothing, so that no buffer is taken for it.
impl Input {
    /// Returns the way of the next read, which begins.
    #[inline]
    pub(crate) fn take_next_read(&mut self) -> NextRead {
        std::mem::take(&mut self.next_read)
    }

    /// Notes that what was there when the connection was accepted is mostly all there is.
    pub(crate) fn ask_first(&mut self) {
        self.next_read = NextRead::AskFirst;
    }

    /// Notes that the reactor does not know what there is to read, until a read finds nothing.
    pub(crate) fn read_by_system(&mut self) {
        self.next_read = NextRead::BySystem;
    }

    /// Notes that the reactor was asked and says that there is something to read.
    #[inline]
    pub(crate) fn is_to_be_read(&mut self) {
        self.reads_unasked = READS_UNASKED;
    }

    /// Notes that a read has emptied the socket, or has not.
    #[inline]
    pub(crate) fn was_read(&mut self, is_emptied: bool) {
        match self.reads_unasked {
            0 if is_emptied => self.next_read = NextRead::AskFirst,
            0 => {}
            _ => self.reads_unasked -= 1,
        }
    }
}
