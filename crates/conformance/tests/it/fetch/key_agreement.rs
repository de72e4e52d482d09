//! What `alula get` agrees on with the TLS of others: the hybrid where they have it, curves where they have nothing else.

use std::process::Command;

use alula_conformance::alula::{Reach, fetch};
use alula_conformance::certificates::Certificates;
use alula_conformance::peers::golang;
use alula_conformance::program::Program;
use alula_conformance::{environment, ports};

/// The end of the line in which `-v` tells of TLS.
fn agreed(url: &str, certificates: &Certificates) -> String {
    let outcome = fetch("get", url, &Reach::Tls(certificates), &["-v"]);
    let told = outcome.stderr.lines().find_map(|line| line.strip_prefix("* SSL connection using "));
    let told = told.unwrap_or_else(|| panic!("{outcome}")).to_owned();
    let _ = outcome.expect_success();
    let (version, group) = (told.split(' ').next(), told.split(' ').next_back());
    format!("{} {}", version.unwrap_or_default(), group.unwrap_or_default())
}

/// Go has its own ML-KEM, and prefers the hybrid as well.
#[test]
fn go_agrees_on_the_hybrid() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let go = golang::start(&certificates);
    let url = go.url(&Reach::Tls(&certificates), "");
    assert_eq!(agreed(&url, &certificates), "TLSv1.3 X25519MLKEM768");
}

#[test]
fn openssl_agrees_on_the_curve_that_it_has() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    for (group, name) in [("X25519", "X25519"), ("P-256", "secp256r1"), ("P-384", "secp384r1")] {
        for (version, told) in [("-tls1_3", "TLSv1.3"), ("-tls1_2", "TLSv1.2")] {
            let (_server, url) = s_server(&certificates, &["-groups", group, version]);
            assert_eq!(agreed(&url, &certificates), format!("{told} {name}"));
        }
    }
}

/// openssl's own server, with these options.
fn s_server(certificates: &Certificates, options: &[&str]) -> (Program, String) {
    let port = ports::free();
    let mut command = Command::new("openssl");
    command.args(["s_server", "-www", "-quiet", "-accept", &port.to_string()]).args(options);
    command.arg("-cert").arg(certificates.certificate()).arg("-key").arg(certificates.key());
    let mut program = Program::start(&mut command);
    program.wait_for_port(port);
    (program, format!("https://localhost:{port}/"))
}
