//! Objects, contents and causal contexts: pure functions over bytes, without HTTP, an engine or a clock.
//!
//! An object is kept as one [`Record`], from which a read borrows; [`write()`] makes the next record of the
//! last one and a new content. Each write is named by a [`Dot`]. A [`Context`] names the dots that a client
//! was given, and a write that carries it replaces exactly those.

mod attributes;
pub(crate) mod bytes;
mod content;
mod context;
mod dot;
mod moment;
mod record;
mod table;
pub mod term;
#[cfg(test)]
mod tests;
pub mod types;
mod vtag;
mod write;

pub use attributes::{Attribute, Attributes};
pub use content::Content;
use context::Covered;
pub use context::{Context, ContextError, SPANS_MAX};
pub use dot::{Actor, Dot, Dots};
pub use moment::Moment;
pub use record::{Damaged, Record};
pub use vtag::{Vtag, VtagText};
pub use write::{NewContent, Refused, Rules, write};
