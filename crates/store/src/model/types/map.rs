//! Maps: fields with a data type each, which change and merge by their own rules.

use std::cmp::Ordering;
use std::iter;
use std::mem::take;

use super::parts::dot_map::{DOT_SET_BYTES_MIN, DotSet};
use super::parts::pairs::for_each_pair;
use super::parts::size::Growth;
use super::{Kind, Making, Removed, Seen, Steps, Unfit, Value};
use crate::model::bytes::{Bytes, put_counted, put_number};

/// The most maps that may be nested.
pub const NESTING_MAX: usize = 32;

/// The fewest bytes of a field in stored form: a flag that is off and has an empty name.
const FIELD_BYTES_MIN: usize = 1 + DOT_SET_BYTES_MIN + 2;

/// The name of a field of a map; fields of one name and two kinds are two fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName {
    /// The name.
    pub name: Vec<u8>,
    /// The kind of its value.
    pub kind: Kind,
}

/// A map, whose names and values are borrowed from the record that was read and from the operations on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map<'a>(Vec<Field<'a>>);

/// A field. The fields of a map ascend by their names and kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field<'a> {
    name: &'a [u8],
    /// The changes that keep the field; none while it is about to be removed.
    dots: DotSet,
    value: Value<'a>,
}

impl<'a> Field<'a> {
    fn new(name: &'a [u8], kind: Kind) -> Self {
        Self { name, dots: DotSet::default(), value: Value::new(kind) }
    }

    const fn key(&self) -> (&'a [u8], Kind) {
        (self.name, self.value.kind())
    }

    fn order(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }

    fn forget(&mut self, seen: &impl Seen) {
        self.dots.forget(seen);
        self.value.forget(seen);
    }

    fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        self.dots.merge(ours, &other.dots, theirs);
        self.value.merge(ours, &other.value, theirs);
    }
}

impl<'a> Map<'a> {
    /// Returns the names of the fields and their values, by ascending names and kinds.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &Value<'a>)> {
        self.0.iter().map(|field| (field.name, &field.value))
    }

    pub(super) fn change(
        &mut self,
        steps: &mut Steps<'a>,
        change: &Making<'_>,
        nesting: usize,
        growth: &mut Growth,
    ) -> Result<(), Unfit> {
        let count = steps.count();
        let removed = iter::repeat_with(|| steps.removed()).take(count).map_while(|removed| removed);
        match &change.context {
            Some(context) => self.forget_fields(removed, context),
            None => self.remove_fields(removed)?,
        }
        self.drop_removed();
        self.update(steps, change, nesting, growth)
    }

    /// Removes what a context has seen from fields, each named field once: a large one may be named again and
    /// again.
    fn forget_fields<'r>(&mut self, removed: impl Iterator<Item = Removed<'r>>, context: &impl Seen) {
        let all = self.0.len();
        let mut places: Vec<_> =
            removed.filter_map(|removed| self.place(removed.name, removed.kind, all).ok()).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().for_each(|place| self.0[place].forget(context));
    }

    /// Takes the dots of fields that are to be removed.
    fn remove_fields<'r>(&mut self, removed: impl Iterator<Item = Removed<'r>>) -> Result<(), Unfit> {
        for Removed { name, kind, is_changed } in removed {
            let place = self.place(name, kind, self.0.len()).ok();
            match place.map(|place| &mut self.0[place].dots).filter(|dots| !dots.is_empty()) {
                Some(dots) => *dots = DotSet::default(),
                None if is_changed => {}
                None => return Err(Unfit::Absent),
            }
        }
        Ok(())
    }

    /// Changes fields, which ascend.
    fn update(
        &mut self,
        steps: &mut Steps<'a>,
        change: &Making<'_>,
        nesting: usize,
        growth: &mut Growth,
    ) -> Result<(), Unfit> {
        let (known, count) = (self.0.len(), steps.count());
        for left in (1..=count).rev() {
            let Some((name, kind)) = steps.changed() else { break };
            let place = match self.place(name, kind, known) {
                Ok(place) => place,
                Err(_) => {
                    growth.add(kind)?;
                    // A large map is not to make room for twice as many.
                    self.0.reserve_exact(if self.0.len() == known { left } else { 0 });
                    self.0.push(Field::new(name, kind));
                    self.0.len() - 1
                }
            };
            let field = &mut self.0[place];
            field.value.change(steps, change, nesting + 1, growth)?;
            field.dots = DotSet::of(change.dot);
        }
        // Two runs that are in order are merged, unless they are one.
        if !self.0[known.saturating_sub(1)..].is_sorted_by(|one, next| one.key() < next.key()) {
            self.0.sort_by(Field::order);
        }
        Ok(())
    }

    /// Returns the index of a field among so many.
    fn place(&self, name: &[u8], kind: Kind, count: usize) -> Result<usize, usize> {
        self.0[..count].binary_search_by_key(&(name, kind), Field::key)
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.iter_mut().for_each(|field| field.forget(seen));
        self.drop_removed();
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        for_each_pair(take(&mut self.0), &other.0, Field::order, |field, other| {
            let Some((name, kind)) = field.as_ref().or(other).map(Field::key) else { return };
            let mut field = field.unwrap_or_else(|| Field::new(name, kind));
            match other {
                Some(other) => field.merge(ours, other, theirs),
                None => field.merge(ours, &Field::new(name, kind), theirs),
            }
            if !field.dots.is_empty() {
                self.0.push(field);
            }
        });
    }

    fn drop_removed(&mut self) {
        self.0.retain(|field| !field.dots.is_empty());
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for field in &self.0 {
            put_counted(field.name, out);
            field.dots.put(out);
            field.value.put(out);
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'a>, nesting: usize, reserved: usize) -> Option<Self> {
        let count = bytes.count_of(FIELD_BYTES_MIN, reserved)?;
        let mut fields: Vec<Field<'a>> = Vec::with_capacity(count);
        for number in 1..=count {
            // The fields to come have made their room, which what lies in this one cannot make again.
            let reserved = reserved + (count - number) * FIELD_BYTES_MIN;
            let name = bytes.counted()?;
            let dots = DotSet::read(bytes).filter(|dots| !dots.is_empty())?;
            let value = Value::read(bytes, nesting + 1, reserved)?;
            let field = Field { name, dots, value };
            if fields.last().is_some_and(|last| last.key() >= field.key()) {
                return None;
            }
            fields.push(field);
        }
        Some(Self(fields))
    }
}
