//! Tests of the repository: its rules, and the snapshot of the public API.

mod public_api;
mod repository;
