//! hyper, client and server, in this process.

mod client;
mod server;

pub use client::Client;
pub use server::start;

/// Larger than any field section of the tests: hyper's own limit is 16 KiB.
const FIELD_SECTION_BYTES: u32 = 1024 * 1024;
