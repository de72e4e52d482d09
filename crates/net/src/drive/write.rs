//! Writing the output to the socket, and ending it.

use std::{io, task::Context};

use crate::{
    connection::Connection,
    drive::shared::{Conn, Guard},
    error::{Error, Phase},
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
}

impl Connection {
    /// Returns false if there is certainly nothing to write: most turns only read. The output of TLS is not
    /// looked into.
    #[inline]
    pub(crate) fn may_have_output(&self) -> bool {
        self.is_secure() || self.output.unsent() > 0 || self.machine.wants_write()
    }

    /// Prepares the bytes that leave next. False when there is nothing.
    fn stage(&mut self) -> bool {
        self.machine.poll_transmit(self.now, self.output.buffer());
        if self.output.drop_if_failed() {
            return false;
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            let (waiting, leaving) = self.output.begin_to_encrypt();
            self.room.prepare(waiting.len(), leaving);
            let encrypted = tls.encrypt(waiting, leaving);
            let is_any = !leaving.is_empty();
            if let Err(error) = encrypted {
                self.end(error);
            }
            return is_any;
        }
        self.output.stage()
    }

    /// Records that the socket is full; the task waits for room.
    pub(crate) fn output_blocked(&mut self) {
        self.output.block();
        self.look_soon();
        self.wake_task();
    }

    /// Gives up the output alone: bytes that the peer sent before it closed are still worth reading, and a
    /// read will show that it closed.
    fn write_failed(&mut self, error: io::Error) {
        self.output.fail(Error::io(Phase::Send, error));
        self.end_if_cut();
    }
}
