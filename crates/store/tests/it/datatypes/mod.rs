//! Data types and counters.

mod counters;
mod operations;
mod requests;
