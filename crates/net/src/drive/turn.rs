//! A turn of a connection, and the callers that wait on a stream and take turns for all.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use alula_fields::Head;
use tokio::io::AsyncRead;

use crate::{
    connection::{
        Connection,
        input::NextRead,
        stream::slot::{Sides, SlotKey},
    },
    drive::{
        reader::{Part, Reader, Side},
        shared::{Conn, Guard},
    },
    error::{Error, Phase},
    message::content::Content,
};

/// The waiting of callers, and their leaving.
impl Conn {
    /// Waits on a slot until `check` has an answer, and reads for all callers if it is this side's turn.
    pub(crate) fn poll_wait<T>(
        &self,
        at: SlotKey,
        side: Side,
        cx: &mut Context<'_>,
        mut check: impl FnMut(&mut Connection) -> Option<T>,
    ) -> Poll<T> {
        let me = Reader::Caller(at.index, side);
        let mut connection = self.lock();
        if connection.slots.get(at).is_some_and(|slot| slot.arrive(side)) {
            connection.hand_over.count_arrived(1);
        }
        loop {
            if let Some(value) = check(&mut connection) {
                self.leave(connection, me);
                return Poll::Ready(value);
            }
            if let Some(slot) = connection.slots.get(at) {
                slot.waits[side as usize].begin(cx.waker());
            }
            // Only the connection's task does I/O on a server, so the caller leaves its waker and wakes the
            // task.
            if !connection.machine.is_client() {
                connection.wake_task();
                self.unlock_and_wake(connection);
                return Poll::Pending;
            }
            let locked = &mut *connection;
            if locked.hand_over.part(me, cx.waker(), &mut locked.wake) == Part::Rests {
                self.unlock_and_wake(connection);
                return Poll::Pending;
            }
            let progress;
            (connection, progress) = self.turn(connection, cx, me);
            if !progress {
                self.unlock_and_wake(connection);
                return Poll::Pending;
            }
        }
    }

    /// Handles a caller that has what it waited for: its output is sent, and another caller reads on.
    fn leave<'a>(&'a self, mut connection: Guard<'a>, me: Reader) {
        connection.give_way(|who| who == me);
        // A caller that waited for room has content in the output now, and nobody else may come to write it.
        if let Reader::Caller(_, Side::Write) = me {
            connection = self.push_out(connection);
        }
        self.unlock_and_wake(connection);
    }

    /// Sends what was written: at once on a client, in the task's turn on a server.
    pub(crate) fn push_out<'a>(&'a self, mut connection: Guard<'a>) -> Guard<'a> {
        if !connection.machine.is_client() {
            connection.wake_task();
            return connection;
        }
        self.flush(connection)
    }

    /// Gives handles of a stream back, and the memory that their user had.
    pub(crate) fn release(&self, at: SlotKey, sides: Sides, head: Option<Box<Head>>, content: Content) {
        let mut connection = self.lock();
        if let Some(since) = connection.take_back(at, sides, head, content) {
            connection.gave_up(since, self.time());
        }
        if connection.machine.is_client() {
            connection.leave_kit_if_crowded();
        }
        connection.give_way(|who| who.is_of(at.index, sides));
        if connection.machine.wants_write() || connection.life.is_closing() {
            connection.wake_task();
        }
        self.unlock_and_wake(connection);
    }
}

