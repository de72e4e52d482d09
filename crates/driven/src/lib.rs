//! Protocol machines of any version as tests drive them: one end of a connection, a pair of ends with a wire
//! between them, and messages as text. Not published.
//!
//! An [`End`] writes down all that it hears. A driver that does something else with it is a [`Hearer`] of its
//! own.
//!
//! The contract of machines is all that is known here, so that one suite holds every version to it
//! (`tests/contract.rs`).
#![forbid(unsafe_code)]

mod content;
mod end;
mod hearing;
mod messages;
mod pair;

pub use content::Content;
pub use end::End;
pub use hearing::{Hearer, feed};
pub use messages::{fields, show_content, show_fields, show_head, take_head, take_trailers};
pub use pair::Pair;
