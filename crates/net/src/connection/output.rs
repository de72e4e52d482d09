//! The bytes that go out: those that the machine has written, those that are being written to the socket, and
//! the state of the socket.
//!
//! Rule 1: `written` goes out before `waiting`; while somebody is in a write call, `written` is in their
//! hands.
//! Rule 2: a socket that has failed takes nothing more, and what waits for it is dropped.

use alula_machine::OutBuf;

use crate::error::Error;

/// The capacity up to which both buffers are kept, whatever their sizes.
const SMALL: usize = 16 * 1024;

#[derive(Default)]
pub(crate) struct Output {
    /// The bytes that the machine has written and that are not on their way.
    waiting: OutBuf,
    /// The bytes that are being written to the socket.
    leaving: OutBuf,
    state: Socket,
    /// A write call is under way with `leaving` in hand.
    is_writing: bool,
    /// The sending direction was shut.
    is_shut: bool,
    /// Bytes the socket has taken.
    taken: u64,
}

/// The state of the socket for writing.
#[derive(Default)]
enum Socket {
    /// The socket takes bytes.
    #[default]
    Open,
    /// The socket is full; the connection's task waits for room.
    Blocked,
    /// The socket will take no more bytes.
    Failed(Box<Error>),
}

impl Output {
    /// Returns the buffer that the machine writes to.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut OutBuf {
        &mut self.waiting
    }

    /// Returns the number of bytes that wait for the socket.
    #[inline]
    pub(crate) fn unsent(&self) -> usize {
        self.waiting.len() + self.leaving.len()
    }

    /// Returns true if the socket may be written to: it takes bytes, and no write is under way.
    #[inline]
    pub(crate) fn may_write(&self) -> bool {
        !self.is_writing && !self.is_blocked()
    }

    /// Moves the waiting bytes to those that leave, without encryption. False when nothing is to leave.
    #[inline]
    pub(crate) fn stage(&mut self) -> bool {
        if self.leaving.is_empty() && !self.waiting.is_empty() {
            std::mem::swap(&mut self.leaving, &mut self.waiting);
        }
        !self.leaving.is_empty()
    }

    /// Returns the waiting bytes, and the buffer for their encrypted form.
    #[cfg(feature = "tls")]
    pub(crate) fn begin_to_encrypt(&mut self) -> (&mut OutBuf, &mut OutBuf) {
        (&mut self.waiting, &mut self.leaving)
    }

    /// Drops the waiting bytes if the socket has failed. Returns true if it has.
    #[inline]
    pub(crate) fn drop_if_failed(&mut self) -> bool {
        let has_failed = matches!(self.state, Socket::Failed(_));
        if has_failed {
            self.waiting.clear();
            self.leaving.clear();
        }
        has_failed
    }

    /// Takes the leaving bytes out, to write them without the lock.
    #[inline]
    pub(crate) fn begin_to_write(&mut self) -> OutBuf {
        self.is_writing = true;
        std::mem::take(&mut self.leaving)
    }

    /// Puts back the rest after a write, of which the socket has taken so many bytes.
    #[inline]
    pub(crate) fn end_to_write(&mut self, mut leaving: OutBuf, bytes: usize) {
        leaving.consume(bytes);
        self.is_writing = false;
        self.taken += bytes as u64;
        self.leaving = leaving;
    }

    /// Returns true if other bytes may be sent past this output: all of it was written, the socket takes
    /// more, and no write is under way.
    pub(crate) fn may_be_bypassed(&self) -> bool {
        self.may_write() && self.unsent() == 0 && self.failure().is_none()
    }

    /// Blocks other writes while bytes are sent past this output.
    pub(crate) fn begin_to_bypass(&mut self) {
        self.is_writing = true;
    }

    /// Counts bytes that were sent past this output.
    pub(crate) fn end_to_bypass(&mut self, bytes: usize) {
        self.is_writing = false;
        self.taken += bytes as u64;
    }

    /// Returns true once all was written; the next output then goes into the larger buffer, so that the
    /// smaller one need not grow. Small ones take turns: the other one is needed whenever a thread adds to
    /// the output while another one writes, and is warm by then.
    #[inline]
    pub(crate) fn is_drained(&mut self) -> bool {
        if !self.leaving.is_empty() || !self.waiting.is_empty() {
            return false;
        }
        if self.waiting.capacity() < self.leaving.capacity() && self.leaving.capacity() > SMALL {
            std::mem::swap(&mut self.waiting, &mut self.leaving);
        }
        true
    }

    /// Returns the bytes that the socket has taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns true if the socket took no more.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        matches!(self.state, Socket::Blocked)
    }

    /// Notes that the socket took no more.
    pub(crate) fn block(&mut self) {
        if matches!(self.state, Socket::Open) {
            self.state = Socket::Blocked;
        }
    }

    /// Notes that the socket may have room again.
    pub(crate) fn unblock(&mut self) {
        if self.is_blocked() {
            self.state = Socket::Open;
        }
    }

    /// Notes that the socket takes nothing more.
    #[cold]
    pub(crate) fn fail(&mut self, error: Error) {
        self.state = Socket::Failed(Box::new(error));
    }

    /// Returns the failure of the socket, if it has failed.
    pub(crate) fn failure(&self) -> Option<&Error> {
        match &self.state {
            Socket::Failed(error) => Some(error),
            Socket::Open | Socket::Blocked => None,
        }
    }

    /// Records that the sending direction is shut; returns true if it was not before, and all was written.
    pub(crate) fn shut(&mut self) -> bool {
        self.unsent() == 0 && !std::mem::replace(&mut self.is_shut, true)
    }

    /// Returns the bytes of both buffers.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.waiting.capacity() + self.leaving.capacity()
    }

    /// Gives the memory of both buffers away, that of the larger one first, unless something is to be sent.
    /// Over TLS each is used; in clear text they change places.
    pub(crate) fn leave_memory(&mut self, to: &mut [OutBuf; 2]) {
        if self.unsent() > 0 {
            return;
        }
        if self.waiting.capacity() < self.leaving.capacity() {
            std::mem::swap(&mut self.waiting, &mut self.leaving);
        }
        self.exchange_memory(to);
    }

    /// Takes this memory for the buffers, or frees it if they have memory.
    pub(crate) fn use_memory(&mut self, from: &mut [OutBuf; 2]) {
        match self.bytes() {
            0 => self.exchange_memory(from),
            _ => *from = Default::default(),
        }
    }

    fn exchange_memory(&mut self, [waiting, leaving]: &mut [OutBuf; 2]) {
        std::mem::swap(&mut self.waiting, waiting);
        std::mem::swap(&mut self.leaving, leaving);
    }

    /// Frees the memory that is not in use.
    pub(crate) fn trim(&mut self) {
        self.waiting.trim(0);
        self.leaving.trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(output: &mut Output, bytes: usize) {
        output.buffer().extend(&vec![1; bytes]);
    }

    #[test]
    fn what_was_written_first_leaves_first() {
        let mut output = Output::default();
        write(&mut output, 10);
        assert!(output.stage() && output.may_write());
        let leaving = output.begin_to_write();
        write(&mut output, 5);
        assert!(!output.may_write());
        output.end_to_write(leaving, 4);
        assert_eq!((output.unsent(), output.taken(), output.is_drained()), (11, 4, false));
        for (left, taken) in [(5, 6), (0, 5)] {
            assert!(output.stage());
            let leaving = output.begin_to_write();
            assert_eq!(leaving.len(), taken);
            output.end_to_write(leaving, taken);
            assert_eq!((output.unsent(), output.is_drained()), (left, left == 0));
        }
        assert!(!output.stage());
    }

    #[test]
    fn it_is_bypassed_when_nothing_waits_and_by_one_at_a_time() {
        let mut output = Output::default();
        write(&mut output, 3);
        assert!(!output.may_be_bypassed(), "what was written goes first");
        output.stage();
        let leaving = output.begin_to_write();
        assert!(!output.may_be_bypassed(), "somebody writes");
        output.end_to_write(leaving, 3);
        assert!(output.may_be_bypassed());
        output.begin_to_bypass();
        assert!(!output.may_be_bypassed() && !output.may_write());
        output.end_to_bypass(10);
        assert_eq!((output.taken(), output.may_write()), (13, true));
        output.block();
        assert!(!output.may_be_bypassed());
        output.fail(Error::closed());
        assert!(!output.may_be_bypassed());
    }

    #[test]
    fn the_larger_buffer_is_written_to_next() {
        let mut output = Output::default();
        write(&mut output, 4 * SMALL);
        output.stage();
        let leaving = output.begin_to_write();
        output.end_to_write(leaving, 4 * SMALL);
        assert!(
            output.buffer().capacity() == 0 && output.is_drained() && output.buffer().capacity() >= 4 * SMALL
        );
        output.trim();
        assert_eq!(output.bytes(), 0);
    }

    #[test]
    fn a_socket_that_has_failed_takes_nothing_more() {
        let mut output = Output::default();
        output.block();
        assert!(output.is_blocked() && !output.may_write());
        output.unblock();
        assert!(!output.is_blocked() && output.failure().is_none() && !output.drop_if_failed());
        write(&mut output, 10);
        output.fail(Error::closed());
        output.block();
        assert!(!output.is_blocked() && output.failure().is_some() && output.drop_if_failed());
        assert_eq!(output.unsent(), 0);
    }

    #[test]
    fn it_is_shut_once_and_after_all_was_written() {
        let mut output = Output::default();
        write(&mut output, 1);
        assert!(!output.shut());
        output.buffer().clear();
        assert!(output.shut() && !output.shut());
    }
}
