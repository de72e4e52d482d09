//! The task of one connection: takes requests, runs their handlers, and writes once in each turn.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use alula_machine::{Reservation, Time};
use alula_net::{Conn, Incoming, Requests, StreamName, Turn, Version};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    connection::{
        endpoint::Endpoint,
        slots::{Measure, Slots, Tables},
        table::{FIRST_REQUEST, Registration},
    },
    exchange::{forwarded::ForwardedSource, scheme::SchemeSource},
    observe::{observing::ConnectionSpan, reporting::Reporter},
};

/// The time in which a used connection may read arrived bytes when the server stops.
const LAST_READ: Duration = Duration::from_millis(10);

/// The time in which the peer may close its side after the server stops, or has made room.
const LINGER_AT_STOP: Duration = Duration::from_millis(500);

pin_project! {
    /// The service of a connection, and its timer.
    pub(crate) struct Serve {
        requests: Serving,
        #[pin]
        timer: Sleep,
    }
}

struct Serving {
    conn: Arc<Conn>,
    slots: Slots,
    /// The bytes that the slots hold, and the sizes for which they were charged.
    held: (Measure, Option<Reservation>),
    incoming: Requests,
    cancelled: Vec<StreamName>,
    scheme: SchemeSource,
    /// The finder of clients of requests, if the peer is a trusted proxy.
    clients: Option<ForwardedSource>,
    registration: Registration,
    /// The peer has not sent its preface or first request.
    is_handshake: bool,
    /// The time from which no more requests are taken, because the server stops.
    drains_at: Time,
    stop: Stop,
    /// The time for which the timer is set.
    timer_at: Time,
    end: End,
    _span: ConnectionSpan,
}

/// The reaction of the task to the stop of the server.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Stop {
    NotYet,
    /// The task waits for arrived bytes, or for the first request.
    Heard,
    /// The peer was told.
    Told,
}

/// The progress of the end of the connection.
#[derive(Clone, Copy, Eq, PartialEq)]
enum End {
    NotYet,
    /// The connection ends to make room, without waiting for the peer to close its side.
    MakesRoom,
    /// The connection has ended, and reads what the peer still sends. Bytes that the peer still sends are
    /// read and dropped, so that the peer sees our FIN and what came before.
    Lingers {
        since: Instant,
        bytes_left: u64,
    },
}

impl Serve {
    pub(crate) fn new(
        conn: Arc<Conn>,
        endpoint: Arc<dyn Endpoint>,
        (scheme, clients): (SchemeSource, Option<ForwardedSource>),
        reporter: Reporter,
        registration: Registration,
        tables: Arc<Tables>,
    ) -> Self {
        if endpoint.sees_ends() {
            conn.keep_tallies();
        }
        let _span = ConnectionSpan::begin(&conn);
        // It is set before it is waited for.
        let timer = sleep_until(conn.instant(Time::ZERO));
        let requests = Serving {
            conn,
            slots: Slots::new(reporter, endpoint, tables),
            held: (Measure::default(), None),
            incoming: Requests::default(),
            cancelled: Vec::new(),
            scheme,
            clients,
            registration,
            is_handshake: true,
            drains_at: Time::FAR,
            stop: Stop::NotYet,
            timer_at: Time::FAR,
            end: End::NotYet,
            _span,
        };
        Self { requests, timer }
    }
}

