//! Tests of `alula serve` and `alula echo` as servers of other programs.

mod echo;
mod files;
mod load;
mod metrics;
mod paths;
mod stopping;
