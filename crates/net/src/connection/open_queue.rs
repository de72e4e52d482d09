//! The queue of callers that wait to open a stream, in order of arrival.
//!
//! Rule: a caller that is called keeps the first place until it has opened its stream or is gone.

use std::{collections::VecDeque, task::Waker};

/// The waiting callers, with the numbers of their tickets.
pub(crate) type Callers = VecDeque<(u64, Waker)>;

#[derive(Default)]
pub(crate) struct OpenQueue {
    waiting: Callers,
    /// The number of the last ticket.
    last: u64,
}

impl OpenQueue {
    /// Returns true if nobody waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Puts a caller at the end, or back at its place, which its ticket names.
    pub(crate) fn enter(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        match *ticket {
            None => {
                self.last += 1;
                *ticket = Some(self.last);
                self.waiting.push_back((self.last, waker.clone()));
            }
            Some(number) => match self.waiting.iter_mut().find(|(queued, _)| *queued == number) {
                Some((_, old)) => old.clone_from(waker),
                None => self.waiting.push_front((number, waker.clone())),
            },
        }
    }

    /// Returns true if this caller is next to open a stream.
    #[inline]
    pub(crate) fn is_turn_of(&self, ticket: Option<u64>) -> bool {
        match self.waiting.front() {
            None => true,
            Some((first, _)) => ticket.is_some_and(|number| number <= *first),
        }
    }

    /// Takes a caller out.
    pub(crate) fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|(queued, _)| *queued != ticket);
    }

    /// Returns the waker of the caller that came first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Waker> {
        self.waiting.front().map(|(_, waker)| waker)
    }

    /// Takes all callers out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Waker> {
        self.waiting.drain(..).map(|(_, waker)| waker)
    }

    /// Exchanges the memory with another connection's, unless somebody waits.
    #[inline]
    pub(crate) fn exchange_memory(&mut self, memory: &mut Callers) {
        if self.is_empty() {
            std::mem::swap(&mut self.waiting, memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_have_their_turn_in_the_order_in_which_they_came() {
        let (mut queue, mut first, mut second) = (OpenQueue::default(), None, None);
        assert!(queue.is_turn_of(None));
        queue.enter(&mut first, Waker::noop());
        queue.enter(&mut second, Waker::noop());
        queue.enter(&mut first, Waker::noop());
        assert!(queue.is_turn_of(first) && !queue.is_turn_of(second) && !queue.is_turn_of(None));
        queue.leave(first.expect("it waits"));
        assert!(queue.is_turn_of(second) && queue.first().is_some());
        assert_eq!((queue.drain().count(), queue.is_empty()), (1, true));
    }
}