impl Serving {
    /// Runs turns and handlers until there is nothing more to do. Ready when the connection has ended.
    fn poll_turns(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let turn = self.conn.turn_of_server(&mut self.incoming, &mut self.cancelled, cx);
            self.slots.begin_turn(self.incoming.began());
            self.cancelled.iter().for_each(|stream| self.slots.cancel(&self.conn, *stream));
            for incoming in self.incoming.drain(&self.conn) {
                // One that is among them was given up before it was looked at.
                if !self.cancelled.contains(&incoming.key) {
                    start(&mut self.slots, &self.conn, incoming, (self.scheme, self.clients.as_ref()));
                }
            }
            self.cancelled.clear();
            if self.incoming.are_more() {
                self.start_sent_ahead();
            }
            if let Some(refused) = self.incoming.take_refused() {
                self.slots.tell_refused(&self.conn, refused);
            }
            self.slots.poll_ready(&self.conn);
            self.slots.end_turn(&self.conn);
            if self.conn.has_left() {
                self.slots.answer_left(&self.conn);
            }
            match turn {
                Turn::Progress => {}
                Turn::Idle => return self.poll_asked(cx),
                Turn::Ended => {
                    self.slots.tell_breach(&self.conn);
                    return Poll::Ready(());
                }
            }
        }
    }

    /// Begins to answer requests that a peer of HTTP/1.1 has sent ahead, each after a complete answer to the
    /// one before.
    fn start_sent_ahead(&mut self) {
        while let Some(incoming) = self.conn.next_request() {
            start(&mut self.slots, &self.conn, incoming, (self.scheme, self.clients.as_ref()));
        }
    }

    /// Charges the memory of handlers that did not finish at once. They are not told how much that is, so it
    /// cannot be refused to them.
    #[inline]
    fn charge_slots(&mut self, measure: Measure) {
        if self.held.0 != measure {
            let bytes = self.slots.bytes(measure);
            self.held = (measure, Some(self.conn.hold(bytes as u64)));
        }
    }

    /// Follows a request of the listener, after arrived bytes were read. Ready when the connection is to end
    /// at once.
    #[inline]
    fn poll_asked(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let asked = self.registration.poll_asked(cx);
        if self.is_handshake && self.conn.is_introduced() {
            self.is_handshake = false;
            self.registration.handshake_ends();
        } else if asked.leaves() && self.poll_make_room().is_ready() {
            return Poll::Ready(());
        }
        if asked.stops() {
            self.stop_in_time();
        }
        if asked.gets_on() && self.poll_get_on().is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Ends the connection if it holds much of the memory and makes no progress. Nobody waits for its peer
    /// then.
    #[cold]
    fn poll_get_on(&mut self) -> Poll<()> {
        self.registration.is_looked_at();
        if !self.conn.end_if_stuck() {
            return Poll::Pending;
        }
        self.end = End::MakesRoom;
        Poll::Ready(())
    }

    /// Ends the connection if no request is in progress; at once if it never had one.
    #[cold]
    fn poll_make_room(&mut self) -> Poll<()> {
        if self.is_handshake {
            self.registration.note_evicted_handshake();
            self.end = End::MakesRoom;
            return Poll::Ready(());
        }
        if self.conn.retire_idle() {
            if self.end == End::NotYet {
                self.registration.note_evicted();
            }
            self.end = End::MakesRoom;
        } else {
            self.registration.stays();
        }
        Poll::Pending
    }

    /// Records the remaining work, and takes no more requests once the stop is due.
    #[cold]
    fn stop_in_time(&mut self) {
        self.registration.note_requests_left(self.conn.streams_held());
        if self.stop != Stop::Told {
            self.drain_when_due();
        }
    }

    /// Takes no more requests, now or after arrived bytes were read.
    fn drain_when_due(&mut self) {
        let now = self.conn.time();
        if self.stop == Stop::NotYet {
            self.stop = Stop::Heard;
            self.drains_at = self.last_read_ends(now);
        }
        // The first request has begun, or will not.
        if self.drains_at <= now || !self.conn.has_no_streams() {
            self.stop = Stop::Told;
            self.drains_at = Time::FAR;
            self.conn.drain();
        }
    }

    /// Returns the time until which an unread request is still taken. A connection that was used over HTTP/2
    /// needs no such time: requests that are on their way when the peer learns of the stop are served in any
    /// case (RFC 9113 §6.8).
    fn last_read_ends(&self, now: Time) -> Time {
        let last_read = now.saturating_add(LAST_READ);
        match (self.conn.is_used(), self.conn.version()) {
            (false, _) => last_read.max(Time::ZERO.saturating_add(FIRST_REQUEST)),
            (true, Version::Http1) => last_read,
            (true, Version::Http2) => now,
        }
    }

    /// Sets the timer to this time of the connection, if that is earlier. The timer moves only when it must
    /// fire earlier, or has; else it knows this task already, which is always the same.
    fn set_timer(&mut self, mut timer: Pin<&mut Sleep>, at: Time, cx: &mut Context<'_>) {
        if at == Time::FAR || (at >= self.timer_at && !timer.is_elapsed()) {
            return;
        }
        self.timer_at = at;
        timer.as_mut().reset(self.conn.instant(at));
        if timer.poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    /// Ends the connection properly. Ready when the peer need not be waited for.
    fn poll_end(&mut self, timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
        self.slots.clear(&self.conn);
        self.registration.note_requests_left(0);
        self.conn.finish();
        if self.end == End::MakesRoom {
            return Poll::Ready(());
        }
        let mut bytes_left = self.registration.connections().linger_bytes;
        if self.conn.poll_discard(&mut bytes_left, cx).is_ready() {
            // Most peers have closed their side already.
            return Poll::Ready(());
        }
        let since = Instant::now();
        self.end = End::Lingers { since, bytes_left };
        self.registration.lingers(since);
        self.timer_at = Time::FAR;
        self.poll_linger(timer, cx)
    }

    fn poll_linger(&mut self, mut timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
        let asked = self.registration.poll_asked(cx);
        let End::Lingers { since, mut bytes_left } = self.end else { return Poll::Ready(()) };
        if asked.leaves() {
            return Poll::Ready(());
        }
        let timeout = self.registration.connections().linger_timeout;
        let ends_at = since + if asked.stops() { timeout.min(LINGER_AT_STOP) } else { timeout };
        if timer.deadline() != ends_at {
            timer.as_mut().reset(ends_at);
        }
        if timer.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let closed = self.conn.poll_discard(&mut bytes_left, cx);
        self.end = End::Lingers { since, bytes_left };
        closed
    }
}

/// Begins to answer a request, and records its client if the peer is a trusted proxy.
#[inline]
fn start(
    slots: &mut Slots,
    conn: &Arc<Conn>,
    mut incoming: Incoming,
    (scheme, clients): (SchemeSource, Option<&ForwardedSource>),
) {
    if let Some(clients) = clients {
        clients.note(&mut incoming.head);
    }
    slots.start(conn, incoming, scheme);
}

impl Future for Serve {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let (this, timer) = (this.requests, this.timer);
        // All handlers are gone: nothing is left but the peer and the timer.
        if let End::Lingers { .. } = this.end {
            return this.poll_linger(timer, cx);
        }
        this.slots.begin_run(cx.waker());
        loop {
            let ended = this.poll_turns(cx);
            let rest = this.conn.settle(cx);
            if ended.is_ready() || (rest.is_drained && this.slots.is_empty()) {
                return this.poll_end(timer, cx);
            }
            if rest.is_lean {
                this.slots.leave();
            }
            this.charge_slots(this.slots.measure());
            // A waker that fired during the run has set a bit and woken nobody: it is found here.
            if this.slots.end_run() && !rest.goes_on {
                this.set_timer(timer, rest.wakes_at.min(this.drains_at), cx);
                return Poll::Pending;
            }
            this.slots.begin_run(cx.waker());
        }
    }
}
