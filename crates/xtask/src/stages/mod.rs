//! The stages of `cargo xtask test`, in the order in which a change most likely fails them.

mod report;
mod tally;

use std::process::{Command, ExitCode};

use alula_tidy::{Package, Workspace};
use anyhow::Result;

use crate::command::{cargo, run, run_tests};
use crate::{costs, package, peers, tools};

use self::report::Report;
pub(crate) use self::tally::Tally;

/// Runs everything; `with_peers` says whether other programs may be installed and tested against.
pub(crate) fn test(with_peers: bool) -> ExitCode {
    let mut report = Report::new();
    if with_peers {
        report.stage("peers", |_| peers::install());
    }
    report.stage("format", |_| run(&mut cargo(["fmt", "--all", "--check"])));
    report.stage("clippy", |_| clippy());
    report.stage("tests", |tally| tests(with_peers, tally));
    report.stage("conformance", |tally| conformance(with_peers, tally));
    if with_peers {
        report.stage("costs", |_| costs::check());
    }
    report.stage("docs", |_| docs());
    report.stage("features", |_| features());
    report.stage("licences", |_| licences());
    if with_peers {
        // Last, since it links the whole program for minutes on one core, and a change fails it least.
        report.stage("package", package::check);
    }
    report.finish()
}

fn clippy() -> Result<()> {
    run(&mut cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))
}

/// Everything that needs no other program, but for curl and HTTPie beside the command; every workload of
/// `crates/bench` runs for one unit.
fn tests(with_peers: bool, tally: &mut Tally) -> Result<()> {
    let mut tests = cargo(["test", "--workspace", "--all-features", "--no-fail-fast"]);
    tests.envs(peers::httpie().filter(|_| with_peers).map(|program| ("ALULA_HTTPIE", program)));
    run_tests(tests.args(["--exclude", "alula-conformance"]), tally)
}

/// Whole programs against each other and against peers: with the release build, as users run it.
fn conformance(with_peers: bool, tally: &mut Tally) -> Result<()> {
    run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
    let mut tests = cargo(["test", "--release", "--no-fail-fast", "--package", "alula-conformance"]);
    tests.env("ALULA_BIN", tools::folder().with_file_name("release").join("alula"));
    if with_peers {
        tests.env("ALULA_TOOLS", tools::bin());
        tests.envs(peers::interpreter().map(|python| ("ALULA_PYTHON", python)));
        tests.envs(peers::riak_interpreter().map(|python| ("ALULA_RIAK_PYTHON", python)));
        tests.envs(peers::riak_jars().map(|folder| ("ALULA_RIAK_JARS", folder)));
    } else {
        tests.env("ALULA_NO_PEERS", "1");
    }
    run_tests(&mut tests, tally)
}

fn docs() -> Result<()> {
    // Only libraries: the documentation of the program `alula` would land on that of the library `alula`.
    let mut doc = cargo(["doc", "--workspace", "--lib", "--no-deps", "--all-features"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Every published crate compiles with no feature, and with each feature alone.
fn features() -> Result<()> {
    for package in Workspace::load()?.published() {
        run(&mut check(package, None))?;
        for feature in package.features.keys() {
            run(&mut check(package, Some(feature)))?;
        }
    }
    Ok(())
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
