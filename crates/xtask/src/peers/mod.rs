//! The programs that Alula is tested against: what they are for, whether they are there, how to get them.
//!
//! Rule: what is missing is named before anything is installed, and an install that fails is a failure, never
//! a skipped test. Whoever cannot install packages says `--no-peers`.

mod debian;
mod golang;
mod java;
mod promtool;
mod python;
mod riak;

use anyhow::Result;

/// Installs every peer that is missing.
///
/// # Errors
/// When a prerequisite (Go) is absent, or an install fails.
pub(crate) fn install() -> Result<()> {
    golang::require()?;
    debian::install()?;
    promtool::install()?;
    golang::install()?;
    python::install()?;
    riak::install()?;
    java::install()
}

/// Installs what `cargo xtask bench` compares with and measures by, as far as it is not built.
///
/// # Errors
/// When an install fails.
pub(crate) fn install_for_bench() -> Result<()> {
    debian::install_for_bench()
}

/// Tools that only `cargo xtask browser` and `cargo xtask slow` need, and install.
pub(crate) use debian::{install_browser, install_slow};
/// The folder of the Java client of Riak, where [`install`] made one.
pub(crate) use java::jars as riak_jars;
/// HTTPie, where [`install`] made an environment that has it.
pub(crate) use python::httpie;
/// The interpreter that has the `hpack` package, where [`install`] made one.
pub(crate) use python::interpreter;
/// The interpreter that has the `riak` client, where [`install`] made one.
pub(crate) use riak::interpreter as riak_interpreter;
