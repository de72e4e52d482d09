//! A client connection's own task. It reads when no caller does, answers PING, SETTINGS and GOAWAY on an idle
//! connection, waits for room in a full socket, and keeps the deadlines.
//!
//! While callers take turns it only looks in once a [`TICK`]; when the last of them has left, or nobody has
//! taken a turn since, it takes over as the reader and sleeps without a tick. A caller that is never polled
//! again delays no other caller, and calls in close succession do not wake this task. A caller that comes
//! later takes the reading back and wakes this task to look in again.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_machine::Time;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    connection::Connection,
    drive::{
        reader::Reader,
        shared::{Conn, Guard},
    },
    error::{Error, Phase, Retry},
    establish::{connect::AtEnd, version::Version},
};

/// The time for which the task waits for a caller to take a turn before it takes one itself.
const TICK: Duration = Duration::from_millis(50);

/// The time for which an HTTP/2 connection that we close is still read, so that frames after the peer's last
/// answer are answered: to the peer, a PING that meets a closed socket looks like a failure. Nothing follows
/// the last answer over HTTP/1.1.
const LINGER: Duration = Duration::from_millis(20);

pin_project! {
    /// The task. Its timer lies in it: together they fill the bytes that the runtime rounds a task up to.
    pub(crate) struct Standby {
        #[pin]
        timer: Sleep,
        watch: Watch,
    }
}

/// The connection that the task watches, and its state.
struct Watch {
    conn: Arc<Conn>,
    turns: u64,
    /// The end of the time for which a connection that we close is still read; `Time::FAR` before.
    leaves_at: Time,
    at_end: Option<AtEnd>,
}

impl Standby {
    pub(crate) fn new(conn: Arc<Conn>, at_end: Option<AtEnd>) -> Self {
        let watch = Watch { conn, turns: 0, leaves_at: Time::FAR, at_end };
        Self { timer: sleep_until(Instant::now() + TICK), watch }
    }
}

impl Watch {
    /// Reads if nobody else does; otherwise only writes what is left over.
    fn look_in<'a>(&mut self, conn: &'a Conn, ticked: bool, cx: &mut Context<'_>) -> Guard<'a> {
        let mut connection = conn.lock();
        if connection.hand_over.standby_reads(ticked.then_some(self.turns)) {
            connection = read_on(conn, connection, cx);
        } else {
            connection = conn.flush(connection);
        }
        if ticked {
            self.turns = connection.hand_over.turns();
        }
        connection
    }

    /// Ends a connection that nobody uses any more: of HTTP/2 in two steps, GOAWAY and a little later the
    /// end.
    fn leave<'a>(&mut self, conn: &'a Conn, mut connection: Guard<'a>, cx: &mut Context<'_>) -> Guard<'a> {
        match self.leaves_at {
            _ if !connection.life.is_closing() || !connection.is_unused() || connection.life.has_ended() => {}
            // HTTP/1.1 has no word of farewell between exchanges, so the connection just closes (RFC 9112
            // §9.6).
            Time::FAR if conn.version() == Version::Http1 => connection.end(Error::cancelled()),
            Time::FAR => {
                self.leaves_at = conn.time().saturating_add(LINGER);
                connection.machine.goaway(false);
                connection = read_on(conn, connection, cx);
            }
            at if at <= conn.time() => connection.end(Error::cancelled()),
            _ => {}
        }
        connection
    }
}

impl Drop for Watch {
    /// Ends the connection if its runtime ends first: callers that wait for it on other runtimes get an
    /// error, and the peer gets as many bytes of the farewell as the socket takes at once.
    fn drop(&mut self) {
        let mut connection = self.conn.lock();
        if !connection.life.has_ended() {
            connection.machine.goaway(false);
            connection.end(Error::runtime_ended(Phase::Head, Retry::IfIdempotent));
            connection = self.conn.say_goodbye(connection);
        }
        self.conn.unlock_and_wake(connection);
        if let Some(tell) = &self.at_end {
            tell(&self.conn);
        }
    }
}

impl Future for Standby {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let (mut timer, watch) = (this.timer, this.watch);
        let conn = &*watch.conn.clone();
        let now = begin_run(conn, cx);
        conn.poll_unblock(cx);
        let ticked = timer.as_mut().poll(cx).is_ready();
        let connection = watch.look_in(conn, ticked, cx);
        let connection = watch.leave(conn, connection, cx);
        if connection.life.has_ended() {
            let connection = conn.say_goodbye(connection);
            conn.unlock_and_wake(connection);
            return Poll::Ready(());
        }
        let wait = standby_wait(&connection, now).min(watch.leaves_at.saturating_since(now));
        conn.unlock_and_wake(connection);
        sleep(timer, Instant::now() + wait, cx);
        Poll::Pending
    }
}

/// Sleeps until the next check.
fn sleep(mut timer: Pin<&mut Sleep>, until: Instant, cx: &mut Context<'_>) {
    timer.as_mut().reset(until);
    if timer.poll(cx).is_ready() {
        cx.waker().wake_by_ref();
    }
}

/// Does what is due, and returns it.
fn begin_run(conn: &Conn, cx: &mut Context<'_>) -> Time {
    let now = conn.time();
    let mut connection = conn.lock();
    connection.hand_over.task_begins(cx.waker());
    connection.now = now;
    connection.keep_time();
    conn.unlock_and_wake(connection);
    now
}

/// Reads as the connection's task until nothing is left, with its waker at the reactor, or until a caller
/// reads.
fn read_on<'a>(conn: &'a Conn, mut connection: Guard<'a>, cx: &mut Context<'_>) -> Guard<'a> {
    // The caller that reads takes the turns for all.
    if connection.hand_over.in_turn() {
        return connection;
    }
    loop {
        let progress;
        (connection, progress) = conn.turn(connection, cx, Reader::Task);
        if !progress || connection.life.has_ended() || connection.hand_over.reader() != Reader::Task {
            return connection;
        }
    }
}

/// Returns the longest time that the standby task may sleep.
fn standby_wait(connection: &Connection, now: Time) -> Duration {
    let far = Duration::from_secs(3600);
    let tick = if connection.hand_over.task_reads() { far } else { TICK };
    let machine = connection.machine.poll_timeout();
    let asked = connection.life.asked_until();
    [connection.next_deadline, machine, connection.idleness.look_at(), connection.calls_again_at(), asked]
        .into_iter()
        .flatten()
        .map(|at| at.saturating_since(now))
        .fold(tick, Duration::min)
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_keeps_the_task_in_256_bytes() {
        // It adds 96 of its own and a state, and rounds up to 128, which one byte more than these would make
        // 384.
        assert!(size_of::<Standby>() <= 152, "{} bytes", size_of::<Standby>());
    }
}
