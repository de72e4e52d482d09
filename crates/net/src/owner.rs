//! A server connection's own task takes every turn: read, feed, let the handlers run, write once.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_fields::{Head, Reservation, Time};
use tokio::time::Instant;

use crate::{
    conn::{Conn, poll_read},
    error::Error,
    few::Few,
    hand_over::Reader,
    lending::{give_back, lend},
    refused::Refused,
    shared::{Accepted, Shared},
    slot::{Sides, SlotKey},
    stream::Stream,
};

/// A request that has arrived.
pub struct Incoming {
    /// Names the stream when it is cancelled.
    pub key: StreamName,
    /// The stream it is answered on.
    pub stream: Stream,
    /// Its control data and field section.
    pub head: Box<Head>,
    /// It has no content.
    pub ended: bool,
}

/// The requests that have arrived in a turn. Take them all before the next one.
#[derive(Default)]
pub struct Requests {
    arrived: Few<Accepted>,
    refused: Option<Refused>,
}

impl Requests {
    /// Takes all of them, in order; `conn` is the connection on which they came.
    #[inline]
    pub fn drain(&mut self, conn: &Arc<Conn>) -> impl Iterator<Item = Incoming> {
        self.arrived.drain().map(|accepted| Incoming {
            key: StreamName(accepted.at),
            stream: Stream::new(conn.clone(), accepted.at, Sides::BOTH),
            head: accepted.head,
            ended: accepted.ended,
        })
    }

    /// Takes the reason why a request was refused that would have been among them, the first one of the turn.
    #[inline]
    pub fn take_refused(&mut self) -> Option<Refused> {
        self.refused.take()
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

    /// A small number, used again by later streams: an index for tables.
    pub fn index(self) -> usize {
        self.0.index as usize
    }
}

/// What a server's turn has come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Turn {
    /// Something was read; there may be more.
    Progress,
    /// Nothing more for now; the task is woken when there is.
    Idle,
    /// The connection has ended.
    Ended,
}

/// How a server's connection goes to sleep.
pub struct Rest {
    /// When the task has to run again although nothing arrives; [`Time::FAR`] is never.
    pub wakes_at: Time,
    /// The connection drains, its last stream has ended, and all of the output is with the socket.
    pub is_drained: bool,
    /// It lies idle, and has given back the memory that the next request needs.
    pub lies_idle: bool,
    /// There is more to do at once: octets that had to wait may be taken now.
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
        let mut shared = self.lock();
        let begins = !shared.hand_over.task_runs();
        if begins {
            shared.hand_over.set_task_runs(true);
            shared.hand_over.task_begins(cx.waker());
        }
        if shared.blocked {
            drop(shared);
            self.poll_unblock(cx);
            shared = self.lock();
        }
        // What came with the handshake is answered before anything is written, so that all of it goes out at once.
        let mut progress = !shared.accepted.is_empty();
        if !progress && (!shared.blocked || !shared.output_is_full()) {
            (shared, progress) = self.turn(shared, cx, Reader::Task);
        }
        if begins {
            // Reading has told the time. A run that begins without was caused by a handler or by the timer.
            if !progress {
                shared.now = self.time();
            }
            shared.keep_time();
        }
        let turn = match progress {
            _ if shared.ended.is_some() => Turn::Ended,
            true => Turn::Progress,
            false => Turn::Idle,
        };
        // Every other turn only finds the socket empty.
        if !shared.accepted.is_empty() || !shared.cancelled.is_empty() {
            debug_assert!(into.arrived.is_empty(), "the requests of the turn before were taken");
            into.arrived.expect(shared.accepted.capacity());
            std::mem::swap(&mut shared.accepted, &mut into.arrived);
            cancelled.extend(shared.cancelled.drain(..).map(StreamName));
        }
        if shared.refused.is_some() {
            into.refused = shared.refused.take();
        }
        self.unlock_and_wake(shared);
        turn
    }

    /// Writes what the handlers left; from here on the task is woken for whatever happens.
    pub fn settle(&self, cx: &mut Context<'_>) -> Rest {
        let mut shared = self.lock();
        // Everybody who was told to go on has run.
        shared.machine.end_turn();
        shared.take_notices();
        shared = self.flush(shared);
        if shared.blocked {
            drop(shared);
            self.poll_unblock(cx);
            shared = self.lock();
        }
        shared.stow_input();
        shared.hand_over.set_task_runs(false);
        if shared.blocked {
            shared.settle_memory();
        }
        let rest = shared.rest();
        self.unlock_and_wake(shared);
        rest
    }

    /// Returns true if the peer's preface is here (RFC 9113 §3.4), or its first request.
    pub fn is_introduced(&self) -> bool {
        self.lock().machine.is_introduced()
    }

    /// Says that no more requests are taken: first a warning, then the number of the last stream (RFC 9113 §6.8).
    pub fn drain(&self) {
        let mut shared = self.lock();
        if !shared.closing {
            shared.closing = true;
            shared.machine.goaway(true);
        }
        shared.wake_task();
        self.unlock_and_wake(shared);
    }

    /// Charges octets that the handlers of this connection hold.
    pub fn hold(&self, bytes: u64) -> Reservation {
        self.lock().ledger.hold(bytes)
    }

    /// The instant of a time of this connection.
    pub fn instant(&self, time: Time) -> Instant {
        self.started() + Duration::from_nanos(time.as_nanos())
    }
}

impl Shared {
    fn rest(&self) -> Rest {
        let or_never = |at: Option<Time>| at.unwrap_or(Time::FAR);
        let calls_at = or_never(self.calls_again_at());
        let due = or_never(self.next_deadline).min(or_never(self.machine.poll_timeout()));
        Rest {
            wakes_at: due.min(or_never(self.idleness.look_at())).min(calls_at),
            // What the socket had no room for is still to go out: an answer is not whole without.
            is_drained: self.machine.is_closed() && self.is_idle() && self.unsent() == 0,
            lies_idle: self.idleness.lies_idle(),
            goes_on: self.goes_on() || (self.is_read_stopped && self.wants_read()),
        }
    }
}

/// The end of a connection.
impl Conn {
    /// Says goodbye: a last GOAWAY if none was sent, the end of TLS, FIN.
    pub fn finish(&self) {
        let mut shared = self.lock();
        shared.end(Error::cancelled());
        shared = self.say_goodbye(shared);
        self.unlock_and_wake(shared);
    }

    /// Reads and drops what the peer still sends, at most `octets_left`, which it counts down. Ready when the peer has closed its
    /// side, or has sent more than that.
    pub fn poll_discard(&self, octets_left: &mut u64, cx: &mut Context<'_>) -> Poll<()> {
        let mut shared = self.lock();
        // Over TLS the end may have been that of the session alone.
        if shared.is_input_over && !shared.is_secure() {
            return Poll::Ready(());
        }
        let Some(mut half) = shared.hand_over.take_half() else { return Poll::Ready(()) };
        drop(shared);
        let mut wide = lend();
        let closed = loop {
            match poll_read(&mut half, &mut wide, cx) {
                Poll::Pending => break Poll::Pending,
                Poll::Ready(Ok(octets)) if octets > 0 && octets as u64 <= *octets_left => {
                    *octets_left -= octets as u64;
                }
                Poll::Ready(_) => break Poll::Ready(()),
            }
        };
        give_back(wide);
        self.lock().hand_over.end_to_read(half);
        closed
    }
}
