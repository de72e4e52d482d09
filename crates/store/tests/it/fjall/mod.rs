//! The engine on disk.

mod conformance;
mod failures;
mod kill;
mod large_decisions;
mod long_keys;
mod power;
mod writes;
