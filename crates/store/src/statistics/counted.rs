//! The operations that are counted but not timed, by Riak's names for their counts.

use crate::model::types::Kind;

/// An operation that is counted when it begins: its request was taken, and the engine is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A query of an index.
    IndexQuery,
    /// A list of keys or of buckets.
    List,
    /// A walk along links, which is a pipeline in Riak.
    LinkWalk,
    CounterRead,
    CounterWrite,
    SetRead,
    SetWrite,
    MapRead,
    MapWrite,
    DistinctRead,
    DistinctWrite,
}

impl Counted {
    /// The operations with the names of their counts: for the last minute and, where Riak has one, since the
    /// start.
    pub(crate) const FIGURES: [(Self, &str, Option<&str>); 11] = [
        (Self::IndexQuery, "index_fsm_create", None),
        (Self::List, "list_fsm_create", Some("list_fsm_create_total")),
        (Self::LinkWalk, "pipeline_create_one", Some("pipeline_create_count")),
        (Self::CounterRead, "node_gets_counter", Some("node_gets_counter_total")),
        (Self::CounterWrite, "node_puts_counter", Some("node_puts_counter_total")),
        (Self::SetRead, "node_gets_set", Some("node_gets_set_total")),
        (Self::SetWrite, "node_puts_set", Some("node_puts_set_total")),
        (Self::MapRead, "node_gets_map", Some("node_gets_map_total")),
        (Self::MapWrite, "node_puts_map", Some("node_puts_map_total")),
        (Self::DistinctRead, "node_gets_hll", Some("node_gets_hll_total")),
        (Self::DistinctWrite, "node_puts_hll", Some("node_puts_hll_total")),
    ];

    /// Returns the count for the read of a data type. Riak counts none of grow-only sets apart.
    pub(crate) const fn read(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Counter => Some(Self::CounterRead),
            Kind::Set => Some(Self::SetRead),
            Kind::Map => Some(Self::MapRead),
            Kind::Distinct => Some(Self::DistinctRead),
            Kind::GrowSet | Kind::Register | Kind::Flag => None,
        }
    }

    /// Returns the count for the change of a data type.
    pub(crate) const fn write(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Counter => Some(Self::CounterWrite),
            Kind::Set => Some(Self::SetWrite),
            Kind::Map => Some(Self::MapWrite),
            Kind::Distinct => Some(Self::DistinctWrite),
            Kind::GrowSet | Kind::Register | Kind::Flag => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_in_the_order_of_what_they_count() {
        for (at, (counted, _, _)) in Counted::FIGURES.into_iter().enumerate() {
            assert_eq!(counted as usize, at);
        }
    }
}