/// Turns: one I/O cycle each.
impl Conn {
    /// Takes a turn: writes, reads once, and feeds the machine. Returns true if there was something to feed
    /// or the connection ended.
    pub(crate) fn turn<'a>(
        &'a self,
        mut connection: Guard<'a>,
        cx: &mut Context<'_>,
        me: Reader,
    ) -> (Guard<'a>, bool) {
        connection.hand_over.count_turn();
        if connection.goes_on() {
            // Answers to what came at once leave at once.
            connection.feed();
            if connection.machine.is_client() {
                connection.stow_input();
            }
            return (self.wake_and_lock(connection), true);
        }
        connection = self.flush(connection);
        if connection.output.is_blocked() {
            connection.settle_memory();
        }
        if connection.life.has_ended() {
            return (connection, true);
        }
        // A socket that is not read fills up, which is how TCP slows the peer down.
        let is_stopped = !connection.wants_read();
        connection.input.set_stopped(is_stopped);
        if is_stopped {
            connection.stow_input();
            return self.look_for_end(connection, cx, me);
        }
        self.read(connection, cx, me)
    }

    /// Checks on a server whose socket is not being read whether the client has abandoned the request that is
    /// answered, and then ends the connection. Otherwise the reactor wakes this task when the client closes
    /// its side.
    #[cold]
    pub(crate) fn look_for_end<'a>(
        &'a self,
        mut connection: Guard<'a>,
        cx: &mut Context<'_>,
        me: Reader,
    ) -> (Guard<'a>, bool) {
        if !connection.machine.ends_with_peer() {
            return (connection, false);
        }
        if !connection.input.is_over() {
            let locked = &mut *connection;
            let Some(half) = locked.hand_over.begin_to_read(me, &mut locked.wake) else {
                return (connection, false);
            };
            drop(connection);
            let mut is_hidden = false;
            let closed = half.poll_closed(&mut is_hidden, cx);
            connection = self.lock();
            connection.hand_over.end_to_read(half);
            if is_hidden {
                connection.input.read_by_system();
            }
            if closed.is_pending() {
                return (self.flush(connection), false);
            }
        }
        connection.peer_left();
        (self.wake_and_lock(connection), true)
    }

    /// Reads once, unless another caller does, and feeds the machine.
    #[inline]
    fn read<'a>(&'a self, mut connection: Guard<'a>, cx: &mut Context<'_>, me: Reader) -> (Guard<'a>, bool) {
        let locked = &mut *connection;
        let Some(mut half) = locked.hand_over.begin_to_read(me, &mut locked.wake) else {
            return (connection, false);
        };
        let way = locked.input.take_next_read();
        if way == NextRead::AskFirst {
            drop(connection);
            let is_awaited = half.is_awaited(cx);
            connection = self.lock();
            if is_awaited {
                connection.hand_over.end_to_read(half);
                connection.stow_input();
                return (self.flush(connection), false);
            }
            connection.input.is_to_be_read();
        }
        let (mut input, step) = connection.take_input();
        drop(connection);
        let space = input.space(step);
        let room = space.len();
        let read = match way {
            NextRead::BySystem => half.poll_read_by_system(space, cx),
            _ => poll_read(&mut half, space, cx),
        };
        let mut is_emptied = false;
        if let Poll::Ready(Ok(bytes)) = read {
            input.filled(bytes);
            // A short read empties the socket: the next read asks the reactor first and saves a system call.
            is_emptied = bytes < room;
        }
        connection = self.lock();
        connection.hand_over.end_to_read(half);
        connection.input.was_read(is_emptied);
        if way == NextRead::BySystem && read.is_ready() && !is_emptied {
            connection.input.read_by_system();
        }
        match read {
            Poll::Pending => {
                connection.put_unfilled_input(input);
                (self.flush(connection), false)
            }
            Poll::Ready(read) => {
                connection.input.put(input);
                (self.take_in(connection, read, me), true)
            }
        }
    }

    /// Handles the result of a read.
    #[inline]
    fn take_in<'a>(&'a self, mut connection: Guard<'a>, read: io::Result<usize>, me: Reader) -> Guard<'a> {
        match read {
            Ok(0) => {
                connection.now = self.time();
                connection.input_ended();
            }
            Ok(_) => {
                connection.now = self.time();
                let locked = &mut *connection;
                locked.hand_over.arrive(me, &mut locked.slots);
                locked.feed();
            }
            Err(error) => connection.input_failed(Error::io(Phase::Content, error)),
        }
        if connection.machine.is_client() || connection.life.has_ended() {
            // The next reader may be on another thread; a server's task goes on until there is nothing to
            // read.
            connection.stow_usual_input();
        }
        self.wake_and_lock(connection)
    }
}

/// Reads once. A short read tells tokio that the socket is empty, which spares the call that would find out.
pub(crate) fn poll_read(
    half: &mut (impl AsyncRead + Unpin),
    space: &mut [u8],
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let mut space = tokio::io::ReadBuf::new(space);
    Pin::new(half).poll_read(cx, &mut space).map_ok(|()| space.filled().len())
}

impl Reader {
    fn is_of(self, index: u32, sides: Sides) -> bool {
        match self {
            Self::Task | Self::Nobody => false,
            Self::Caller(slot, Side::Read) => slot == index && sides.has(Sides::READ),
            Self::Caller(slot, Side::Write) => slot == index && sides.has(Sides::WRITE),
        }
    }
}
