//! A verdict over several measurements of the same work.

use std::fmt::Debug;

/// The windows that must agree with what is expected, one after the other and to the last.
const STEADY: usize = 8;
/// The windows that are measured at most. What comes before the steady ones is warming up.
const MEASURED_MAX: usize = 12;

/// A verdict over windows of the same work: each of the last 8 windows must show exactly the expected cost,
/// and at most 12 are measured. One lucky window proves nothing, and neither does a cost below the expected
/// one.
///
/// ```
/// use alula_testkit::Windows;
///
/// let mut costs = [3, 0, 0, 0, 0, 0, 0, 0, 0].into_iter();
/// let mut windows = Windows::expecting(0);
/// while windows.are_open() {
///     windows.add(costs.next().unwrap());
/// }
/// assert!(windows.are_met());
/// ```
#[derive(Debug)]
pub struct Windows<T> {
    expected: T,
    costs: Vec<T>,
}

impl<T: Debug + PartialEq> Windows<T> {
    /// Returns no windows yet, each of which is to show this cost.
    pub fn expecting(expected: T) -> Self {
        Self { expected, costs: Vec::with_capacity(MEASURED_MAX) }
    }

    /// Returns true while another window has to be measured: no verdict stands, and one for the better is
    /// possible.
    pub fn are_open(&self) -> bool {
        !self.are_met() && self.costs.len() + STEADY - self.steady() <= MEASURED_MAX
    }

    /// Adds the cost of one window.
    pub fn add(&mut self, cost: T) {
        self.costs.push(cost);
    }

    /// Returns true if each of the last 8 windows showed the expected cost.
    pub fn are_met(&self) -> bool {
        self.steady() >= STEADY
    }

    /// Returns the costs so far, the oldest first.
    pub fn costs(&self) -> &[T] {
        &self.costs
    }

    fn steady(&self) -> usize {
        self.costs.iter().rev().take_while(|cost| **cost == self.expected).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(costs: &[i64]) -> (bool, usize) {
        let mut windows = Windows::expecting(0);
        let mut costs = costs.iter();
        while windows.are_open() {
            windows.add(*costs.next().expect("no further window is asked for"));
        }
        (windows.are_met(), windows.costs().len())
    }

    #[test]
    fn eight_in_a_row_are_enough() {
        assert_eq!(verdict(&[0; 8]), (true, 8));
        assert_eq!(verdict(&[9, 7, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]), (true, 12));
    }

    #[test]
    fn a_late_cost_is_a_failure() {
        assert_eq!(verdict(&[0, 0, 0, 0, 1]), (false, 5));
        assert_eq!(verdict(&[1, 0, 0, 0, 0, 0, 0, 0, 1]), (false, 9));
        assert_eq!(verdict(&[1, 1, 1, 1, 1]), (false, 5));
    }

    #[test]
    fn a_negative_cost_is_a_failure() {
        assert_eq!(verdict(&[-1, -1, -1, -1, -1]), (false, 5));
    }
}
