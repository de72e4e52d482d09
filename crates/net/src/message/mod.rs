//! The coding of content, and the date and times of messages.

pub(crate) mod content;
pub mod date;
pub(crate) mod decoder;
pub(crate) mod encoder;
pub(crate) mod timing;
