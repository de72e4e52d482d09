//! Sets whose elements can be removed; an element that is added and removed concurrently stays.

use std::cmp::Ordering;
use std::mem::take;

use super::parts::dot_map::{DOT_SET_BYTES_MIN, DotSet};
use super::parts::pairs::for_each_pair;
use super::{Elements, Making, Seen, Unfit};
use crate::model::bytes::{Bytes, put_counted, put_number};

/// The fewest bytes of an element in stored form: the empty one.
const ELEMENT_BYTES_MIN: usize = 1 + DOT_SET_BYTES_MIN;

/// A set, whose elements are borrowed from the record that was read and from the operations on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set<'a>(Vec<Element<'a>>);

/// An element. The elements of a set ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Element<'a> {
    bytes: &'a [u8],
    /// The changes that keep the element; none while it is about to be removed.
    dots: DotSet,
}

impl<'a> Element<'a> {
    fn order(&self, other: &Self) -> Ordering {
        self.bytes.cmp(other.bytes)
    }
}

impl<'a> Set<'a> {
    /// Returns the elements, ascending.
    pub fn elements(&self) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().map(|element| element.bytes)
    }

    /// Returns the count of elements.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn change(
        &mut self,
        removes: Elements<'_>,
        adds: Elements<'a>,
        change: &Making<'_>,
    ) -> Result<(), Unfit> {
        for element in removes {
            self.remove(element, change)?;
        }
        self.drop_removed();
        self.add(adds, change);
        Ok(())
    }

    /// Takes the dots of an element that is to be removed.
    fn remove(&mut self, bytes: &[u8], change: &Making<'_>) -> Result<(), Unfit> {
        let place = self.place(bytes).ok();
        let element = place.map(|place| &mut self.0[place]).filter(|element| !element.dots.is_empty());
        match (element, &change.context) {
            (None, None) => return Err(Unfit::Absent),
            (None, Some(_)) => {}
            (Some(element), Some(context)) => element.dots.forget(context),
            (Some(element), None) => element.dots = DotSet::default(),
        }
        Ok(())
    }

    /// Adds elements, which ascend.
    fn add(&mut self, mut adds: Elements<'a>, change: &Making<'_>) {
        let dots = DotSet::of(change.dot);
        let known = self.0.len();
        while let Some(bytes) = adds.next() {
            match self.0[..known].binary_search_by_key(&bytes, |element| element.bytes) {
                Ok(place) => self.0[place].dots = dots.clone(),
                Err(_) => {
                    // A large set is not to make room for twice as many.
                    self.0.reserve_exact(if self.0.len() == known { 1 + adds.left() } else { 0 });
                    self.0.push(Element { bytes, dots: dots.clone() });
                }
            }
        }
        // Two runs that are in order are merged, unless they are one.
        if !self.0[known.saturating_sub(1)..].is_sorted_by(|one, next| one.bytes < next.bytes) {
            self.0.sort_by(Element::order);
        }
    }

    fn place(&self, bytes: &[u8]) -> Result<usize, usize> {
        self.0.binary_search_by_key(&bytes, |element| element.bytes)
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.iter_mut().for_each(|element| element.dots.forget(seen));
        self.drop_removed();
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        let none = DotSet::default();
        for_each_pair(take(&mut self.0), &other.0, Element::order, |element, other| {
            let Some(bytes) = element.as_ref().or(other).map(|element| element.bytes) else { return };
            let mut dots = element.map_or_else(DotSet::default, |element| element.dots);
            dots.merge(ours, other.map_or(&none, |other| &other.dots), theirs);
            if !dots.is_empty() {
                self.0.push(Element { bytes, dots });
            }
        });
    }

    fn drop_removed(&mut self) {
        self.0.retain(|element| !element.dots.is_empty());
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for Element { bytes, dots } in &self.0 {
            put_counted(bytes, out);
            dots.put(out);
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'a>, reserved: usize) -> Option<Self> {
        let count = bytes.count_of(ELEMENT_BYTES_MIN, reserved)?;
        let mut elements: Vec<Element<'a>> = Vec::with_capacity(count);
        for _ in 0..count {
            let element = bytes.counted()?;
            let dots = DotSet::read(bytes).filter(|dots| !dots.is_empty())?;
            if elements.last().is_some_and(|last| last.bytes >= element) {
                return None;
            }
            elements.push(Element { bytes: element, dots });
        }
        Some(Self(elements))
    }
}
