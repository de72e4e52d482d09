//! Calls of the client: those that wait, those of many runtimes, and what is told of their steps.

mod blocking;
mod runtimes;
mod watched;
