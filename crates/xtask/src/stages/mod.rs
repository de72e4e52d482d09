//! The stages of `cargo xtask test`, in the order in which a change most likely fails them.

mod background;
mod binaries;
mod report;
mod tally;

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
};

use alula_tidy::{Package, Workspace};
use anyhow::Result;

use crate::command::{cargo, run};
use crate::{costs, package, peers, tools};

use self::background::Background;
pub(crate) use self::background::prepare;
use self::binaries::Binary;
use self::report::Report;
use self::tally::Tally;

/// Runs everything; `with_peers` says whether other programs may be installed and tested against.
pub(crate) fn test(with_peers: bool) -> ExitCode {
    let mut report = Report::new();
    let (mut prepared, mut features, mut built) = (None, None, Vec::new());
    let prepare: &[_] = if with_peers { &["prepare"] } else { &["prepare", "--no-peers"] };
    if with_peers {
        report.stage("peers", |_| peers::install());
    }
    report.stage("format", |_| run(&mut cargo(["fmt", "--all", "--check"])));
    report.stage("clippy", |_| {
        prepared = Some(Background::start(prepare)?);
        clippy()
    });
    report.stage("build", |_| binaries::build().map(|all| built = all));
    // Programs that are run whole, against each other and against peers, are tested as users install them.
    let (whole, parts): (Vec<_>, Vec<_>) = built.iter().partition(|binary| binary.is_of("conformance"));
    report.stage("tests", |tally| tests(&parts, with_peers, tally));
    report.stage("package", |_| prepared.map_or(Ok(()), Background::wait));
    report.stage("conformance", |tally| {
        // Tests of whole programs leave a core free, and do not lock what cargo builds.
        features = Some(Background::start(&["features"])?);
        binaries::run(&whole, Vec::new(), &conformance_environment(with_peers), tally)
    });
    if with_peers {
        report.stage("costs", |_| costs::check());
    }
    report.stage("features", |_| features.map_or(Ok(()), Background::wait));
    report.stage("docs", |_| docs());
    report.stage("licences", |_| licences());
    report.finish()
}

fn clippy() -> Result<()> {
    run(&mut cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))
}

/// Everything that needs no other program, but for curl and HTTPie beside the command; every workload of
/// `crates/bench` runs for one unit.
fn tests(binaries: &[&Binary], with_peers: bool, tally: &mut Tally) -> Result<()> {
    let httpie = peers::httpie().filter(|_| with_peers).map(|program| ("ALULA_HTTPIE", program));
    let examples = cargo(["test", "--doc", "--workspace", "--all-features", "--no-fail-fast"]);
    binaries::run(binaries, vec![examples], &httpie.into_iter().collect::<Vec<_>>(), tally)
}

/// Where the program and its peers are.
fn conformance_environment(with_peers: bool) -> Vec<(&'static str, PathBuf)> {
    let mut environment = vec![("ALULA_BIN", package::program())];
    if with_peers {
        environment.extend([("ALULA_TOOLS", tools::bin()), ("ALULA_DEB", package::package())]);
        environment.extend(peers::interpreter().map(|python| ("ALULA_PYTHON", python)));
        environment.extend(peers::riak_interpreter().map(|python| ("ALULA_RIAK_PYTHON", python)));
        environment.extend(peers::riak_jars().map(|folder| ("ALULA_RIAK_JARS", folder)));
    } else {
        environment.push(("ALULA_NO_PEERS", "1".into()));
    }
    environment
}

fn docs() -> Result<()> {
    // Only libraries: the documentation of the program `alula` would land on that of the library `alula`.
    let mut doc = cargo(["doc", "--workspace", "--lib", "--no-deps", "--all-features"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Compiles every published crate with no feature, and with each feature alone: `cargo xtask features`.
///
/// # Errors
/// One does not compile so, or has a warning.
pub(crate) fn features() -> Result<ExitCode> {
    for package in Workspace::load()?.published() {
        run(&mut check(package, None))?;
        for feature in package.features.keys() {
            run(&mut check(package, Some(feature)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(package: &Package, feature: Option<&str>) -> Command {
    // Clippy shares what an earlier stage has compiled and turns only our own warnings into errors.
    let mut check = cargo(["clippy", "--quiet", "--package", &package.name, "--no-default-features"]);
    check.args(feature.map(|feature| ["--features", feature]).into_iter().flatten());
    check.args(["--", "-D", "warnings"]);
    check
}

/// The advisory database is not asked: see docs/decisions/0002-licences-and-bans.md.
fn licences() -> Result<()> {
    let mut deny = Command::new(tools::cargo_deny()?);
    deny.args(["--all-features", "check", "licenses", "bans", "sources"]);
    run(deny.current_dir(alula_tidy::repository_root()))
}
