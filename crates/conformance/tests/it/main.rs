//! Tests of whole programs that may run side by side; `tests/process` has those that may not.

mod fetch;
mod h1_parsers;
mod interop;
mod package;
mod serve;
mod server_cases;
mod suites;
