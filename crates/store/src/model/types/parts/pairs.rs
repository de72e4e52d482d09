//! Merges of sorted lists.

use std::cmp::Ordering;

/// Calls `each` with the items of two sorted lists in their common order: with both where they are equal,
/// else with one.
pub(in crate::model::types) fn for_each_pair<T>(
    own: Vec<T>,
    other: &[T],
    order: impl Fn(&T, &T) -> Ordering,
    mut each: impl FnMut(Option<T>, Option<&T>),
) {
    let (mut own, mut other) = (own.into_iter().peekable(), other.iter().peekable());
    loop {
        let order = match (own.peek(), other.peek()) {
            (None, None) => return,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(own), Some(other)) => order(own, other),
        };
        match order {
            Ordering::Less => each(own.next(), None),
            Ordering::Equal => each(own.next(), other.next()),
            Ordering::Greater => each(None, other.next()),
        }
    }
}
