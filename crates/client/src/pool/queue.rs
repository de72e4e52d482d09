//! The callers that wait for a connection, in the order in which they came.
//!
//! Rule 1: a caller that is called leaves the queue. It is the first one again when it looks and finds
//! nothing; when it leaves without having looked, it passes on what it was called for.
//! Rule 2: a caller for which a connection is being opened is not called for room: it would leave the room
//! unused.

use std::collections::VecDeque;

/// The queue; `W` wakes a caller.
pub(super) struct Queue<W> {
    waiting: VecDeque<Waiting<W>>,
    /// The callers with a ticket: waiting ones, and called ones that have not taken a connection yet.
    callers: usize,
    /// The number of the last ticket.
    tickets: u64,
}

/// A caller in the queue.
struct Waiting<W> {
    number: u64,
    /// The waker; `None` until the caller was polled.
    waker: Option<W>,
    /// A connection is being opened for the caller.
    opens: bool,
}

/// The ticket of a caller, which gives it back when it leaves.
#[derive(Debug)]
pub(super) struct Ticket(u64);

impl<W> Default for Queue<W> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), callers: 0, tickets: 0 }
    }
}

impl<W: Clone> Queue<W> {
    /// Returns the number of callers with a ticket.
    #[inline]
    pub(super) fn callers(&self) -> usize {
        self.callers
    }

    /// Returns the number of callers that wait and were not called.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Puts a caller into the queue, at the end if it has no ticket yet; `opens` is true if a connection is
    /// being opened for it.
    pub(super) fn wait(&mut self, ticket: &mut Option<Ticket>, opens: bool) {
        let ticket = ticket.get_or_insert_with(|| self.enter());
        self.find(ticket).into_iter().for_each(|waiting| waiting.opens = opens);
    }

    fn enter(&mut self) -> Ticket {
        self.tickets += 1;
        self.callers += 1;
        self.waiting.push_back(Waiting { number: self.tickets, waker: None, opens: false });
        Ticket(self.tickets)
    }

    /// Puts a called caller at the front again; returns true if it was called.
    pub(super) fn enter_again(&mut self, ticket: &Ticket) -> bool {
        let was_called = self.find(ticket).is_none();
        if was_called {
            self.waiting.push_front(Waiting { number: ticket.0, waker: None, opens: false });
        }
        was_called
    }

    /// Sets the waker of a caller; returns false if it was called already.
    pub(super) fn watch(&mut self, ticket: &Ticket, waker: &W) -> bool {
        let Some(waiting) = self.find(ticket) else { return false };
        match &mut waiting.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        true
    }

    /// Calls the longest waiting caller. One that was not polled yet hears of it when it is.
    #[inline]
    pub(super) fn call_next(&mut self) -> Option<W> {
        self.waiting.pop_front()?.waker
    }

    /// Calls the longest waiting caller without an opening.
    pub(super) fn call_for_room(&mut self) -> Option<W> {
        let index = self.waiting.iter().position(|waiting| !waiting.opens)?;
        self.waiting.remove(index)?.waker
    }

    /// Removes a caller; returns true if it was called and has not acted on it.
    pub(super) fn leave(&mut self, ticket: Ticket) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.number != ticket.0);
        self.callers -= 1;
        self.waiting.len() == before
    }

    /// Calls all that wait.
    pub(super) fn call_all(&mut self) -> impl Iterator<Item = W> + use<W> {
        std::mem::take(&mut self.waiting).into_iter().filter_map(|waiting| waiting.waker)
    }

    fn find(&mut self, ticket: &Ticket) -> Option<&mut Waiting<W>> {
        self.waiting.iter_mut().find(|waiting| waiting.number == ticket.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of callers that wait, each woken by its number.
    fn queue<const CALLERS: usize>() -> (Queue<usize>, [Ticket; CALLERS]) {
        let mut queue = Queue::default();
        let tickets = std::array::from_fn(|number| {
            let ticket = queue.enter();
            assert!(queue.watch(&ticket, &number));
            ticket
        });
        (queue, tickets)
    }

    #[test]
    fn callers_are_called_in_the_order_in_which_they_came() {
        let (mut queue, _tickets) = queue::<3>();
        assert_eq!([(); 4].map(|()| queue.call_next()), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_caller_that_was_called_and_finds_nothing_is_the_first_again() {
        let (mut queue, [first, _second]) = queue::<2>();
        assert!(!queue.enter_again(&first), "it was not called");
        assert_eq!(queue.call_next(), Some(0));
        assert!(!queue.watch(&first, &0), "it is to look before it waits");
        assert!(queue.enter_again(&first) && queue.watch(&first, &0));
        assert_eq!(queue.call_next(), Some(0));
    }

    #[test]
    fn room_is_of_no_use_for_a_caller_that_opens_a_connection() {
        let (mut queue, [first, second]) = queue::<2>();
        let mut first = Some(first);
        queue.wait(&mut first, true);
        assert_eq!((queue.call_for_room(), queue.call_for_room()), (Some(1), None));
        assert!(first.is_some_and(|first| !queue.leave(first)) && queue.leave(second));
        assert_eq!((queue.callers(), queue.waiting()), (0, 0));
    }

    #[test]
    fn a_caller_that_was_not_polled_hears_when_it_is() {
        let mut queue = Queue::<usize>::default();
        let ticket = queue.enter();
        assert_eq!(queue.call_next(), None);
        assert!(!queue.watch(&ticket, &0));
    }
}
