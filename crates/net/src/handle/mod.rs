//! The handles of callers and handlers: a stream, its content, its writer.

pub(crate) mod body;
pub(crate) mod deadlines;
pub(crate) mod debug;
pub(crate) mod encoding;
pub(crate) mod respond;
pub(crate) mod send_file;
pub(crate) mod stream;
pub(crate) mod writer;
