//! The bytes that come in: the buffers that a connection reads into, lent by the thread or its own while
//! large content comes, and the peer's end of sending.
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

/// The least room that a socket is read into, in a buffer that is lent.
const ROOM_MIN: usize = 16 * 1024;

/// The bytes above which unread input stays in its buffer: copying it costs more than the memory is worth.
const STOWED_MAX: usize = 16 * 1024;

/// The bytes that a peer of HTTP/1.1 may send ahead before reading stops.
const AHEAD_BYTES_MAX: usize = 64 * 1024;

/// The reads that may follow without asking the reactor, after one that asked and found something.
const READS_UNASKED: u8 = 16;

#[derive(Default)]
pub(crate) struct Input {
    /// The bytes that were read and are not used yet; within a poll, also the buffer to read into.
    buffer: ReadBuf,
    /// The bytes that TLS has decrypted and that are not used yet.
    #[cfg(feature = "tls")]
    plain: ReadBuf,
    /// The buffers belong to the connection, because large content comes or much is unread.
    is_kept: bool,
    /// The buffers are kept for unread bytes, and are given back once those are used.
    is_for_unread: bool,
    /// Memory for what is unread between two polls.
    stowed: Vec<u8>,
    end: End,
    /// The machine has left bytes until the exchange before them is over.
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
    /// The reactor is asked as usual: it knows, or is likely to have, something.
    #[default]
    Usual,
    /// The last read has probably emptied the socket: the reactor is asked before a buffer is taken.
    AskFirst,
    /// The system is asked by a call of its own, because the reactor was made to believe that there is
    /// nothing to read ([`ReadHalf::poll_closed`](crate::transport::ReadHalf::poll_closed)).
    BySystem,
}

/// The end of what the peer sends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum End {
    /// More may come.
    #[default]
    Open,
    /// The peer has closed its side, and the machine does not know yet.
    Closed {
        /// The peer closed without saying so over TLS (close_notify).
        is_truncated: bool,
    },
    /// The machine knows of the end.
    Told,
}

/// The buffers of a connection.
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

    /// Returns the room to ask the buffer for.
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

    /// Puts the buffer back after a read that found nothing.
    #[inline]
    pub(crate) fn put_unfilled(&mut self, buffer: ReadBuf) {
        if buffer.is_empty() && !self.is_kept {
            give_back(buffer.into_memory());
        } else {
            self.buffer = buffer;
        }
    }

    /// Gives back the lent buffer if nothing in it is unread, as after most exchanges.
    #[inline(always)]
    pub(crate) fn give_back_used(&mut self) {
        if self.buffer.is_empty() && !self.is_kept {
            give_back(std::mem::take(&mut self.buffer).into_memory());
        }
    }

    /// Returns true if a buffer is lent, or as large as a lent one.
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

    /// Gives the lent buffers back at the end of a poll. Returns true if bytes were unread and have moved.
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

    /// Returns the bytes of the buffers that are large.
    #[inline]
    fn wide_bytes(&self) -> usize {
        let wide = |buffer: &ReadBuf| if buffer.capacity() < LENT_BYTES { 0 } else { buffer.capacity() };
        #[cfg(feature = "tls")]
        let plain = wide(&self.plain);
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        wide(&self.buffer) + plain
    }

    /// Returns the bytes of the buffers that the connection owns.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        #[cfg(feature = "tls")]
        let plain = self.plain.capacity();
        #[cfg(not(feature = "tls"))]
        let plain = 0;
        let lent = if self.is_kept { 0 } else { self.wide_bytes() };
        self.buffer.capacity() + plain - lent + self.stowed.capacity()
    }

    /// Hands the buffer over to content; unread bytes behind that move to other memory. From then on the
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

    /// Frees the buffers that the connection owns, and the memory for unread bytes.
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
    /// Returns the encrypted bytes that were read, and the buffer to decrypt them into, which has room.
    pub(crate) fn begin_to_decrypt(&mut self, spares: &mut Spares) -> (&mut ReadBuf, &mut ReadBuf) {
        if self.plain.capacity() == 0 || !self.buffer.is_empty() {
            let plain = std::mem::take(&mut self.plain);
            self.plain = self.widened(plain, spares);
        }
        (&mut self.buffer, &mut self.plain)
    }

    /// Exchanges the buffers of encrypted and of decrypted bytes.
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

    /// Returns true once the machine has to learn that nothing more comes: it has taken all that came.
    #[inline]
    pub(crate) fn is_end_untold(&self) -> bool {
        matches!(self.end, End::Closed { .. }) && !self.is_held_back
    }

    /// Records that the machine knows of the end; returns true if TLS ended without saying so.
    pub(crate) fn tell_end(&mut self) -> bool {
        std::mem::replace(&mut self.end, End::Told) == End::Closed { is_truncated: true }
    }

    /// Records whether the machine leaves unread bytes until the exchange before them is over; `is_holding`
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

    /// Returns true if more may be read: the peer has not closed its side, and has not sent too much ahead.
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
    /// Returns the way of the next read, and resets it.
    #[inline]
    pub(crate) fn take_next_read(&mut self) -> NextRead {
        std::mem::take(&mut self.next_read)
    }

    /// Makes the next read ask the reactor first: what was there when the connection was accepted is mostly
    /// all there is.
    pub(crate) fn ask_first(&mut self) {
        self.next_read = NextRead::AskFirst;
    }

    /// Makes reads ask the system, until one finds nothing: the reactor does not know what there is to read.
    pub(crate) fn read_by_system(&mut self) {
        self.next_read = NextRead::BySystem;
    }

    /// Records that the reactor was asked, and has something to read.
    #[inline]
    pub(crate) fn is_to_be_read(&mut self) {
        self.reads_unasked = READS_UNASKED;
    }

    /// Records whether a read has emptied the socket.
    #[inline]
    pub(crate) fn was_read(&mut self, is_emptied: bool) {
        match self.reads_unasked {
            0 if is_emptied => self.next_read = NextRead::AskFirst,
            0 => {}
            _ => self.reads_unasked -= 1,
        }
    }
}
