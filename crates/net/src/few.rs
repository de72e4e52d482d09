//! A list that stores its first item inline.

/// A list of items in order that allocates nothing while it never holds two at once.
pub(crate) struct Few<T> {
    /// The first item. `None` once there were several items: `more` then holds all of them.
    first: Option<T>,
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, more: Vec::new() }
    }
}

impl<T> Few<T> {
    /// Returns true if there is no item.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.more.is_empty()
    }

    /// Appends an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.more.capacity() == 0 && self.first.is_none() {
            self.first = Some(item);
        } else {
            self.more.push(item);
        }
    }

    /// Makes room for so many items at once, so that the time at which memory is needed does not depend on
    /// how many items come together.
    #[inline]
    pub(crate) fn expect(&mut self, most: usize) {
        if self.more.capacity() < most {
            self.make_room(most);
        }
    }

    #[cold]
    fn make_room(&mut self, most: usize) {
        self.more.reserve_exact(most - self.more.len());
        if let Some(first) = self.first.take() {
            self.more.insert(0, first);
        }
    }

    /// Returns the capacity, if it is more than one item.
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.more.capacity()
    }

    /// Takes the last item out.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.more.pop().or_else(|| self.first.take())
    }

    /// Exchanges the memory with an empty list, unless this one has items.
    #[inline]
    pub(crate) fn exchange_memory(&mut self, memory: &mut Vec<T>) {
        if self.is_empty() {
            std::mem::swap(&mut self.more, memory);
        }
    }

    /// Returns the items, in order.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }

    /// Takes all items out, in order.
    #[inline]
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.first.take().into_iter().chain(self.more.drain(..))
    }

    /// Gives memory back that is not needed.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.more.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order() {
        let mut few = Few::default();
        for count in [1, 3, 0, 2] {
            (0..count).for_each(|item| few.push(item));
            assert_eq!(few.is_empty(), count == 0);
            assert!(few.drain().eq(0..count));
        }
        assert!(few.is_empty());
    }

    #[test]
    fn room_that_was_made_is_enough() {
        let mut few = Few::default();
        few.push(0);
        few.expect(5);
        let capacity = few.capacity();
        (1..5).for_each(|item| few.push(item));
        assert!(capacity >= 5 && few.capacity() == capacity && few.drain().eq(0..5));
        few.shrink_to_fit();
        assert_eq!(few.capacity(), 0);
    }

    #[test]
    fn memory_passes_from_a_list_without_items_to_another() {
        let (mut few, mut other, mut memory) = (Few::default(), Few::default(), Vec::new());
        few.expect(5);
        few.push(1);
        few.exchange_memory(&mut memory);
        assert_eq!((few.pop(), memory.capacity()), (Some(1), 0), "an item keeps its memory");
        few.exchange_memory(&mut memory);
        other.exchange_memory(&mut memory);
        assert!(few.capacity() == 0 && memory.capacity() == 0 && other.capacity() >= 5);
    }

    #[test]
    fn the_last_comes_out_first_when_asked_for() {
        let mut few = Few::default();
        (0..3).for_each(|item| few.push(item));
        assert!(few.iter().eq(&[0, 1, 2]));
        assert_eq!(std::iter::from_fn(|| few.pop()).collect::<Vec<_>>(), [2, 1, 0]);
        few.push(3);
        assert_eq!((few.pop(), few.pop()), (Some(3), None));
    }
}
