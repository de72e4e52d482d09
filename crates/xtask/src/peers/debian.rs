//! Peers and instruments from Debian's packages.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{answer, find_program, run};

/// A program, the Debian package that has it, and what the tests do with it.
struct Peer {
    program: &'static str,
    package: &'static str,
    purpose: &'static str,
}

const PEERS: &[Peer] = &[
    peer("nghttpd", "nghttp2-server", "a server our client fetches from"),
    peer("h2load", "nghttp2-client", "a load on our server"),
    peer("nginx", "nginx", "a server our client fetches from"),
    peer("h2o", "h2o", "a server our client fetches from"),
    peer("node", "nodejs", "a server our client fetches from and a client of our server"),
    peer("python3", "python3", "a client of our server and another codec"),
    peer("curl", "curl", "a client of our server"),
    peer("openssl", "openssl", "certificates and a TLS server without HTTP/2"),
    peer("valgrind", "valgrind", "counts instructions"),
    peer("javac", "default-jdk-headless", "runs a client of our store"),
    peer("mvn", "maven", "fetches that client"),
    peer("cc", "gcc", "builds the malloc counter"),
    peer("brotli", "brotli", "packs what our client unpacks"),
    peer("zstd", "zstd", "packs what our client unpacks"),
    peer("tinyproxy", "tinyproxy-bin", "a proxy our client goes by"),
    peer("stunnel4", "stunnel4", "TLS for that proxy"),
    peer("microsocks", "microsocks", "a SOCKS proxy our client goes by"),
    peer("man", "man-db", "reads the pages of our package"),
    peer("zsh", "zsh", "completes our flags"),
    peer("fish", "fish", "completes our flags"),
    peer("dpkg-shlibdeps", "dpkg-dev", "finds the libraries that our package depends on"),
];

/// A peer that only `cargo xtask slow` needs.
const SLOW: Peer = peer("slowhttptest", "slowhttptest", "holds connections of our server open");

/// A peer that only `cargo xtask browser` needs.
const BROWSER: Peer = peer("chromium", "chromium", "a browser that loads a page from our server");

const fn peer(program: &'static str, package: &'static str, purpose: &'static str) -> Peer {
    Peer { program, package, purpose }
}

/// What `cargo xtask bench` needs besides.
const FOR_BENCH: &[Peer] = &[
    peer("h2o", "h2o", "a server to compare with"),
    peer("taskset", "util-linux", "keeps what is compared on one core"),
    peer("wrk", "wrk", "a load on servers of HTTP/1.1"),
];

/// The library that `cargo xtask bench` builds a client on.
const NGHTTP2_HEADER: &str = "/usr/include/nghttp2/nghttp2.h";

/// As [`install`], for `cargo xtask bench`.
pub(crate) fn install_for_bench() -> Result<()> {
    let more = if Path::new(NGHTTP2_HEADER).is_file() {
        &[][..]
    } else {
        println!("missing: {NGHTTP2_HEADER}; will install the Debian package libnghttp2-dev");
        &["libnghttp2-dev"]
    };
    install_missing(PEERS.iter().chain(FOR_BENCH), more)
}

/// Installs the packages of the programs that are not on `PATH`.
pub(crate) fn install() -> Result<()> {
    let more = if super::python::needs_venv_package() {
        println!("missing: Python's venv module; will install the Debian package python3-venv");
        &["python3-venv"][..]
    } else {
        &[]
    };
    install_missing(PEERS, more)
}

fn install_missing(peers: impl IntoIterator<Item = &'static Peer>, more: &[&'static str]) -> Result<()> {
    let missing: Vec<&Peer> = peers.into_iter().filter(|peer| find_program(peer.program).is_none()).collect();
    let mut packages: Vec<&str> = missing.iter().map(|peer| peer.package).collect();
    for peer in &missing {
        println!(
            "missing: {} ({}); will install the Debian package {}",
            peer.program, peer.purpose, peer.package
        );
    }
    packages.extend(more);
    if packages.is_empty() {
        println!("Debian packages: all there");
        return Ok(());
    }
    install_packages(&packages)?;
    let absent = missing.iter().find(|peer| find_program(peer.program).is_none());
    ensure!(absent.is_none(), "{} is still missing", absent.map_or("", |peer| peer.program));
    Ok(())
}

/// Installs Chromium if it is not on `PATH`.
pub(crate) fn install_browser() -> Result<()> {
    install_one(BROWSER)
}

/// Installs slowhttptest if it is not on `PATH`.
pub(crate) fn install_slow() -> Result<()> {
    install_one(SLOW)
}

fn install_one(Peer { program, package, purpose }: Peer) -> Result<()> {
    if find_program(program).is_some() {
        println!("{program}: there");
        return Ok(());
    }
    println!("missing: {program} ({purpose}); will install the Debian package {package}");
    install_packages(&[package])?;
    ensure!(find_program(program).is_some(), "{program} is still missing");
    Ok(())
}

/// Downloads a package into a folder without installing it.
pub(super) fn download(package: &str, folder: &Path) -> Result<()> {
    require_apt_get()?;
    run(apt_get()?.arg("update").arg("-qq"))?;
    let mut download = Command::new("apt-get");
    // As root it would hand the work to a user who may not write there.
    download.args(["download", "-qq", "-o", "APT::Sandbox::User=root", package]);
    run(download.current_dir(folder)).with_context(|| format!("{package} could not be downloaded"))
}

fn require_apt_get() -> Result<()> {
    ensure!(
        find_program("apt-get").is_some(),
        "these packages come by apt-get, which is not here: install the programs named above by hand, or run \
         `cargo xtask test --no-peers`"
    );
    Ok(())
}

fn install_packages(packages: &[&str]) -> Result<()> {
    require_apt_get()?;
    run(apt_get()?.arg("update").arg("-qq"))?;
    let mut install = apt_get()?;
    install
        .args([
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "-o",
            "Dpkg::Use-Pty=0",
            "-o",
            "DPkg::Lock::Timeout=120",
        ])
        .args(packages);
    run(&mut install).context("a package could not be installed")
}

fn apt_get() -> Result<Command> {
    let is_root = answer(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    let mut command = match (is_root, find_program("sudo")) {
        (true, _) => Command::new("apt-get"),
        (false, Some(_)) => {
            let mut command = Command::new("sudo");
            command.arg("apt-get");
            command
        }
        (false, None) => bail!("apt-get needs root: run as root, or run `cargo xtask test --no-peers`"),
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}
