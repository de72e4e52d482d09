//! Protocol machines of any version as tests drive them: one end of a connection, a pair of ends with a wire between them, and messages as
//! text. Not published.
//!
//! The contract of machines is all that is known here, so that one suite holds every version to it (`tests/contract.rs`).
#![forbid(unsafe_code)]

mod end;
mod messages;
mod pair;

pub use end::End;
pub use messages::{fields, show_content, show_fields, show_head};
pub use pair::Pair;
