//! What fuzzing tries: one function for each target, which takes any octets and panics when something is wrong.
//!
//! The functions know no fuzzer. `fuzz/` gives them to libFuzzer, and the tests of this crate run them over `corpus/` and
//! over mutations of it, so that `cargo test` on any toolchain catches what fuzzing has caught once.
//!
//! Rule 1: a body is a function of its octets alone: no clock, no random numbers, no file; but for `cookies`, as a jar reads
//! the clock to tell what has expired.
//! Rule 2: what a body expects it works out in a way that is simpler than the code under test, and slower for it.
//! Rule 3: octets are decisions in the order of their use, and zeroes follow the last one (see `input`), so that a part of
//! an input that fuzzing has found means the same in another input.
//! Rule 4: parsers of the store run within `memory::bounded`, which fails one that takes many times the
//! memory of its input. It knows only of binaries that install the counting allocator, as those here and
//! those of `fuzz/` do.
#![forbid(unsafe_code)]

#[path = "../../cli/src/fetch/tls/certificate.rs"]
mod certificate_words;
#[path = "../../cli/src/text/disposition.rs"]
mod disposition;
mod fields;
mod h1;
mod h2;
mod hpack;
mod input;
mod memory;
mod store;
mod whole;

pub use fields::*;
pub use h1::*;
pub use h2::*;
pub use hpack::*;
pub use memory::{Use, take_worst};
pub use store::*;
pub use whole::*;
