//! The matrix, our client's half: `alula get` and the library's client with servers that other people wrote.

use alula_conformance::environment;
use alula_conformance::interop::matrix::Row;
use alula_conformance::interop::servers::{self, Served};

fn run(row: &Row<Served>, serve: fn() -> Served) {
    if !environment::no_peers() {
        row.run(&serve());
    }
}

#[test]
fn nghttpd() {
    run(&servers::NGHTTPD, servers::nghttpd);
}

#[test]
fn nginx() {
    run(&servers::NGINX, servers::nginx);
}

#[test]
fn h2o() {
    run(&servers::H2O, servers::h2o);
}

#[test]
fn go() {
    run(&servers::GO, servers::go);
}

#[test]
fn hyper() {
    run(&servers::HYPER, servers::hyper);
}

#[test]
fn node() {
    run(&servers::NODE, servers::node);
}
