//! Writing the output to the socket, and ending it.

use std::{fs::File, io, ops::Range, task::Context};

use crate::{
    connection::stream::slot::SlotKey,
    drive::shared::{Conn, Guard},
    error::Error,
    transport::WriteHalf,
};

impl Conn {
    /// Writes the output until nothing is left or the socket is full.
    #[inline(always)]
    pub(crate) fn flush<'a>(&'a self, connection: Guard<'a>) -> Guard<'a> {
        let connection = if connection.may_have_output() { self.write_all(connection) } else { connection };
        if connection.machine.wants_shutdown() { self.shut(connection) } else { connection }
    }

    /// Ends the sending direction of a tunnel.
    #[cold]
    fn shut<'a>(&'a self, mut connection: Guard<'a>) -> Guard<'a> {
        // The other direction of a tunnel goes on (RFC 9110 §9.3.6), so only this one is shut.
        if connection.output.shut() {
            #[cfg(feature = "tls")]
            if let Some(tls) = &mut connection.tls {
                tls.close();
                connection = self.write_all(connection);
            }
            // The peer may be gone already; there is nobody left to tell.
            let _ = self.io().shut();
        }
        connection
    }

    #[inline]
    fn write_all<'a>(&'a self, connection: Guard<'a>) -> Guard<'a> {
        self.write_all_by(connection, WriteHalf::try_write)
    }

    /// Writes the output with `write` until nothing is left or the socket is full.
    pub(crate) fn write_all_by<'a>(
        &'a self,
        mut connection: Guard<'a>,
        write: impl Fn(&WriteHalf, &[u8]) -> io::Result<usize>,
    ) -> Guard<'a> {
        // The lock is released for the system call; `begin_to_write` keeps a second writer out meanwhile.
        while connection.output.may_write() && connection.stage() {
            let leaving = connection.output.begin_to_write();
            drop(connection);
            let written = write(self.io(), leaving.unsent());
            connection = self.lock();
            connection.output.end_to_write(leaving, *written.as_ref().unwrap_or(&0));
            match written {
                Ok(_) => connection.output_drained(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => connection.output_blocked(),
                Err(error) => connection.write_failed(error),
            }
        }
        connection
    }

    /// Waits, as the connection's task, for room in a full socket.
    pub(crate) fn poll_unblock(&self, cx: &mut Context<'_>) {
        let mut connection = self.lock();
        while connection.output.is_blocked() {
            drop(connection);
            if self.io().poll_write_ready(cx).is_pending() {
                return;
            }
            connection = self.lock();
            connection.output.unblock();
            // Nothing need be left: content that bypasses the output finds the socket full as well.
            connection.output_drained();
            connection = self.flush(connection);
        }
        self.unlock_and_wake(connection);
    }

    /// Ends the sending direction after all output: with the end of TLS, then FIN.
    pub(crate) fn say_goodbye<'a>(&'a self, mut connection: Guard<'a>) -> Guard<'a> {
        // A message that lasts until the close would look complete after FIN, so a cut one ends by a reset.
        let is_cut = connection.machine.is_cut_unseen();
        connection = self.flush(connection);
        #[cfg(feature = "tls")]
        if let Some(tls) = connection.tls.as_mut().filter(|_| !is_cut) {
            // Nothing goes out after this.
            tls.close();
            connection = self.flush(connection);
        }
        // The peer may be gone already; there is nobody left to tell.
        let _ = if is_cut { self.io().abort() } else { self.io().shut() };
        connection
    }

    /// Sends as much of a part as the socket takes at once, after the waiting output; `None` when that cannot
    /// be done.
    pub(crate) fn send_file<'a>(
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
