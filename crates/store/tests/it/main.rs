//! The store over HTTP and by its engines: each rule of its answers, and what is on disk after failures.
#![forbid(unsafe_code)]

#[cfg(feature = "fuzzing")]
mod access;
mod causality;
mod datatypes;
mod engine_metrics;
mod fjall;
mod hostile;
mod listing;
mod properties;
mod service;
mod support;
mod transfers;
mod wire;
