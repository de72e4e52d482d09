//! `alula hpack …`: the codec of field sections (RFC 7541), for test suites and curious users.

mod codec;
mod hex;
pub(crate) mod pipe;
pub(crate) mod story;
