//! Alula in the types of others: the `http` crate, tower, axum; and beside hyper.

mod beside_hyper;
mod conversions;
mod one_suite;
