//! `alula hpack pipe` against Python's hpack: each decodes what the other encodes.

use std::process::Command;
use std::time::Duration;

use alula_conformance::{environment, outcome};

#[test]
fn each_reads_what_the_other_writes() {
    let Some(python) = environment::python() else { return };
    let mut pair = Command::new(python);
    pair.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/hpack_pair.py"));
    pair.arg(environment::program()).args(["20260801", "30"]);
    let outcome = outcome::run(&mut pair, Duration::from_secs(120)).expect_success();
    assert_eq!(outcome.text(), "1200 sections each way agree\n");
}
