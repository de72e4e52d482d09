//! The least of many bytes, within a bound of memory.

use std::collections::BinaryHeap;

/// The bytes that one of them takes beside its own: a pointer with its length, in a vector that may be half
/// empty, and what an allocator adds.
const OVERHEAD: usize = 48;

/// The least of what was pushed, as much as the bound allows, and at least one.
pub(in crate::engine::fjall) struct Least {
    heap: BinaryHeap<Box<[u8]>>,
    octets: usize,
    octets_max: usize,
    has_left_out: bool,
}

impl Least {
    pub(in crate::engine::fjall) const fn new(octets_max: usize) -> Self {
        Self { heap: BinaryHeap::new(), octets: 0, octets_max, has_left_out: false }
    }

    /// Adds bytes. The greatest are left out once the others reach the bound.
    pub(in crate::engine::fjall) fn push(&mut self, octets: &[u8]) {
        // Once some were left out there is no room for greater ones, which need no memory then.
        if self.has_left_out && self.heap.peek().is_some_and(|greatest| octets > &**greatest) {
            return;
        }
        self.octets += octets.len() + OVERHEAD;
        self.heap.push(octets.into());
        while let Some(greatest) = self.heap.peek() {
            let others = self.octets - greatest.len() - OVERHEAD;
            if others < self.octets_max {
                return;
            }
            self.octets = others;
            self.heap.pop();
            self.has_left_out = true;
        }
    }

    /// Returns true if greater bytes were left out.
    pub(in crate::engine::fjall) const fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// Returns the least rows, in order.
    pub(in crate::engine::fjall) fn into_sorted(self) -> Vec<Box<[u8]>> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCTETS_MAX: usize = 3000;

    #[test]
    fn the_least_are_kept_in_order() {
        let mut least = Least::new(OCTETS_MAX);
        for octet in [9u8, 3, 7, 1, 8, 0, 5, 6] {
            least.push(&vec![octet; OCTETS_MAX / 3 - OVERHEAD]);
        }
        assert!(least.has_left_out());
        let kept: Vec<u8> = least.into_sorted().iter().map(|octets| octets[0]).collect();
        assert_eq!(kept, [0, 1, 3]);
    }

    #[test]
    fn one_is_kept_whatever_its_length() {
        let mut least = Least::new(OCTETS_MAX);
        least.push(&vec![1; 3 * OCTETS_MAX]);
        least.push(&[2; 3]);
        assert_eq!(least.into_sorted().len(), 1);
    }
}
