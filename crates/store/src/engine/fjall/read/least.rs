//! The least of many bytes, within a bound of memory.

use std::collections::BinaryHeap;

/// The overhead of one item: a pointer with its length, in a vector that may be half empty, and what an
/// allocator adds.
const OVERHEAD: usize = 48;

/// The least items of those that were pushed, as many as the bound allows, and at least one.
pub(in crate::engine::fjall) struct Least {
    heap: BinaryHeap<Box<[u8]>>,
    bytes: usize,
    bytes_max: usize,
    has_left_out: bool,
}

impl Least {
    pub(in crate::engine::fjall) const fn new(bytes_max: usize) -> Self {
        Self { heap: BinaryHeap::new(), bytes: 0, bytes_max, has_left_out: false }
    }

    /// Adds an item. The greatest are left out once the others reach the bound.
    pub(in crate::engine::fjall) fn push(&mut self, bytes: &[u8]) {
        // Once some were left out there is no room for greater ones, which need no memory then.
        if self.has_left_out && self.heap.peek().is_some_and(|greatest| bytes > &**greatest) {
            return;
        }
        self.bytes += bytes.len() + OVERHEAD;
        self.heap.push(bytes.into());
        while let Some(greatest) = self.heap.peek() {
            let others = self.bytes - greatest.len() - OVERHEAD;
            if others < self.bytes_max {
                return;
            }
            self.bytes = others;
            self.heap.pop();
            self.has_left_out = true;
        }
    }

    /// Returns true if items were left out because they were greater.
    pub(in crate::engine::fjall) const fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// Returns the items, in order.
    pub(in crate::engine::fjall) fn into_sorted(self) -> Vec<Box<[u8]>> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 3000;

    #[test]
    fn the_least_are_kept_in_order() {
        let mut least = Least::new(BYTES_MAX);
        for byte in [9u8, 3, 7, 1, 8, 0, 5, 6] {
            least.push(&vec![byte; BYTES_MAX / 3 - OVERHEAD]);
        }
        assert!(least.has_left_out());
        let kept: Vec<u8> = least.into_sorted().iter().map(|bytes| bytes[0]).collect();
        assert_eq!(kept, [0, 1, 3]);
    }

    #[test]
    fn one_is_kept_whatever_its_length() {
        let mut least = Least::new(BYTES_MAX);
        least.push(&vec![1; 3 * BYTES_MAX]);
        least.push(&[2; 3]);
        assert_eq!(least.into_sorted().len(), 1);
    }
}
