//! Maps: fields with a data type each, which change and merge by their own rules.

use std::cmp::Ordering;
use std::mem::take;

use super::dot_map::{DOT_SET_OCTETS_MIN, DotSet};
use super::pairs::for_each_pair;
use super::{Change, Kind, Operation, Seen, Unfit, Value};
use crate::model::octets::{Octets, put_counted, put_number};

/// The most maps that may lie in each other.
pub const NESTING_MAX: usize = 32;

/// The fewest octets of a field as it is kept: a flag that is off and has an empty name.
const FIELD_OCTETS_MIN: usize = 1 + DOT_SET_OCTETS_MIN + 2;

/// The name of a field of a map; fields of one name and two kinds are two fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName {
    /// The name.
    pub name: Vec<u8>,
    /// The kind of its value.
    pub kind: Kind,
}

/// A map, whose names and values are borrowed from the record that it was read from and from the operations
/// that made them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map<'a>(Vec<Field<'a>>);

/// A field. Those of a map ascend by their names and kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field<'a> {
    name: &'a [u8],
    /// The changes that the field stands on; none while it is about to be removed.
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

impl FieldName {
    fn key(&self) -> (&[u8], Kind) {
        (&self.name, self.kind)
    }
}

impl<'a> Map<'a> {
    /// The names of the fields and their values, by ascending names and kinds.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &Value<'a>)> {
        self.0.iter().map(|field| (field.name, &field.value))
    }

    pub(super) fn change(
        &mut self,
        updates: &'a [(FieldName, Operation)],
        removes: &[FieldName],
        change: &Change<'_>,
        nesting: usize,
    ) -> Result<(), Unfit> {
        let mut updates: Vec<_> = updates.iter().collect();
        updates.sort_by_key(|(name, _)| name.key());
        for name in removes {
            let is_updated = updates.binary_search_by_key(&name.key(), |(name, _)| name.key()).is_ok();
            self.remove(name, is_updated, change)?;
        }
        self.drop_removed();
        self.update(&updates, change, nesting)
    }

    /// Takes the dots of a field that is to be removed.
    fn remove(&mut self, name: &FieldName, is_updated: bool, change: &Change<'_>) -> Result<(), Unfit> {
        let place = self.0.binary_search_by_key(&name.key(), Field::key).ok();
        let field = place.map(|place| &mut self.0[place]).filter(|field| !field.dots.is_empty());
        match (field, change.context) {
            (None, None) if !is_updated => return Err(Unfit::Absent),
            (None, _) => {}
            (Some(field), Some(context)) => field.forget(&context),
            (Some(field), None) => field.dots = DotSet::default(),
        }
        Ok(())
    }

    /// Changes fields, whose names ascend.
    fn update(
        &mut self,
        updates: &[&'a (FieldName, Operation)],
        change: &Change<'_>,
        nesting: usize,
    ) -> Result<(), Unfit> {
        let known = self.0.len();
        for (name, operation) in updates {
            let place = match self.0[..known].binary_search_by_key(&name.key(), Field::key) {
                Ok(place) => place,
                Err(_) => self.place_of_new(name, known, updates.len()),
            };
            let field = &mut self.0[place];
            field.value.change(operation, change, nesting + 1)?;
            field.dots = DotSet::of(change.dot);
        }
        if self.0.len() > known {
            // Two runs that are in order are merged.
            self.0.sort_by(Field::order);
        }
        Ok(())
    }

    /// The place of a field behind those that were known. An operation may name one twice.
    fn place_of_new(&mut self, name: &'a FieldName, known: usize, most: usize) -> usize {
        if self.0[known..].last().is_none_or(|last| last.key() != name.key()) {
            // A large map is not to make room for twice as many.
            self.0.reserve_exact(if self.0.len() == known { most } else { 0 });
            self.0.push(Field::new(&name.name, name.kind));
        }
        self.0.len() - 1
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

    pub(super) fn read(octets: &mut Octets<'a>, nesting: usize, reserved: usize) -> Option<Self> {
        let count = octets.count_of(FIELD_OCTETS_MIN, reserved)?;
        let mut fields: Vec<Field<'a>> = Vec::with_capacity(count);
        for number in 1..=count {
            // The fields to come have made their room, which what lies in this one cannot make again.
            let reserved = reserved + (count - number) * FIELD_OCTETS_MIN;
            let name = octets.counted()?;
            let dots = DotSet::read(octets).filter(|dots| !dots.is_empty())?;
            let value = Value::read(octets, nesting + 1, reserved)?;
            let field = Field { name, dots, value };
            if fields.last().is_some_and(|last| last.key() >= field.key()) {
                return None;
            }
            fields.push(field);
        }
        Some(Self(fields))
    }
}
