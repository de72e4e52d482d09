//! A server connection's own task takes every turn: read, feed, let the handlers run, write once.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_fields::Head;
use alula_machine::{Reservation, Time};
use tokio::time::Instant;

use crate::{
    connection::{
        Connection,
        inbox::Accepted,
        input::NextRead,
        memory::read_buffers::{give_back, lend},
        stream::slot::{Sides, SlotKey},
    },
    drive::{reader::Reader, shared::Conn, turn::poll_read},
    error::{Error, refused::Refused},
    few::Few,
    handle::stream::Stream,
};

/// A request that has arrived.
pub struct Incoming {
    /// Names the stream when it is cancelled.
    pub key: StreamName,
    /// The stream it is answered on.
    pub stream: Stream,
    /// The control data and field section of the request.
    pub head: Box<Head>,
    /// True if the request has no content.
    pub ended: bool,
}

/// The requests that have arrived in a turn. Take them all before the next one.
#[derive(Default)]
pub struct Requests {
    arrived: Few<Accepted>,
    refused: Option<Refused>,
    /// The peer has sent more requests, which wait for the answers to these.
    are_more: bool,
    /// The time of the last read, or the time at which the task began to run.
    began: Time,
}

impl Requests {
    /// Takes all of them, in order; `conn` is the connection on which they came.
    #[inline]
    pub fn drain(&mut self, conn: &Arc<Conn>) -> impl Iterator<Item = Incoming> {
        self.arrived.drain().map(|accepted| Incoming::new(conn, accepted))
    }

    /// Returns true if [`Conn::next_request`] may find a request that the peer has sent ahead.
    #[inline]
    pub fn are_more(&self) -> bool {
        self.are_more
    }

    /// Returns the time at which the turn began: of the last read, or of the start of the task.
    #[inline]
    pub const fn began(&self) -> Time {
        self.began
    }

    /// Takes the reason for which a request of this turn was refused, the first one.
    #[inline]
    pub fn take_refused(&mut self) -> Option<Refused> {
        self.refused.take()
    }
}

impl Incoming {
    #[inline]
    fn new(conn: &Arc<Conn>, accepted: Accepted) -> Self {
        Self {
            key: StreamName(accepted.at),
            stream: Stream::new(conn.clone(), accepted.at, Sides::BOTH),
            head: accepted.head,
            ended: accepted.ended,
        }
    }
}

/// Names a stream of a connection for as long as a handle of it is held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamName(SlotKey);

impl StreamName {
    pub(crate) const fn new(at: SlotKey) -> Self {
        Self(at)
    }

    pub(crate) fn at(self) -> SlotKey {
        self.0
    }

    /// Returns a small number, used again by later streams: an index for tables.
    pub fn index(self) -> usize {
        self.0.index as usize
    }
}

/// The outcome of a turn on a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Turn {
    /// Bytes were read; there may be more.
    Progress,
    /// The turn is over; the task is woken when there is more to do.
    Idle,
    /// The connection has ended.
    Ended,
}

/// The conditions under which a server's connection goes to sleep.
pub struct Rest {
    /// The time at which the task has to run again although nothing arrives; [`Time::FAR`] is never.
    pub wakes_at: Time,
    /// The connection drains, its last stream has ended, and the socket has all of the output.
    pub is_drained: bool,
    /// True if the connection has given back the memory that the next request needs.
    pub is_lean: bool,
    /// True if the task should run again at once: bytes that had to wait may be taken now.
    pub goes_on: bool,
}

impl Conn {
    /// Takes one turn: writes what waits, reads once, and hands over the requests that have arrived.
    ///
    /// Call [`Self::settle`] after the handlers ran, before this task sleeps.
    ///
    /// `cancelled` gets the streams that were reset: nobody waits for their answers.
    pub fn turn_of_server(
        self: &Arc<Self>,
        into: &mut Requests,
        cancelled: &mut Vec<StreamName>,
        cx: &mut Context<'_>,
    ) -> Turn {
        let mut connection = self.lock();
        connection.inbox.take_back(&mut into.arrived);
        let begins = !connection.hand_over.task_runs();
        if begins {
            connection.hand_over.set_task_runs(true);
            connection.hand_over.task_begins(cx.waker());
        }
        if connection.output.is_blocked() {
            drop(connection);
            self.poll_unblock(cx);
            connection = self.lock();
        }
        // Requests that came with the handshake are answered before anything is written, so that all goes out
        // at once.
        let mut progress = connection.inbox.has_accepted();
        if !progress && (!connection.output.is_blocked() || !connection.output_is_full()) {
            (connection, progress) = self.turn(connection, cx, Reader::Task);
        } else if !progress {
            (connection, progress) = self.look_for_end(connection, cx, Reader::Task);
        }
        if begins {
            // Reading has told the time. A run that begins without was caused by a handler or by the timer.
            if !progress {
                connection.now = self.time();
            }
            connection.keep_time();
        }
        let turn = match progress {
            _ if connection.life.has_ended() => Turn::Ended,
            true => Turn::Progress,
            false => Turn::Idle,
        };
        into.are_more = connection.input.is_held_back();
        into.began = connection.now;
        // Every other turn only finds the socket empty.
        if connection.inbox.empty_into(&mut into.arrived, &mut into.refused) {
            cancelled.extend(connection.inbox.drain_cancelled().map(StreamName));
        }
        self.unlock_and_wake(connection);
        turn
    }

