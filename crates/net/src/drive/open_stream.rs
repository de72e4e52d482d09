//! Opening a stream: at once where the peer allows it, in order of arrival where it does not.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use alula_h2 as h2;
use alula_machine::{OutBuf, StreamKey};

use crate::{
    connection::stream::slot::{Noted, Sides},
    drive::shared::Conn,
    error::{
        Error, Phase, Retry,
        cause::{Cause, Refusal},
    },
    handle::{
        stream::Stream,
        writer::{BodyWriter, HeldHead},
    },
    machine::Machine,
};

/// A stream being opened.
///
/// On a connection that shares its callers with others ([`Conn::join`]) nobody waits: when the peer allows no
/// more streams it fails in [`Phase::Queue`], and another connection is to be looked for.
pub struct Open<'a, F> {
    conn: &'a Arc<Conn>,
    noted: Noted<'a>,
    send: F,
    ticket: Option<u64>,
}

impl<F> Unpin for Open<'_, F> {}

impl<F> Future for Open<'_, F>
where
    F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
{
    type Output = Result<Stream, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut guard = this.conn.lock_to_open();
        let connection = &mut *guard;
        if connection.life.is_closing() {
            return Poll::Ready(Err(connection.takes_no_more()));
        }
        let is_asked = connection.life.asked_until().is_some();
        if is_asked && connection.membership.is_member() {
            // It waits for any of the origin's connections, not for the answer of this one's peer.
            return Poll::Ready(Err(no_room(h2::SendError::StreamLimit.into())));
        }
        if !is_asked && connection.queue.is_turn_of(this.ticket) {
            match (this.send)(&mut connection.machine, connection.output.buffer()) {
                Ok(stream) => {
                    let at = connection.attach(stream);
                    connection.slots[at.index].note(this.noted);
                    if let Some(ticket) = this.ticket.take() {
                        connection.leave_queue(ticket);
                    }
                    this.conn.unlock_and_wake(guard);
                    return Poll::Ready(Ok(Stream::new(this.conn.clone(), at, Sides::BOTH)));
                }
                // It waits for any of the origin's connections, not for this one.
                Err(refusal) if refusal.is_full() && connection.membership.is_member() => {
                    return Poll::Ready(Err(no_room(refusal)));
                }
                Err(refusal) if refusal.is_for_now() => {}
                Err(error) => return Poll::Ready(Err(Error::refused(error))),
            }
        }
        connection.queue.enter(&mut this.ticket, cx.waker());
        connection.wake_task();
        this.conn.unlock_and_wake(guard);
        Poll::Pending
    }
}

/// Returns the error of a connection without room: the caller looks for another one.
fn no_room(refusal: Refusal) -> Error {
    Error::new(Phase::Queue, Cause::Refused(refusal), Retry::Safe)
}

impl<F> Drop for Open<'_, F> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut connection = self.conn.lock();
            connection.leave_queue(ticket);
            self.conn.unlock_and_wake(connection);
        }
    }
}

impl Conn {
    /// Creates the writer of a request whose head is held back, to be sent on this connection if that takes
    /// it by then.
    pub fn writer_of_held(self: Arc<Self>, head: Box<dyn HeldHead>) -> BodyWriter {
        BodyWriter::of_held(self, head)
    }

    /// Opens a stream as `send` says, waiting in order of arrival while the peer allows no more.
    ///
    /// The note is part of the sentences of its failures. Dropping the future before it is ready opens
    /// nothing. Allocates nothing once warm.
    pub fn open<'a, F>(self: &'a Arc<Self>, noted: Noted<'a>, send: F) -> Open<'a, F>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        Open { conn: self, noted, send, ticket: None }
    }

    /// Opens a stream with `send` if that needs no waiting; else the connection comes back, nothing was sent,
    /// and [`open`](Self::open) waits or returns the reason. The noted facts are part of its error messages.
    /// Allocates nothing once warm.
    ///
    /// # Errors
    /// The connection, on which no stream was opened.
    #[inline]
    pub fn try_open<F>(self: Arc<Self>, noted: Noted<'_>, send: F) -> Result<Stream, Arc<Self>>
    where
        F: FnOnce(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut guard = self.lock_to_open();
        let connection = &mut *guard;
        if connection.life.takes_streams()
            && connection.queue.is_turn_of(None)
            && let Ok(stream) = send(&mut connection.machine, connection.output.buffer())
        {
            let at = connection.attach(stream);
            connection.slots[at.index].note(noted);
            self.unlock_and_wake(guard);
            return Ok(Stream::new(self, at, Sides::BOTH));
        }
        drop(guard);
        Err(self)
    }
}
