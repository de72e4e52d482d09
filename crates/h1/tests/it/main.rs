//! Tests of the machine of HTTP/1.1 through its public interface.

mod forms;
mod repeats;
mod rules;
mod splits;
mod state;
mod support;
