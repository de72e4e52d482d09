//! The parts that data types are made of: clocks, dots, pairs, bounds.

pub(in crate::model::types) mod clock;
pub(in crate::model::types) mod dot_map;
pub(in crate::model::types) mod pairs;
pub(in crate::model::types) mod size;
