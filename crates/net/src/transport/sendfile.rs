//! Content that goes from a file to the socket without a copy in memory (`sendfile` of Linux).
//!
//! Rule 1: waiting output goes first, marked as the beginning of more, so that a head and the first bytes of
//! its content share segments.
//! Rule 2: bytes of a file are never queued. The caller sends again what the socket does not take, so a peer
//! that takes nothing holds no file.
//! Rule 3: the machine counts what the socket has taken, and no more: a file that ends early leaves the
//! message cut.
//!
//! The caller writes on its own thread, as a client's callers do; the output keeps the connection's task from
//! writing meanwhile.

use std::{fs::File, future::poll_fn, io, ops::Range};

use alula_machine::StreamKey;

use crate::{
    connection::{Connection, stream::slot::SlotKey},
    drive::{
        reader::Side,
        shared::{Conn, Guard},
    },
    error::{Error, Phase},
    handle::stream::Stream,
    transport::WriteHalf,
};

impl Stream {
    /// Returns true if content may go from a file to the socket.
    pub(crate) fn takes_files(&self) -> bool {
        let conn = self.conn();
        conn.io().takes_files() && {
            let mut connection = conn.lock();
            connection.length_for_file(self.at()).is_some()
        }
    }

    /// Does the same as [`BodyWriter::try_send_file`](crate::BodyWriter::try_send_file).
    pub(crate) fn try_send_file(&self, file: &File, part: Range<u64>) -> Result<Option<usize>, Error> {
        let conn = self.conn();
        let (mut connection, sent) = conn.send_file(conn.lock(), self.at(), file, part);
        if connection.may_have_output() {
            // Another thread has left it, which found this one writing.
            connection = conn.push_out(connection);
        }
        conn.unlock_and_wake(connection);
        sent.map_err(|error| self.named(error))
    }

    /// Waits until all output was written, and the socket has room. Safe to drop and call again.
    pub(crate) async fn drained(&self) -> Result<(), Error> {
        let drained = poll_fn(|cx| {
            self.conn()
                .poll_wait(self.at(), Side::Write, cx, |connection| connection.await_drained(self.at()))
        });
        drained.await.map_err(|error| self.named(error))
    }
}

impl Conn {
    /// Sends as much of a part as the socket takes at once, after the waiting output; `None` when that cannot
    /// be done.
    fn send_file<'a>(
        &'a self,
        mut connection: Guard<'a>,
        at: SlotKey,
        file: &File,
        part: Range<u64>,
    ) -> (Guard<'a>, Result<Option<usize>, Error>) {
        let bytes = part.end.saturating_sub(part.start);
        if bytes == 0 || connection.length_for_file(at).is_none_or(|left| left < bytes) {
            let failure = connection.failure_of(at);
            return (connection, failure.map_or(Ok(None), Err));
        }
        connection = self.write_all_by(connection, WriteHalf::try_write_more);
        if !connection.output.may_be_bypassed() {
            let sent = if connection.output.failure().is_some() { None } else { Some(0) };
            return (connection, Ok(sent));
        }
        connection.output.begin_to_bypass();
        drop(connection);
        let sent = self.io().try_send_file(file, part.start, usize::try_from(bytes).unwrap_or(usize::MAX));
        connection = self.lock();
        let sent = connection.sent_of_file(at, &sent);
        (connection, sent)
    }
}

impl Connection {
    /// Returns the rest of the content's stated length, if bytes of a file may follow the output.
    fn length_for_file(&mut self, at: SlotKey) -> Option<u64> {
        let stream = self.stream_for_file(at)?;
        self.machine.length_left(stream).filter(|_| !self.is_secure() && !self.machine.is_client())
    }

    fn stream_for_file(&mut self, at: SlotKey) -> Option<StreamKey> {
        self.slots.get(at).filter(|slot| slot.failed.is_none()).and_then(|slot| slot.stream)
    }

    fn failure_of(&mut self, at: SlotKey) -> Option<Error> {
        self.slots.get(at).and_then(|slot| slot.failed.clone()).map(|error| error.during(Phase::Send))
    }

    /// Records how much the socket has taken. A failure is not told apart here: whether it is the file's or
    /// the socket's, reading the part and writing it finds out.
    fn sent_of_file(&mut self, at: SlotKey, sent: &io::Result<usize>) -> Result<Option<usize>, Error> {
        self.output.end_to_bypass(*sent.as_ref().unwrap_or(&0));
        match sent {
            Ok(bytes) if *bytes > 0 => self.count_of_file(at, *bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.output_blocked();
                Ok(Some(0))
            }
            _ => Ok(None),
        }
    }

    /// Counts bytes of a file that were sent. A stream that has failed meanwhile counts none; its writer
    /// learns of the failure next.
    fn count_of_file(&mut self, at: SlotKey, bytes: usize) -> Result<Option<usize>, Error> {
        if let Some(stream) = self.stream_for_file(at) {
            self.machine.count_data(stream, bytes).map_err(Error::refused)?;
            self.slots[at.index].counts.send(bytes);
        }
        self.output_drained();
        Ok(Some(bytes))
    }

    fn await_drained(&mut self, at: SlotKey) -> Option<Result<(), Error>> {
        if let Some(failure) = self.failure_of(at) {
            return Some(Err(failure));
        }
        let Some(stream) = self.stream_for_file(at) else { return Some(Err(Error::cancelled())) };
        if self.has_whole_response(at) {
            return Some(Ok(()));
        }
        if self.output.may_be_bypassed() || self.output.failure().is_some() {
            return Some(Ok(()));
        }
        self.await_room(at, stream);
        None
    }
}

#[cfg(target_os = "linux")]
impl WriteHalf {
    /// Returns true if the system can send files on this socket.
    fn takes_files(&self) -> bool {
        !matches!(self, Self::Link(_))
    }

    /// Writes like [`try_write`](Self::try_write), and lets the system wait for the bytes that follow at
    /// once.
    fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::net::{SendFlags, send};
        self.try_by(|socket| Ok(send(socket, bytes, SendFlags::MORE | SendFlags::NOSIGNAL)?))
    }

    /// Sends as many bytes of a file as there is room for.
    fn try_send_file(&self, file: &File, mut at: u64, bytes: usize) -> io::Result<usize> {
        self.try_by(|socket| Ok(rustix::fs::sendfile(socket, file, Some(&mut at), bytes)?))
    }

    /// Makes a system call on the socket if the reactor knows of room, and tells the reactor if there is
    /// none.
    fn try_by(
        &self,
        mut call: impl FnMut(std::os::fd::BorrowedFd<'_>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        use std::os::fd::AsFd as _;
        match self {
            Self::Tcp(half) => {
                half.as_ref().try_io(tokio::io::Interest::WRITABLE, || call(half.as_ref().as_fd()))
            }
            Self::Unix(half) => {
                half.as_ref().try_io(tokio::io::Interest::WRITABLE, || call(half.as_ref().as_fd()))
            }
            Self::Link(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl WriteHalf {
    const fn takes_files(&self) -> bool {
        false
    }

    fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_write(bytes)
    }

    fn try_send_file(&self, _: &File, _: u64, _: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
