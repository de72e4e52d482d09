//! A check of the socket before a request is sent on a client's connection that nobody has read for a while.
//!
//! A server may have closed the connection, or have sent what would be taken for the answer to the next
//! request. The connection's task finds out when the reactor wakes it, which may be after the next request: a
//! task that reads a response and sends at once again does not let it run.
//!
//! Rule 1: the check is a system call. Tokio answers from the last state that its reactor saw, and that is
//! older than this task's run.
//! Rule 2: no lock is held during the system call.
//! Rule 3: a quiet socket proves nothing while another thread reads: that thread may hold bytes with which it
//! has not yet fed the machine.
//! Rule 4: the check judges nothing. The machine is fed with the bytes, and says whether it still takes a
//! request: after a TLS record without content it does.

use std::{io, thread, time::Duration};

use alula_machine::Time;

use crate::{
    drive::{
        reader::Reader,
        shared::{Conn, Guard},
    },
    error::{Error, Phase},
    establish::version::Version,
};

/// The time since the last read after which a connection of HTTP/2 without streams is checked. A shorter rest
/// is not worth the system call: what a server does not answer when it goes away is sent again there (RFC
/// 9113 §6.8).
const REST: Duration = Duration::from_millis(1);

/// The reads after which the connection is given up. It is larger than what a server sends that is in its
/// right mind, and small enough for a caller to wait for.
const READS_MAX: usize = 64;

/// The times that another reading thread is let run before the connection is given up: a few milliseconds.
/// Its turn is short, but the system may stop it in the midst of that.
const WAITS_MAX: usize = 4096;

impl Conn {
    /// Returns true if a request may be sent on this connection of HTTP/1.1: it is free, and its peer has not
    /// closed it, sent anything that retires it, or announced that it is about to close it (`keep-alive:
    /// timeout`). One system call, and a look at the clock where the peer has stated such a time; allocates
    /// nothing when nothing came.
    pub fn is_fit(&self) -> bool {
        self.is_free_in_time() && ((self.io().is_quiet() && self.is_at_rest()) || self.takes_in())
    }

    /// Returns true if the connection is free, and its idle time and life are not over; its task may not have
    /// run since.
    fn is_free_in_time(&self) -> bool {
        let connection = self.lock();
        connection.takes_request() && connection.machine.poll_timeout().is_none_or(|due| self.time() < due)
    }

    /// Returns true if the connection is free and nobody reads it. Bytes that another thread took from the
    /// socket before it was found quiet are then in the machine.
    fn is_at_rest(&self) -> bool {
        let connection = self.lock();
        !connection.hand_over.in_turn() && connection.takes_request()
    }

    /// Locks the connection to open a stream; a rested one of HTTP/2 is checked first.
    #[inline]
    pub(crate) fn lock_to_open(&self) -> Guard<'_> {
        let mut connection = self.lock();
        connection.need_kit();
        let may_rest = self.version() == Version::Http2 && connection.is_unused();
        if !may_rest {
            return connection;
        }
        let now = self.time();
        match now.saturating_since(connection.now) < REST {
            true => connection,
            false => self.look_and_lock(connection, now),
        }
    }

    #[cold]
    fn look_and_lock<'a>(&'a self, connection: Guard<'a>, now: Time) -> Guard<'a> {
        if !connection.machine.is_client() {
            return connection;
        }
        drop(connection);
        // A GOAWAY or a close may have come unread; a request sent after it would have to be sent again.
        if !self.io().is_quiet() {
            self.takes_in();
        }
        let mut connection = self.lock();
        // The request that is sent now begins now.
        connection.now = connection.now.max(now);
        connection
    }

    /// Reads the available bytes, and feeds the machine. Returns true if a request may be sent then.
    #[cold]
    fn takes_in(&self) -> bool {
        let mut connection = self.lock();
        for _ in 0..READS_MAX {
            connection = self.wait_for_reader(connection);
            // A connection that closes, is still read by another thread or takes no more bytes is not fit for
            // reuse.
            if connection.life.is_closing() || connection.hand_over.in_turn() || !connection.wants_read() {
                break;
            }
            let is_more;
            (connection, is_more) = self.read_now(connection);
            if !is_more {
                connection.give_way(|who| who == Reader::Nobody);
                connection = self.flush(connection);
                let is_fit = connection.takes_request();
                self.unlock_and_wake(connection);
                return is_fit;
            }
        }
        connection.stop_taking_streams();
        connection.give_way(|who| who == Reader::Nobody);
        self.unlock_and_wake(connection);
        false
    }

    /// Waits for a while until no other thread reads.
    fn wait_for_reader<'a>(&'a self, mut connection: Guard<'a>) -> Guard<'a> {
        for _ in 0..WAITS_MAX {
            if !connection.hand_over.in_turn() {
                break;
            }
            drop(connection);
            thread::yield_now();
            connection = self.lock();
        }
        connection
    }

    /// Reads once. False when nothing more is there, or another thread reads.
    fn read_now<'a>(&'a self, mut connection: Guard<'a>) -> (Guard<'a>, bool) {
        let locked = &mut *connection;
        let Some(mut half) = locked.hand_over.begin_to_read(Reader::Nobody, &mut locked.wake) else {
            return (connection, false);
        };
        let (mut input, step) = connection.take_input();
        drop(connection);
        let read = half.read_now(input.space(step));
        if let Ok(bytes) = read {
            input.filled(bytes);
        }
        connection = self.lock();
        connection.hand_over.end_to_read(half);
        connection.now = self.time();
        if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            connection.put_unfilled_input(input);
            return (connection, false);
        }
        connection.input.put(input);
        match read {
            Ok(0) => connection.input_ended(),
            Ok(_) => connection.feed(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => connection.input_failed(Error::io(Phase::Content, error)),
        }
        connection.stow_input();
        (connection, true)
    }
}
