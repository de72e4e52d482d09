//! The matrix, our server's half: clients that other people wrote with the library's server.

use alula_conformance::environment;
use alula_conformance::interop::matrix::Row;
use alula_conformance::interop::serving::Serving;
use alula_conformance::interop::{clients, tools};

fn run(row: &Row<Serving>) {
    if !environment::no_peers() {
        row.run(&Serving::default());
    }
}

#[test]
fn nghttp() {
    run(&tools::NGHTTP);
}

#[test]
fn h2load() {
    run(&tools::H2LOAD);
}

#[test]
fn curl() {
    run(&tools::CURL);
}

#[test]
fn go() {
    run(&clients::GO);
}

#[test]
fn hyper() {
    run(&clients::HYPER);
}

#[test]
fn node() {
    run(&clients::NODE);
}

#[test]
fn httpx() {
    run(&clients::HTTPX);
}
