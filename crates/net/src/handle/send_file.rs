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

use std::{fs::File, future::poll_fn, ops::Range};

use crate::{drive::reader::Side, error::Error, handle::stream::Stream};

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
