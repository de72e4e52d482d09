//! A Go program with what the static servers do not have: see `peers/go/main.go`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::Origin;
use crate::certificates::Certificates;
use crate::outcome;
use crate::program::Program;

/// Starts it.
///
/// # Panics
/// When Go is not there, or the program cannot be built or does not listen.
#[must_use]
pub fn start(certificates: &Certificates) -> Origin {
    let (program, clear, tls) = listening(certificates, "h2");
    Origin { name: "Go", clear, tls, _programs: vec![program] }
}

/// As [`start`], but a server that speaks HTTP/1.1 only, on both ports.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn start_http1_only(certificates: &Certificates) -> Origin {
    let (program, clear, tls) = listening(certificates, "http/1.1");
    Origin { name: "Go without HTTP/2", clear, tls, _programs: vec![program] }
}

fn listening(certificates: &Certificates, protocol: &str) -> (Program, u16, u16) {
    let mut command = Command::new(program());
    command.arg(certificates.certificate()).arg(certificates.key()).arg(protocol);
    let mut program = Program::start(&mut command);
    let port = |name| move |line: &str| line.strip_prefix(name)?.parse().ok();
    let clear = program.wait_for_line("names its clear text port", port("clear "));
    let tls = program.wait_for_line("names its TLS port", port("tls "));
    (program, clear, tls)
}

/// Builds it once per process, into the folder above the test's own program; quick when it is fresh.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its path");
        let folder = test.ancestors().nth(2).expect("a test lies in a target folder").join("peers");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let program = folder.join("go-server");
        let mut build = Command::new("go");
        build.arg("build").arg("-o").arg(&program).arg(".");
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/go"));
        let _ = outcome::run(&mut build, Duration::from_secs(180)).expect_success();
        program
    })
}
