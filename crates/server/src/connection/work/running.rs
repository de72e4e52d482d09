//! A request that is being handled.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    thread::panicking,
};

use alula_fields::Status;
use alula_net::Sent;

use super::boxes::{Boxed, Boxes, Shelf};
use crate::{answer::Answer, exchange::Exchange};

/// The future of a handler; without a box it answers 500. Its box goes back to a shelf when it has ended or
/// is dropped.
#[derive(Default)]
pub(crate) struct Running {
    boxed: Option<(Boxed, Arc<Shelf>)>,
    is_detached: bool,
}

impl Running {
    #[inline]
    pub(super) fn new(boxed: Boxed, shelf: Arc<Shelf>) -> Self {
        Self { boxed: Some((boxed, shelf)), is_detached: false }
    }

    /// Returns true if its box belongs to these.
    #[inline]
    pub(crate) fn is_of(&self, boxes: &Arc<Boxes>) -> bool {
        self.boxed.as_ref().is_some_and(|(_, shelf)| shelf.is_of(boxes))
    }

    /// Drops the future and keeps the box.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if let Some((boxed, _)) = &mut self.boxed {
            boxed.as_mut().clear();
        }
    }

    /// Makes the future for a request.
    #[inline]
    pub(crate) fn start(&mut self, exchange: Exchange) {
        if let Some((boxed, _)) = &mut self.boxed {
            boxed.as_mut().start(exchange);
        }
    }

    /// Sets whether it finishes even if nobody waits for its answer.
    pub(crate) fn detach(&mut self, on: bool) {
        self.is_detached = on;
    }

    /// Returns true if it finishes even if nobody waits for its answer.
    pub(crate) const fn is_detached(&self) -> bool {
        self.is_detached
    }

    /// Returns the bytes of the box.
    pub(crate) fn bytes(&self) -> usize {
        self.boxed.as_ref().map_or(0, |(boxed, _)| mem::size_of_val(&**boxed))
    }
}

impl Future for Running {
    type Output = Result<Sent, Answer>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.boxed {
            Some((boxed, _)) => boxed.as_mut().poll(cx),
            None => Poll::Ready(Err(Answer::new(Status::INTERNAL_SERVER_ERROR))),
        }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        if let Some((mut boxed, shelf)) = self.boxed.take() {
            if panicking() {
                // A second panic would end the process.
                let _ = catch_unwind(AssertUnwindSafe(|| boxed.as_mut().clear()));
            } else {
                boxed.as_mut().clear();
            }
            shelf.give(boxed);
        }
    }
}
