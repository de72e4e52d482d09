//! What `cargo xtask test` says in the environment: where the program and its peers are.

use std::path::PathBuf;

/// The `alula` program, named by `ALULA_BIN`.
///
/// # Panics
/// When the variable is not set or names no file: there is nothing to test then.
#[must_use]
pub fn program() -> PathBuf {
    let Some(path) = std::env::var_os("ALULA_BIN").map(PathBuf::from) else {
        panic!("ALULA_BIN is not set: run `cargo xtask test`, or set it to the path of the `alula` program");
    };
    assert!(path.is_file(), "ALULA_BIN names {}, which is not a file", path.display());
    path
}

/// Returns true if other programs are out of bounds (`ALULA_NO_PEERS`); says so where the test's output shows
/// it.
#[must_use]
pub fn no_peers() -> bool {
    let set = std::env::var_os("ALULA_NO_PEERS").is_some();
    if set {
        println!("no peers: this test needs other programs and was left out");
    }
    set
}

/// h2spec or h2specd, from the folder named by `ALULA_TOOLS`.
///
/// # Panics
/// When the variable is not set or the folder does not have the tool.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    let Some(folder) = std::env::var_os("ALULA_TOOLS").map(PathBuf::from) else {
        panic!("ALULA_TOOLS is not set: run `cargo xtask test`, or set it to the folder that has {name}");
    };
    let path = folder.join(name);
    assert!(path.is_file(), "{} is not there: run `cargo xtask test`, which builds it", path.display());
    path
}

/// The Python interpreter that can import `hpack` and `httpx` (`ALULA_PYTHON`), where there is one.
#[must_use]
pub fn python() -> Option<PathBuf> {
    let path = std::env::var_os("ALULA_PYTHON").map(PathBuf::from);
    if path.is_none() {
        println!("no Python: ALULA_PYTHON is not set, so its hpack package is not compared with");
    }
    path
}

/// The Python interpreter that can import the `riak` client (`ALULA_RIAK_PYTHON`), where there is one.
#[must_use]
pub fn riak_python() -> Option<PathBuf> {
    let path = std::env::var_os("ALULA_RIAK_PYTHON").map(PathBuf::from);
    if path.is_none() {
        println!("no client of Riak: ALULA_RIAK_PYTHON is not set, so its suite was left out");
    }
    path
}

/// The folder of the jars of Riak's Java client (`ALULA_RIAK_JARS`), where there is one.
#[must_use]
pub fn riak_jars() -> Option<PathBuf> {
    let path = std::env::var_os("ALULA_RIAK_JARS").map(PathBuf::from);
    if path.is_none() {
        println!("no Java client of Riak: ALULA_RIAK_JARS is not set, so it was left out");
    }
    path
}

/// The package of Debian that `cargo xtask package` makes (`ALULA_DEB`), where there is one.
///
/// # Panics
/// When the variable names no file.
#[must_use]
pub fn package() -> Option<PathBuf> {
    let path = std::env::var_os("ALULA_DEB").map(PathBuf::from);
    match &path {
        Some(path) => assert!(path.is_file(), "ALULA_DEB names {}, which is not a file", path.display()),
        None => println!("no package: ALULA_DEB is not set, so it was not installed"),
    }
    path
}
