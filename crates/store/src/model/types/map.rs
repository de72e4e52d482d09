//! Maps: fields with a data type each, which change and merge by their own rules.

use std::collections::{BTreeMap, BTreeSet};

use super::dot_map::DotSet;
use super::{Change, Kind, Operation, Seen, Unfit, Value};
use crate::model::octets::{Octets, put_counted, put_number};

/// The most maps that may lie in each other.
pub const NESTING_MAX: usize = 32;

/// The name of a field of a map; fields of one name and two kinds are two fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName {
    /// The name.
    pub name: Vec<u8>,
    /// The kind of its value.
    pub kind: Kind,
}

/// A map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map(BTreeMap<FieldName, Field>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    /// The changes that the field stands on.
    dots: DotSet,
    value: Value,
}

impl Field {
    fn new(kind: Kind) -> Self {
        Self { dots: DotSet::default(), value: Value::new(kind) }
    }

    fn forget(&mut self, seen: &impl Seen) {
        self.dots.forget(seen);
        self.value.forget(seen);
    }
}

impl Map {
    /// The fields and their values, by ascending names.
    pub fn fields(&self) -> impl Iterator<Item = (&FieldName, &Value)> {
        self.0.iter().map(|(name, field)| (name, &field.value))
    }

    pub(super) fn change(
        &mut self,
        updates: Vec<(FieldName, Operation)>,
        removes: &[FieldName],
        change: &Change<'_>,
        nesting: usize,
    ) -> Result<(), Unfit> {
        let updated: BTreeSet<_> = updates.iter().map(|(name, _)| name).collect();
        for name in removes {
            self.remove(name, updated.contains(name), change)?;
        }
        for (name, operation) in updates {
            let kind = name.kind;
            let field = self.0.entry(name).or_insert_with(|| Field::new(kind));
            field.value.change(operation, change, nesting + 1)?;
            field.dots = DotSet::of(change.dot, ());
        }
        Ok(())
    }

    fn remove(&mut self, name: &FieldName, is_updated: bool, change: &Change<'_>) -> Result<(), Unfit> {
        match (self.0.get_mut(name), change.context) {
            (None, None) if !is_updated => return Err(Unfit::Absent),
            (None, _) => {}
            (Some(field), Some(context)) => {
                field.forget(&context);
                if field.dots.is_empty() {
                    self.0.remove(name);
                }
            }
            (Some(_), None) => drop(self.0.remove(name)),
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, seen: &impl Seen) {
        self.0.values_mut().for_each(|field| field.forget(seen));
        self.drop_removed();
    }

    pub(super) fn merge(&mut self, ours: &impl Seen, other: &Self, theirs: &impl Seen) {
        for name in other.0.keys() {
            self.0.entry(name.clone()).or_insert_with(|| Field::new(name.kind));
        }
        for (name, field) in &mut self.0 {
            let new = Field::new(name.kind);
            let other = other.0.get(name).unwrap_or(&new);
            field.dots.merge(ours, &other.dots, theirs);
            field.value.merge(ours, &other.value, theirs);
        }
        self.drop_removed();
    }

    fn drop_removed(&mut self) {
        self.0.retain(|_, field| !field.dots.is_empty());
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(self.0.len() as u64, out);
        for (name, field) in &self.0 {
            put_counted(&name.name, out);
            field.dots.put_dots(out);
            field.value.put(out);
        }
    }

    pub(super) fn read(octets: &mut Octets<'_>, nesting: usize) -> Option<Self> {
        let mut fields = BTreeMap::new();
        for _ in 0..octets.number()? {
            let name = octets.counted()?.to_vec();
            let dots = DotSet::read_dots(octets).filter(|dots| !dots.is_empty())?;
            let value = Value::read(octets, nesting + 1)?;
            let name = FieldName { name, kind: value.kind() };
            if fields.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return None;
            }
            fields.insert(name, Field { dots, value });
        }
        Some(Self(fields))
    }
}
