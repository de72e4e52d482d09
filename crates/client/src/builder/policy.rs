//! What is done by itself beyond the one exchange that was asked for.

/// What a call does by itself.
#[derive(Clone, Default)]
pub(crate) struct Policy {}
