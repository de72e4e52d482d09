//! A client connection's own task. It reads when no caller does, answers PING, SETTINGS and GOAWAY on an idle
//! connection, waits for room in a full socket, and keeps the deadlines.
//!
//! While callers take turns it only looks in once a [`TICK`]; when the last of them has left, or nobody has taken a turn
//! since, it takes over as the reader and sleeps without a tick. So a caller that is never polled again holds nobody up,
//! and calls that follow each other closely do not wake this task. A caller that comes later takes the reading back and
//! wakes this task to look in again.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_fields::Time;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    conn::{Conn, Guard},
    connect::AtEnd,
    error::{Error, Phase, Retry},
    hand_over::Reader,
    version::Version,
};

/// The time that nobody may take a turn before this task does.
const TICK: Duration = Duration::from_millis(50);

/// How long a connection of HTTP/2 that we close is still read, so that what the peer sends with its last answer is answered too:
/// a PING met by a closed socket looks like a failure there. Nothing follows the last answer over HTTP/1.1.
const LINGER: Duration = Duration::from_millis(20);

pub(crate) struct Standby {
    conn: Arc<Conn>,
    timer: Pin<Box<Sleep>>,
    turns: u64,
    /// Until when a connection that we close is still read.
    leaves_at: Option<Instant>,
    at_end: Option<AtEnd>,
}

impl Standby {
    pub(crate) fn new(conn: Arc<Conn>, at_end: Option<AtEnd>) -> Self {
        Self { conn, timer: Box::pin(sleep_until(Instant::now() + TICK)), turns: 0, leaves_at: None, at_end }
    }

    /// Reads on if nobody else does, else only writes what is left over.
    fn look_in<'a>(&mut self, conn: &'a Conn, cx: &mut Context<'_>) -> Guard<'a> {
        let ticked = self.timer.as_mut().poll(cx).is_ready();
        let mut shared = conn.lock();
        if shared.hand_over.standby_reads(ticked.then_some(self.turns)) {
            shared = read_on(conn, shared, cx);
        } else {
            shared = conn.flush(shared);
        }
        if ticked {
            self.turns = shared.hand_over.turns();
        }
        shared
    }

    /// Ends a connection that nobody uses any more: of HTTP/2 in two steps, GOAWAY and a little later the end.
    fn leave<'a>(&mut self, conn: &'a Conn, mut shared: Guard<'a>, cx: &mut Context<'_>) -> Guard<'a> {
        match self.leaves_at {
            _ if !shared.closing || !shared.is_idle() || shared.ended.is_some() => {}
            None if conn.version() == Version::Http1 => shared.end(Error::cancelled()),
            None => {
                self.leaves_at = Some(Instant::now() + LINGER);
                shared.machine.goaway(false);
                shared = read_on(conn, shared, cx);
            }
            Some(at) if at <= Instant::now() => shared.end(Error::cancelled()),
            Some(_) => {}
        }
        shared
    }

    /// Sleeps until there is something to look after.
    fn sleep(&mut self, wait: Duration, cx: &mut Context<'_>) {
        let at = Instant::now() + wait;
        self.timer.as_mut().reset(self.leaves_at.map_or(at, |leaves_at| leaves_at.min(at)));
        if self.timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}

impl Drop for Standby {
    /// Ends the connection if its runtime ends before it does: whoever still waits for it elsewhere is told so, and the peer is
    /// told as much as the socket takes at once.
    fn drop(&mut self) {
        let mut shared = self.conn.lock();
        if shared.ended.is_none() {
            shared.machine.goaway(false);
            shared.end(Error::runtime_ended(Phase::Head, Retry::IfIdempotent));
            shared = self.conn.say_goodbye(shared);
        }
        self.conn.unlock_and_wake(shared);
        if let Some(tell) = &self.at_end {
            tell(&self.conn);
        }
    }
}

impl Future for Standby {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let conn = &*this.conn.clone();
        let now = begin_run(conn, cx);
        conn.poll_unblock(cx);
        let shared = this.look_in(conn, cx);
        let shared = this.leave(conn, shared, cx);
        if shared.ended.is_some() {
            let shared = conn.say_goodbye(shared);
            conn.unlock_and_wake(shared);
            return Poll::Ready(());
        }
        let wait = shared.standby_wait(now);
        conn.unlock_and_wake(shared);
        this.sleep(wait, cx);
        Poll::Pending
    }
}

/// Does what is due by now, which it returns.
fn begin_run(conn: &Conn, cx: &mut Context<'_>) -> Time {
    let now = conn.time();
    let mut shared = conn.lock();
    shared.hand_over.task_begins(cx.waker());
    shared.now = now;
    shared.keep_time();
    conn.unlock_and_wake(shared);
    now
}

/// Reads as the connection's task until nothing is left, leaving its waker with the reactor, or until a caller reads.
fn read_on<'a>(conn: &'a Conn, mut shared: Guard<'a>, cx: &mut Context<'_>) -> Guard<'a> {
    if shared.in_turn() {
        return shared;
    }
    loop {
        let progress;
        (shared, progress) = conn.turn(shared, cx, Reader::Task);
        if !progress || shared.ended.is_some() || shared.hand_over.reader() != Reader::Task {
            return shared;
        }
    }
}

impl crate::shared::Shared {
    /// How long the standby task may sleep.
    fn standby_wait(&self, now: Time) -> Duration {
        let far = Duration::from_secs(3600);
        let tick = if self.hand_over.task_reads() { far } else { TICK };
        let machine = self.machine.poll_timeout();
        [self.next_deadline, machine, self.idleness.look_at(), self.calls_again_at()]
            .into_iter()
            .flatten()
            .map(|at| at.saturating_since(now))
            .fold(tick, Duration::min)
    }
}
