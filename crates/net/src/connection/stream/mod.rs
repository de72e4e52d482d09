//! The streams of a connection: a slot for each, with its deadlines, pace and counts.

pub(crate) mod answer_notes;
pub(crate) mod counts;
pub(crate) mod deadlines;
pub(crate) mod incoming;
pub(crate) mod pace;
pub(crate) mod share;
pub(crate) mod slot;
pub(crate) mod stream_pace;
pub(crate) mod table;
pub(crate) mod tallies;
pub(crate) mod tally;