    /// Takes the next request that a peer of HTTP/1.1 has sent ahead, if the answer before it is complete.
    /// That costs less than a turn: nothing is written, and nothing read. All else that has happened
    /// meanwhile is told with the next turn.
    pub fn next_request(self: &Arc<Self>) -> Option<Incoming> {
        let mut connection = self.lock();
        if !connection.goes_on() {
            return None;
        }
        connection.feed();
        let accepted = connection.inbox.take_only();
        self.unlock_and_wake(connection);
        accepted.map(|accepted| Incoming::new(self, accepted))
    }

    /// Writes the output of the handlers; after that, any event wakes the task.
    pub fn settle(&self, cx: &mut Context<'_>) -> Rest {
        let mut connection = self.lock();
        // Everybody who was told to go on has run.
        connection.machine.end_turn();
        connection.take_notices();
        connection = self.flush(connection);
        if connection.output.is_blocked() {
            drop(connection);
            self.poll_unblock(cx);
            connection = self.lock();
        }
        connection.stow_input();
        connection.hand_over.set_task_runs(false);
        if connection.output.is_blocked() {
            connection.settle_memory();
        }
        connection.leave_kit_if_crowded();
        let rest = rest(&connection);
        self.unlock_and_wake(connection);
        rest
    }

    /// Returns true if the peer's preface has come (RFC 9113 §3.4), or its first request.
    pub fn is_introduced(&self) -> bool {
        self.lock().machine.is_introduced()
    }

    /// Announces that no more requests are taken: first a warning, then the number of the last stream (RFC
    /// 9113 §6.8).
    pub fn drain(&self) {
        let mut connection = self.lock();
        if !connection.life.is_closing() {
            connection.life.close();
            connection.machine.goaway(true);
        }
        connection.wake_task();
        self.unlock_and_wake(connection);
    }

    /// Charges bytes that the handlers of this connection hold.
    pub fn hold(&self, bytes: u64) -> Reservation {
        let mut connection = self.lock();
        connection.held.note_handlers(bytes);
        connection.tell_if_heavy();
        connection.ledger.hold(bytes)
    }

    /// Converts a time of this connection to an instant.
    pub fn instant(&self, time: Time) -> Instant {
        self.started() + Duration::from_nanos(time.as_nanos())
    }
}

/// The end of a connection.
impl Conn {
    /// Ends the connection: sends a last GOAWAY if none was sent, the end of TLS, and FIN.
    pub fn finish(&self) {
        let mut connection = self.lock();
        connection.end(Error::cancelled());
        connection = self.say_goodbye(connection);
        self.unlock_and_wake(connection);
    }

    /// Reads and drops what the peer still sends, at most `bytes_left`, which is counted down. Ready when the
    /// peer has closed its side, or has sent more than that.
    pub fn poll_discard(&self, bytes_left: &mut u64, cx: &mut Context<'_>) -> Poll<()> {
        let mut connection = self.lock();
        // Over TLS the end may have been that of the session alone.
        if connection.input.is_over() && !connection.is_secure() {
            return Poll::Ready(());
        }
        let Some(mut half) = connection.hand_over.take_half() else { return Poll::Ready(()) };
        let by_system = connection.input.take_next_read() == NextRead::BySystem;
        drop(connection);
        let mut wide = lend();
        let closed = loop {
            let read = match by_system {
                true => half.poll_read_by_system(&mut wide, cx),
                false => poll_read(&mut half, &mut wide, cx),
            };
            match read {
                Poll::Pending => break Poll::Pending,
                Poll::Ready(Ok(bytes)) if bytes > 0 && bytes as u64 <= *bytes_left => {
                    *bytes_left -= bytes as u64;
                }
                Poll::Ready(_) => break Poll::Ready(()),
            }
        };
        give_back(wide);
        self.lock().hand_over.end_to_read(half);
        closed
    }
}

/// Returns the plan of a connection whose output was written.
fn rest(connection: &Connection) -> Rest {
    let or_never = |at: Option<Time>| at.unwrap_or(Time::FAR);
    let calls_at = or_never(connection.calls_again_at());
    let due = or_never(connection.next_deadline).min(or_never(connection.machine.poll_timeout()));
    Rest {
        wakes_at: due.min(or_never(connection.idleness.look_at())).min(calls_at),
        // Bytes that the socket had no room for must still go out: the answer is not complete without
        // them.
        is_drained: connection.machine.is_closed()
            && connection.is_unused()
            && connection.output.unsent() == 0,
        is_lean: !connection.has_kit,
        goes_on: connection.goes_on() || (connection.input.is_stopped() && connection.wants_read()),
    }
}
