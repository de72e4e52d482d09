//! Tests of the trials: over their corpus, over mutations of it, and over the worst inputs of the store's
//! parsers.

mod corpus;
mod long;
mod support;
mod worst;

/// Counts what the parsers hold.
#[global_allocator]
static ALLOCATOR: alula_tally::Tally = alula_tally::Tally::system();
