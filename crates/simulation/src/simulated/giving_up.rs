//! Futures that are not polled as they should be.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use alula_testkit::Rng;
use tokio::time::{Sleep, sleep};

use super::script::GivenUp;
use super::world::{Stall, World};

/// Polls a future, unless it is given up; sometimes later than it could.
pub(super) struct Patience<F> {
    future: Pin<Box<F>>,
    given_up: Option<GivenUp>,
    polls: usize,
    timer: Option<Pin<Box<Sleep>>>,
    /// The world and the client, to tell of stalls.
    party: (Arc<World>, u32),
    stall: Option<Stall>,
    rng: Rng,
}

/// One in so many polls lets others go first.
const LETS_OTHERS_GO: usize = 8;

impl<F: Future> Patience<F> {
    pub(super) fn new(future: F, given_up: Option<GivenUp>, party: (Arc<World>, u32), rng: Rng) -> Self {
        let timer = match given_up {
            Some(GivenUp::After(after)) => Some(Box::pin(sleep(after))),
            _ => None,
        };
        Self { future: Box::pin(future), given_up, polls: 0, timer, party, stall: None, rng }
    }

    fn time_is_over(&mut self, cx: &mut Context<'_>) -> bool {
        self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
    }

    /// True while the future is not to be polled.
    fn poll_stall(&mut self, after: usize, length: Duration, cx: &mut Context<'_>) -> bool {
        if self.polls == after && self.timer.is_none() {
            self.timer = Some(Box::pin(sleep(length)));
        }
        let stalls = self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_pending());
        let (world, client) = &self.party;
        match stalls {
            true => _ = self.stall.get_or_insert_with(|| world.stall(*client)),
            false => self.stall = None,
        }
        stalls
    }
}

impl<F> Unpin for Patience<F> {}

impl<F: Future> Future for Patience<F> {
    /// Nothing when it was given up.
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.rng.one_in(LETS_OTHERS_GO) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let given_up = this.given_up;
        match given_up {
            Some(GivenUp::Polls(polls)) if this.polls == polls => return Poll::Ready(None),
            Some(GivenUp::After(_)) if this.time_is_over(cx) => return Poll::Ready(None),
            Some(GivenUp::Stalls(after, length)) if this.poll_stall(after, length, cx) => {
                return Poll::Pending;
            }
            _ => {}
        }
        this.polls += 1;
        this.future.as_mut().poll(cx).map(Some)
    }
}
