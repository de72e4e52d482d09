//! Opening a stream: at once where the peer allows it, in order of arrival where it does not.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use alula_fields::{OutBuf, StreamKey};

use crate::{
    conn::Conn,
    error::{Error, Phase, Refusal, Retry},
    machine::Machine,
    slot::Sides,
    stream::Stream,
};

/// A stream being opened.
pub struct Open<'a, F> {
    conn: &'a Arc<Conn>,
    send: F,
    ticket: Option<u64>,
}

impl<'a, F> Open<'a, F> {
    pub(crate) fn new(conn: &'a Arc<Conn>, send: F) -> Self {
        Self { conn, send, ticket: None }
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
        let mut guard = this.conn.lock();
        let shared = &mut *guard;
        if let Some(error) = &shared.ended {
            let error = Error::new(Phase::Send, error.cause().clone(), Retry::Safe);
            return Poll::Ready(Err(error));
        }
        if shared.may_open(this.ticket) {
            match (this.send)(&mut shared.machine, &mut shared.out) {
                Ok(stream) => {
                    let at = shared.attach(stream);
                    if let Some(ticket) = this.ticket.take() {
                        shared.dequeue(ticket);
                    }
                    this.conn.unlock_and_wake(guard);
                    return Poll::Ready(Ok(Stream::new(this.conn.clone(), at, Sides::BOTH)));
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
