//! The Java client `riak-client` 1.4.4, the last one that speaks HTTP, and the jars it needs.
//!
//! Maven fetches them once; the tests run the client from them, without Maven and without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

use crate::command::run;
use crate::tools;

/// All of them, those that the client needs included, so that a test meets the same code tomorrow.
const JARS: [&str; 11] = [
    "commons-codec-1.6.jar",
    "commons-logging-1.1.1.jar",
    "httpclient-4.2.5.jar",
    "httpcore-4.2.4.jar",
    "jackson-annotations-2.2.2.jar",
    "jackson-core-2.2.2.jar",
    "jackson-databind-2.2.2.jar",
    "jackson-datatype-joda-2.2.2.jar",
    "joda-time-2.1.jar",
    "json-20090211.jar",
    "riak-client-1.4.4.jar",
];

/// The goal, with the version of its plugin, so that tomorrow's Maven does the same.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies";

/// Puts the jars into `target/tools/riak-java`.
pub(crate) fn install() -> Result<()> {
    if jars().is_some() {
        println!("Java: the client of Riak is there");
        return Ok(());
    }
    println!("Java: will fetch riak-client 1.4.4 into {}", folder().display());
    let repository = tools::folder().join("maven");
    run(&mut maven(&repository)).context("the Java client of Riak could not be fetched")?;
    // Maven keeps its own plugins there; nothing needs them any more.
    fs::remove_dir_all(repository)?;
    ensure!(jars().is_some(), "Maven ended well and has not left all jars");
    Ok(())
}

/// The folder of the jars, where [`install`] made one.
pub(crate) fn jars() -> Option<PathBuf> {
    let folder = folder();
    JARS.iter().all(|jar| folder.join(jar).is_file()).then_some(folder)
}

fn maven(repository: &Path) -> Command {
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--strict-checksums", GOAL]).arg("--file");
    maven.arg(repository_root().join("crates/xtask/peers/riak-client.xml"));
    maven.arg(option("maven.repo.local", repository)).arg(option("outputDirectory", &folder()));
    maven
}

fn option(name: &str, path: &Path) -> String {
    format!("-D{name}={}", path.display())
}

fn folder() -> PathBuf {
    tools::folder().join("riak-java")
}
