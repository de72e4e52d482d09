//! An attacker over HTTP/1.1.

mod answers;
mod attacker;

pub use attacker::Http1Attacker;
