//! `alula hpack …`: the codec of field sections (RFC 7541) for test suites and for the curious.

mod codec;
mod hex;
pub(crate) mod pipe;
pub(crate) mod story;
