//! The coding of content, and what a message is dated and timed with.

pub(crate) mod content;
pub mod date;
pub(crate) mod decoder;
pub(crate) mod encoder;
pub(crate) mod timing;
