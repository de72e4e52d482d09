//! The task of one connection: takes requests, runs their handlers, writes once per turn.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use alula_fields::Time;
use alula_net::{Conn, Incoming, StreamName, Turn};
use tokio::time::{Instant, Sleep, sleep};

use crate::{Exchange, Handler, lobby::Guest, server::Draining, slots::Slots};

/// How long the peer may take to close its side after the connection has ended.
const LINGER: Duration = Duration::from_millis(500);

pub(crate) struct Serve<H: Handler> {
    conn: Arc<Conn>,
    handler: Arc<H>,
    slots: Slots<H::Future>,
    incoming: Vec<Incoming>,
    cancelled: Vec<StreamName>,
    draining: Draining,
    /// The peer has not introduced itself yet.
    guest: Option<Guest>,
    timer: Pin<Box<Sleep>>,
    /// When the timer fires, or did.
    timer_at: Time,
    /// The connection has ended; what the peer still sends is read and dropped, so that it sees our FIN.
    lingers: bool,
}

impl<H: Handler> Serve<H> {
    pub(crate) fn new(conn: Arc<Conn>, handler: Arc<H>, draining: Draining, guest: Guest) -> Self {
        Self {
            conn,
            handler,
            slots: Slots::new(),
            incoming: Vec::new(),
            cancelled: Vec::new(),
            draining,
            guest: Some(guest),
            timer: Box::pin(sleep(Duration::ZERO)),
            timer_at: Time::FAR,
            lingers: false,
        }
    }

    /// Turns and handlers, until there is nothing more to do. Ready when the connection has ended.
    fn poll_turns(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.draining.poll_begun(cx).is_ready() {
            self.conn.drain();
        }
        if self.poll_guest(cx).is_ready() {
            return Poll::Ready(());
        }
        loop {
            let turn = self.conn.turn_of_server(&mut self.incoming, &mut self.cancelled, cx);
            self.cancelled.iter().for_each(|stream| self.slots.cancel(*stream));
            for incoming in self.incoming.drain(..) {
                let stream = incoming.key;
                if self.cancelled.contains(&stream) {
                    // It was given up before it was looked at.
                    continue;
                }
                self.slots.start(stream, || self.handler.call(Exchange::new(incoming)));
            }
            self.cancelled.clear();
            self.slots.poll_ready();
            match turn {
                Turn::Progress => {}
                Turn::Idle => return Poll::Pending,
                Turn::Ended => return Poll::Ready(()),
            }
        }
    }

    /// Ready when the peer has not introduced itself, and has to make room for another.
    fn poll_guest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.guest {
            None => Poll::Pending,
            Some(_) if self.conn.is_introduced() => {
                self.guest = None;
                Poll::Pending
            }
            Some(guest) => guest.poll_sent_away(cx),
        }
    }

    /// Sleeps no longer than to this time of the connection. The timer moves only when it must fire earlier, or has; else
    /// it knows this task already, which is always the same.
    fn set_timer(&mut self, at: Time, cx: &mut Context<'_>) {
        if at == Time::FAR || (at >= self.timer_at && !self.timer.is_elapsed()) {
            return;
        }
        self.timer_at = at;
        self.timer.as_mut().reset(self.conn.instant(at));
        if self.timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        self.conn.poll_discard(cx)
    }
}

impl<H: Handler> Unpin for Serve<H> {}

impl<H: Handler> Future for Serve<H> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.lingers {
            return this.poll_linger(cx);
        }
        this.slots.begin_run(cx.waker());
        loop {
            let ended = this.poll_turns(cx);
            let rest = this.conn.settle(cx);
            if ended.is_ready() || (rest.is_drained && this.slots.is_empty()) {
                this.slots = Slots::new();
                this.conn.finish();
                this.lingers = true;
                this.timer.as_mut().reset(Instant::now() + LINGER);
                ready!(this.poll_linger(cx));
                return Poll::Ready(());
            }
            if this.slots.end_run() && !rest.goes_on {
                this.set_timer(rest.wakes_at, cx);
                return Poll::Pending;
            }
            this.slots.begin_run(cx.waker());
        }
    }
}
