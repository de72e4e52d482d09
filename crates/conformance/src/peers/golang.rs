//! A Go program on net/http: a server with what the static servers do not have, and a client. See
//! `peers/go/main.go`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::{Origin, announced};
use crate::certificates::Certificates;
use crate::outcome;
use crate::program::Program;
use crate::site::Site;

/// Starts it.
///
/// # Panics
/// When Go is not there, or the program cannot be built or does not listen.
#[must_use]
pub fn start(certificates: &Certificates) -> Origin {
    let (program, clear, tls) = listening(certificates, "h2");
    Origin::of("Go", clear, tls, vec![program])
}

/// As [`start`], but a server that speaks HTTP/1.1 only, on both ports.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn start_http1_only(certificates: &Certificates) -> Origin {
    let (program, clear, tls) = listening(certificates, "http/1.1");
    Origin::of("Go without HTTP/2", clear, tls, vec![program])
}

/// A server that speaks both versions on both ports and serves the files of the site. The ports are for clear
/// text and for TLS.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn serving(certificates: &Certificates, site: &Site) -> (Program, u16, u16) {
    announced(server(certificates, "both").arg(site.folder().path()))
}

fn listening(certificates: &Certificates, protocol: &str) -> (Program, u16, u16) {
    announced(&mut server(certificates, protocol))
}

fn server(certificates: &Certificates, protocol: &str) -> Command {
    let mut command = Command::new(program());
    command.arg("server").arg(certificates.certificate()).arg(certificates.key()).arg(protocol);
    command
}

/// The client, to be told what to ask for line by line.
#[must_use]
pub fn client() -> Command {
    let mut command = Command::new(program());
    command.arg("client");
    command
}

/// Builds it once per process, into the folder above the test's own program; quick when it is fresh.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its path");
        let folder = test.ancestors().nth(2).expect("a test lies in a target folder").join("peers");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let program = folder.join("go-peer");
        let mut build = Command::new("go");
        build.arg("build").arg("-o").arg(&program).arg(".");
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/go"));
        let _ = outcome::run(&mut build, Duration::from_secs(180)).expect_success();
        program
    })
}
