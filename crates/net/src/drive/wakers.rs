//! The wakers that are called after a lock is released.

use std::task::Waker;

/// The wakers that are taken out together. The list stays where it is, so that nobody allocates another one.
const FEW: usize = 8;

/// Wakers in the order in which they came. The first one needs no memory: where one caller has the connection
/// to itself, there are never two.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    first: Option<Waker>,
    /// The wakers after the first.
    others: Vec<Waker>,
}

impl Wakes {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, waker: Waker) {
        if self.is_empty() {
            self.first = Some(waker);
        } else {
            self.others.push(waker);
        }
    }

    /// Makes room for so many wakers at once.
    pub(crate) fn expect(&mut self, most: usize) {
        self.others.reserve_exact(most.saturating_sub(self.others.len()));
    }

    /// Takes out the waker if there is exactly one, as mostly.
    #[inline]
    pub(crate) fn take_only(&mut self) -> Option<Waker> {
        if self.others.is_empty() { self.first.take() } else { None }
    }

    /// Takes out the first wakers, in order. Allocates nothing.
    pub(crate) fn take_few(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let first = self.first.take();
        let mut few = [const { None }; FEW];
        let count = self.others.len().min(FEW);
        few.iter_mut().zip(self.others.drain(..count)).for_each(|(place, waker)| *place = Some(waker));
        first.into_iter().chain(few.into_iter().flatten())
    }

    /// Exchanges the memory of the list with another connection's, unless there are wakers.
    #[inline]
    pub(crate) fn exchange_memory(&mut self, memory: &mut Vec<Waker>) {
        if self.others.is_empty() {
            std::mem::swap(&mut self.others, memory);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone)]
    struct Note(usize, Arc<Mutex<Vec<usize>>>);

    impl std::task::Wake for Note {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn all_are_woken_in_the_order_in_which_they_came() {
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut wakes = Wakes::default();
        let waker = |number| Waker::from(Arc::new(Note(number, woken.clone())));
        (0..20).for_each(|number| wakes.push(waker(number)));
        wakes.take_few().for_each(Waker::wake);
        assert_eq!(woken.lock().unwrap().len(), 1 + FEW);
        (20..22).for_each(|number| wakes.push(waker(number)));
        while !wakes.is_empty() {
            wakes.take_few().for_each(Waker::wake);
        }
        assert_eq!(*woken.lock().unwrap(), (0..22).collect::<Vec<_>>());
    }

    #[test]
    fn only_one_is_taken_where_there_is_one() {
        let mut wakes = Wakes::default();
        assert!(wakes.take_only().is_none());
        wakes.push(Waker::noop().clone());
        assert!(wakes.take_only().is_some() && wakes.is_empty());
        (0..2).for_each(|_| wakes.push(Waker::noop().clone()));
        assert!(wakes.take_only().is_none());
        assert_eq!(wakes.len(), 2);
    }

    #[test]
    fn one_needs_no_memory() {
        let mut wakes = Wakes::default();
        for _ in 0..3 {
            wakes.push(Waker::noop().clone());
            assert_eq!((wakes.take_few().count(), wakes.others.capacity()), (1, 0));
        }
    }
}
