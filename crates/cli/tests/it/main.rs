//! The program as it is run: its arguments, what it sends, shows, serves and stores, and how it ends.
#![forbid(unsafe_code)]

mod beside;
mod output;
mod sending;
mod serve;
mod store;
mod support;
mod tls;
mod tools;
