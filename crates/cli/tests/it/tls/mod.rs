//! Certificates, suites and groups.

mod agreed;
mod chains;
mod trusted;
