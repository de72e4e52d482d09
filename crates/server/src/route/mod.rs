//! Routes: patterns of paths, compiled into a trie of segments, and the search in it.
//!
//! A pattern is `/`-separated: literals, `{name}` for one segment that is not empty, `{*rest}` for all that
//! follows, also nothing. At each segment a literal goes before `{name}`, the end of a pattern before
//! `{*rest}`, and `{name}` before both; where a choice leads nowhere the next one is tried, so that a path
//! that any pattern matches is found.
//!
//! Rule 1: paths are compared raw, as bytes; nothing is decoded before a route is found.
//! Rule 2: the caller cuts off the query; a path begins with a slash.
//! Rule 3: a search allocates nothing, and visits each node of the trie at most once: a node stands at one
//! depth, and the segment at a depth is the same on every way there. Its time is bounded by the nodes times
//! the bytes of the path.

mod builder;
mod compile;
mod cut;
mod decode;
mod error;
mod judge;
mod pattern;
mod prefix;
mod redirect;
mod segments;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use builder::Builder;
pub(crate) use decode::decode;
pub use error::RouteError;
pub(crate) use judge::Refused;
pub(crate) use pattern::below;
pub(crate) use prefix::Prefix;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use redirect::SlashChange;
pub use segments::{DotSegments, EmptySegments, EncodedSlash, PlusSign, Segments, TrailingSlash};
#[cfg(feature = "fuzzing")]
pub(crate) use table::Found;
pub(crate) use table::{Outcome, RouteEntry, Table};
