//! Sets whose elements can be removed; an element that is added and removed at once stays.

use std::collections::{BTreeMap, BTreeSet};

use super::dot_map::DotSet;
use super::{Change, Seen, Unfit};
use crate::model::octets::{Octets, put_counted, put_number};

/// A set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(BTreeMap<Vec<u8>, DotSet>);

impl Set {
    /// The elements, ascending.
    pub fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().map(Vec::as_slice)
    }

    pub(super) fn change(
        &mut self,
        adds: Vec<Vec<u8>>,
        removes: &[Vec<u8>],
        change: &Change<'_>,
    ) -> Result<(), Unfit> {
        let adds: BTreeSet<_> = adds.into_iter().collect();
        for element in removes {
            self.remove(element, adds.contains(element), change)?;
        }
        self.0.extend(adds.into_iter().map(|element| (element, DotSet::of(change.dot, ()))));
        Ok(())
    }

    fn remove(&mut self, element: &[u8], is_added: bool, change: &Change<'_>) -> Result<(), Unfit> {
        match (self.0.get_mut(element), change.context) {
            (None, None) if !is_added => return Err(Unfit::Absent),
            (None, _) => {}
            (Some(dots), Some(context)) => {
                dots.forget(&context);
                if dots.is_empty() {
                    self.0.remove(element);
                }
            }
            (Some(_), None) => drop(self.0.remove(element)),
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.values_mut().for_each(|dots| dots.forget(seen));
        self.0.retain(|_, dots| !dots.is_empty());
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        let none = DotSet::default();
        for element in other.0.keys() {
            self.0.entry(element.clone()).or_default();
        }
        for (element, dots) in &mut self.0 {
            dots.merge(ours, other.0.get(element).unwrap_or(&none), theirs);
        }
        self.0.retain(|_, dots| !dots.is_empty());
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for (element, dots) in &self.0 {
            put_counted(element, out);
            dots.put_dots(out);
        }
    }

    pub(super) fn read(octets: &mut Octets<'_>) -> Option<Self> {
        let mut elements = BTreeMap::new();
        for _ in 0..octets.number()? {
            let element = octets.counted()?;
            let dots = DotSet::read_dots(octets).filter(|dots| !dots.is_empty())?;
            if elements.last_key_value().is_some_and(|(last, _): (&Vec<u8>, _)| last.as_slice() >= element) {
                return None;
            }
            elements.insert(element.to_vec(), dots);
        }
        Some(Self(elements))
    }
}
