//! `alula get` beside curl, with servers that other people wrote.

use alula_conformance::beside_curl::cells::Row;
use alula_conformance::beside_curl::rows::{GO, H2O, NGHTTPD, NGINX, PYTHON, PYTHON_1_0};
use alula_conformance::environment;

fn run(row: &Row) {
    if !environment::no_peers() {
        row.run();
    }
}

#[test]
fn nginx() {
    run(&NGINX);
}

#[test]
fn go() {
    run(&GO);
}

#[test]
fn python() {
    run(&PYTHON);
}

#[test]
fn python_of_http_1_0() {
    run(&PYTHON_1_0);
}

#[test]
fn nghttpd() {
    run(&NGHTTPD);
}

#[test]
fn h2o() {
    run(&H2O);
}
