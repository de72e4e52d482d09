//! A client connection's own task. It reads when no caller does, answers PING, SETTINGS and GOAWAY on an idle
//! connection, waits for room in a full socket, and keeps the deadlines.
//!
//! While callers take turns it only looks in once a [`TICK`]; when nobody has taken a turn since, it takes over as
//! the reader, so a caller that is never polled again holds nobody up. A caller that comes later takes the reading
//! back and wakes this task to look in again.

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
    error::Error,
    shared::Reader,
};

/// How long nobody may take a turn before this task does.
const TICK: Duration = Duration::from_millis(50);

pub(crate) struct Standby {
    conn: Arc<Conn>,
    timer: Pin<Box<Sleep>>,
    turns: u64,
}

impl Standby {
    pub(crate) fn new(conn: Arc<Conn>) -> Self {
        Self { conn, timer: Box::pin(sleep_until(Instant::now() + TICK)), turns: 0 }
    }
}

impl Future for Standby {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let conn = &*this.conn;
        let mut shared = conn.lock();
        shared.task = Some(cx.waker().clone());
        let now = conn.time();
        shared.now = now;
        if shared.next_deadline.is_some_and(|deadline| deadline <= now) {
            shared.expire(now);
        }
        if shared.machine.poll_timeout().is_some_and(|timeout| timeout <= now) {
            shared.machine.handle_timeout(now);
            shared.take_notices();
        }
        conn.unlock_and_wake(shared);
        conn.poll_unblock(cx);
        let ticked = this.timer.as_mut().poll(cx).is_ready();
        let mut shared = conn.lock();
        if shared.reader == Reader::Task || (ticked && shared.turns == this.turns) {
            shared = read_on(conn, shared, cx);
        } else {
            shared = conn.flush(shared);
        }
        if ticked {
            this.turns = shared.turns;
        }
        if shared.closing && shared.is_idle() && shared.ended.is_none() {
            shared.machine.goaway(false);
            shared.end(Error::cancelled());
        }
        if shared.ended.is_some() {
            shared = conn.say_goodbye(shared);
            conn.unlock_and_wake(shared);
            return Poll::Ready(());
        }
        shared.look_for_idleness(now);
        let wait = shared.standby_wait(now);
        conn.unlock_and_wake(shared);
        this.timer.as_mut().reset(Instant::now() + wait);
        if this.timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Reads as the connection's task until nothing is left, leaving its waker with the reactor.
fn read_on<'a>(conn: &'a Conn, mut shared: Guard<'a>, cx: &mut Context<'_>) -> Guard<'a> {
    if shared.in_turn() {
        return shared;
    }
    shared.reader = Reader::Task;
    loop {
        let progress;
        (shared, progress) = conn.turn(shared, cx, Reader::Task);
        if !progress || shared.ended.is_some() {
            return shared;
        }
    }
}

impl crate::shared::Shared {
    /// How long the standby task may sleep.
    fn standby_wait(&self, now: Time) -> Duration {
        let far = Duration::from_secs(3600);
        let tick = if self.reader == Reader::Task && !self.in_turn() { far } else { TICK };
        [self.next_deadline, self.machine.poll_timeout(), self.idleness.look_at()]
            .into_iter()
            .flatten()
            .map(|at| at.saturating_since(now))
            .fold(tick, Duration::min)
    }
}
