//! Suites and clients that other people wrote, run against the program.

mod h2spec;
mod h2specd;
mod hpack;
mod riak_java;
mod riak_python;
