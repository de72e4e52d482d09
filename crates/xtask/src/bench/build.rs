//! Building everything that takes part: Alula's workloads, the peers in Rust, Go and C, and the malloc counter.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use crate::command::{cargo, find_program, run};
use crate::costs::measure::Bench;
use crate::tools;

/// What was built, and where everything else lies.
pub(super) struct Programs {
    /// `alula-bench`, as `cargo xtask costs` has it.
    pub(super) bench: Bench,
    pub(super) rust: PathBuf,
    pub(super) go: PathBuf,
    pub(super) nghttp2: PathBuf,
    pub(super) malloc_counter: PathBuf,
    /// The lists of fields as files.
    pub(super) lists: PathBuf,
    /// Configurations, sites and logs of servers.
    pub(super) folder: PathBuf,
}

impl Programs {
    /// About four minutes the first time, most of them for libcurl and fat LTO.
    pub(super) fn build() -> Result<Self> {
        let folder = tools::folder().join("bench");
        let lists = folder.join("lists");
        fs::create_dir_all(&lists).with_context(|| lists.display().to_string())?;
        let bench = Bench::build()?;
        run(Command::new(bench.program()).arg("export").arg(&lists))?;
        Ok(Self {
            bench,
            rust: rust()?,
            go: go(&folder)?,
            nghttp2: nghttp2(&folder)?,
            malloc_counter: malloc_counter(&folder)?,
            lists,
            folder,
        })
    }
}

/// The folder of the peers' sources.
fn sources(language: &str) -> PathBuf {
    repository_root().join("bench-peers").join(language)
}

pub(super) fn rust() -> Result<PathBuf> {
    let target = tools::folder().with_file_name("bench-peers");
    let mut build = cargo(["build", "--release", "--locked"]);
    run(build.current_dir(sources("rust")).env("CARGO_TARGET_DIR", &target))
        .context("the peers in Rust could not be built")?;
    Ok(target.join("release/alula-bench-peers"))
}

pub(super) fn go(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("go-peer");
    let mut build = Command::new("go");
    build.args(["build", "-mod=readonly", "-o"]).arg(&program).arg(".");
    run(build.current_dir(sources("go"))).context("the peer in Go could not be built")?;
    Ok(program)
}

fn nghttp2(folder: &Path) -> Result<PathBuf> {
    let (program, sources) = (folder.join("nghttp2-peer"), sources("c"));
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension() == Some(OsStr::new("c")));
    files.sort();
    let mut cc = compiler();
    run(cc.arg("-o").arg(&program).args(&files).arg("-lnghttp2"))
        .context("nghttp2's peer could not be built")?;
    Ok(program)
}

/// The counter that the conformance tests preload.
fn malloc_counter(folder: &Path) -> Result<PathBuf> {
    let library = folder.join("malloc_counter.so");
    let source = repository_root().join("crates/conformance/peers/malloc_counter.c");
    run(compiler().args(["-fPIC", "-shared", "-o"]).arg(&library).arg(source))?;
    Ok(library)
}

fn compiler() -> Command {
    let mut cc = Command::new(find_program("cc").unwrap_or_else(|| "cc".into()));
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror"]);
    cc
}
