//! Tools that the tests of every layer share: allocation counts, a harness that runs each case in a process
//! of its own, byte splitters, lists of fields, traffic, objects, hexadecimal, random numbers and vectors.
//!
//! Only bytes, texts and closures go in and out, so that the unit tests of any crate can use it. Not
//! published.
#![forbid(unsafe_code)]

mod again;
mod allocations;
#[cfg(feature = "alone")]
mod alone;
pub mod hex;
pub mod lists;
pub mod objects;
mod rng;
pub mod routes;
mod splits;
pub mod traffic;
mod vectors;
mod windows;

pub use again::again;
pub use allocations::allocations;
#[cfg(feature = "alone")]
pub use alone::{Alone, run_alone, run_one_by_one};
pub use rng::Rng;
pub use splits::{Pieces, at_every_split, byte_by_byte, cuts_in_two, random_split, truncations, whole};
pub use vectors::{Case, Vectors, testdata};
pub use windows::Windows;

/// The counting allocator, so that a test binary installs it without naming another crate:
/// `#[global_allocator] static ALLOCATOR: testkit::Tally = testkit::Tally::system();`.
pub use alula_tally::Tally;
