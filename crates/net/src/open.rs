//! Opening a stream: at once where the peer allows it, in order of arrival where it does not.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use alula_fields::{OutBuf, StreamKey};

use crate::{
    cause::{Cause, Refusal},
    conn::Conn,
    error::{Error, Phase, Retry},
    machine::Machine,
    slot::{Noted, Sides},
    stream::Stream,
};

/// A stream being opened.
///
/// On a connection that shares its callers with others ([`Vacancy::join`](crate::Vacancy::join)) nobody waits: when the peer
/// allows no more streams it fails in [`Phase::Queue`], and another connection is to be looked for.
pub struct Open<'a, F> {
    conn: &'a Arc<Conn>,
    noted: Noted<'a>,
    send: F,
    ticket: Option<u64>,
}

impl<'a, F> Open<'a, F> {
    pub(crate) fn new(conn: &'a Arc<Conn>, noted: Noted<'a>, send: F) -> Self {
        Self { conn, noted, send, ticket: None }
    }
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
        let shared = &mut *guard;
        if shared.closing {
            return Poll::Ready(Err(shared.takes_no_more()));
        }
        if shared.may_open(this.ticket) {
            match (this.send)(&mut shared.machine, &mut shared.out) {
                Ok(stream) => {
                    let at = shared.attach(stream);
                    shared.slots[at.index as usize].note(this.noted);
                    if let Some(ticket) = this.ticket.take() {
                        shared.dequeue(ticket);
                    }
                    this.conn.unlock_and_wake(guard);
                    return Poll::Ready(Ok(Stream::new(this.conn.clone(), at, Sides::BOTH)));
                }
                // It waits for any of the origin's connections, not for this one.
                Err(refusal) if refusal.is_full() && shared.vacancy.is_some() => {
                    return Poll::Ready(Err(Error::new(Phase::Queue, Cause::Refused(refusal), Retry::Safe)));
                }
                Err(refusal) if refusal.is_for_now() => {}
                Err(error) => return Poll::Ready(Err(Error::refused(error))),
            }
        }
        shared.enqueue(&mut this.ticket, cx.waker());
        shared.wake_task();
        this.conn.unlock_and_wake(guard);
        Poll::Pending
    }
}

impl<F> Drop for Open<'_, F> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut shared = self.conn.lock();
            shared.dequeue(ticket);
            self.conn.unlock_and_wake(shared);
        }
    }
}

impl Conn {
    /// Opens a stream as `send` says if nothing has to be waited for; else the connection comes back, nothing was sent, and
    /// [`open`](Self::open) waits or says why not. What is noted is part of the sentences of its failures. Allocates nothing once warm.
    ///
    /// # Errors
    /// The connection, on which no stream was opened.
    #[inline]
    pub fn try_open<F>(self: Arc<Self>, noted: Noted<'_>, send: F) -> Result<Stream, Arc<Self>>
    where
        F: FnOnce(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut guard = self.lock_to_open();
        let shared = &mut *guard;
        if !shared.closing
            && shared.may_open(None)
            && let Ok(stream) = send(&mut shared.machine, &mut shared.out)
        {
            let at = shared.attach(stream);
            shared.slots[at.index as usize].note(noted);
            self.unlock_and_wake(guard);
            return Ok(Stream::new(self, at, Sides::BOTH));
        }
        drop(guard);
        Err(self)
    }
}
