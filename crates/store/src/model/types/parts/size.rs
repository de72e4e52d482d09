//! The bounds of a data type beside the bytes of its object.

use crate::model::types::{Kind, Map, Unfit, Value};

/// The most elements of sets and fields of maps in a data type, nested maps included.
pub const ELEMENTS_MAX: usize = 1_000_000;

/// The most counts of different elements in a map, nested maps included.
pub const SKETCHES_MAX: usize = 1_024;

/// The numbers that are bounded.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model::types) struct Size {
    elements: usize,
    sketches: usize,
}

impl Size {
    pub(in crate::model::types) fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Set(set) | Value::GrowSet(set) => Self { elements: set.len(), sketches: 0 },
            Value::Distinct(_) => Self { elements: 0, sketches: 1 },
            Value::Map(map) => Self::of_map(map),
            Value::Counter(_) | Value::Register(_) | Value::Flag(_) => Self::default(),
        }
    }

    fn of_map(map: &Map<'_>) -> Self {
        map.fields().fold(Self::default(), |sum, (_, value)| {
            let Self { elements, sketches } = Self::of(value);
            Self { elements: sum.elements + 1 + elements, sketches: sum.sketches + sketches }
        })
    }

    /// Checks the bounds after a change. One that makes a data type smaller is taken also beyond them, where
    /// an older store let it grow.
    pub(in crate::model::types) const fn check_after(self, before: Self) -> Result<(), Unfit> {
        if self.elements > ELEMENTS_MAX && self.elements > before.elements {
            return Err(Unfit::Elements);
        }
        if self.sketches > SKETCHES_MAX && self.sketches > before.sketches {
            return Err(Unfit::Sketches);
        }
        Ok(())
    }
}

/// The counts of different elements that one change may still add to maps. More do not fit, whatever the
/// change removes: it does so before it adds.
#[derive(Debug)]
pub(in crate::model::types) struct Growth {
    sketches_left: usize,
}

impl Growth {
    pub(in crate::model::types) fn from(before: Size) -> Self {
        Self { sketches_left: SKETCHES_MAX.max(before.sketches) }
    }

    /// Counts a field before it is added.
    pub(in crate::model::types) fn add(&mut self, kind: Kind) -> Result<(), Unfit> {
        if kind == Kind::Distinct {
            self.sketches_left = self.sketches_left.checked_sub(1).ok_or(Unfit::Sketches)?;
        }
        Ok(())
    }
}
