//! The least of many names or entries, within a bound of octets.

use std::collections::BinaryHeap;

use ::fjall::Slice;

/// The octets that are held: as long as four pages.
const OCTETS_MAX: usize = 1024 * 1024;

/// The least of what was pushed, as much as the bound allows, and at least one.
#[derive(Default)]
pub(super) struct Least {
    heap: BinaryHeap<Slice>,
    octets: usize,
    has_left_out: bool,
}

impl Least {
    /// Adds octets. The greatest are left out once the others reach the bound.
    pub(super) fn push(&mut self, octets: Slice) {
        self.octets += octets.len();
        self.heap.push(octets);
        while let Some(greatest) = self.heap.peek() {
            let others = self.octets - greatest.len();
            if others < OCTETS_MAX {
                return;
            }
            self.octets = others;
            self.heap.pop();
            self.has_left_out = true;
        }
    }

    /// Returns true if greater octets were left out.
    pub(super) const fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// The least, in order.
    pub(super) fn into_sorted(self) -> Vec<Slice> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_are_kept_in_order() {
        let mut least = Least::default();
        for octet in [9u8, 3, 7, 1, 8, 0, 5] {
            least.push(Slice::from(vec![octet; OCTETS_MAX / 3]));
        }
        assert!(least.has_left_out());
        let kept: Vec<u8> = least.into_sorted().iter().map(|octets| octets[0]).collect();
        assert_eq!(kept, [0, 1, 3, 5]);
    }

    #[test]
    fn one_is_kept_whatever_its_length() {
        let mut least = Least::default();
        least.push(Slice::from(vec![1; 3 * OCTETS_MAX]));
        least.push(Slice::from(vec![2; 3]));
        assert_eq!(least.into_sorted().len(), 1);
    }
}
