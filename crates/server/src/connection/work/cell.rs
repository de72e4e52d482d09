//! A box for a handler and the future of a request.

use std::{
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use alula_net::Sent;
use pin_project_lite::pin_project;

use crate::{
    answer::{Answer, IntoAnswer},
    connection::handler::Handler,
    exchange::Exchange,
};

/// A box for the futures of one handler, whatever their type.
pub(crate) trait Work: Send {
    /// Creates the future for a request in the box.
    fn start(self: Pin<&mut Self>, exchange: Exchange);

    /// Polls the future.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Sent, Answer>>;

    /// Drops the future and keeps the memory.
    fn clear(self: Pin<&mut Self>);
}

pin_project! {
    pub(crate) struct Cell<H, S>
    where
        H: Handler<S>,
    {
        handler: Arc<H>,
        #[pin]
        future: Option<H::Future>,
        state: PhantomData<fn() -> S>,
    }
}

impl<H: Handler<S>, S> Cell<H, S> {
    pub(crate) const fn new(handler: Arc<H>) -> Self {
        Self { handler, future: None, state: PhantomData }
    }
}

impl<H: Handler<S>, S> Work for Cell<H, S> {
    fn start(self: Pin<&mut Self>, exchange: Exchange) {
        let mut this = self.project();
        this.future.set(Some(this.handler.call(exchange.for_state())));
    }

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Sent, Answer>> {
        match self.project().future.as_pin_mut() {
            Some(future) => Poll::Ready(ready!(future.poll(cx)).map_err(IntoAnswer::into_answer)),
            None => Poll::Pending,
        }
    }

    fn clear(self: Pin<&mut Self>) {
        self.project().future.set(None);
    }
}
