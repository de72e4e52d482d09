//! h2spec, the conformance suite, against `alula echo`: every case of the strict run, in clear text and over TLS.

use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::Echo;
use alula_conformance::certificates::Certificates;
use alula_conformance::suite::{self, Summary};
use alula_conformance::{environment, outcome};

/// What h2spec 2.2.1 has.
const CASES: u32 = 146;

#[test]
fn every_case_passes_in_clear_text() {
    let all = Summary::all_passed(CASES);
    passes(&["--http2-only"], &[], all);
    // What begins like nothing known is a request of HTTP/1.1 that is none, and is answered so: 400, where a server of HTTP/2
    // alone closes (RFC 9113 §3.4, RFC 9112 §3).
    passes(&[], &[], Summary { passed: CASES - 1, failed: 1, ..all });
}

#[test]
fn every_case_passes_over_tls() {
    passes(&[], &["--tls", "--insecure"], Summary::all_passed(CASES));
}

fn passes(of_server: &[&str], options: &[&str], expected: Summary) {
    if environment::no_peers() {
        return;
    }
    let mut echo = Echo::start_with(&Certificates::new(), |echo| _ = echo.args(of_server));
    let mut h2spec = Command::new(environment::tool("h2spec"));
    h2spec.args(["--strict", "--host", "127.0.0.1", "--port", &echo.port().to_string()]).args(options);
    // A case waits two seconds at most; a server that answers needs a few seconds for all of them.
    let output = outcome::run(&mut h2spec, Duration::from_secs(120)).text();
    let summary = Summary::read(&output);
    assert_eq!(summary, Some(expected), "{}", suite::failures(&output));
    assert!(echo.is_running(), "the suite ended the server");
}
