//! Which versions took part.

use std::fs;
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use crate::command::{answer, needed_program};
use crate::costs::figures::Tools;

/// The crates that are compared; what libcurl is, its crate says in its own version.
const CRATES: [&str; 10] =
    ["hyper", "hyper-util", "h2", "http", "reqwest", "ureq", "axum", "tokio", "fluke-hpack", "httlib-hpack"];

/// Those of servers, of what loads them, and of the compiler, in one sentence.
pub(super) fn of_servers() -> Result<String> {
    let file = repository_root().join("bench-peers/rust/Cargo.lock");
    let lock = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let mut parts = Vec::new();
    for name in ["hyper", "axum", "tower-http", "rustls", "tokio"] {
        let version = locked(&lock, name).with_context(|| format!("{name} is not locked"))?;
        parts.push(format!("{name} {version}"));
    }
    parts.push(answer(Command::new("go").arg("version")).context("`go version` failed")?.trim().to_owned());
    for program in ["nginx", "h2o", "h2load", "wrk"] {
        parts.push(format!("{program} {}", told(program)?));
    }
    let Tools { compiler, libc } = Tools::here()?;
    Ok(format!("{}; {compiler}, {libc}.", parts.join(", ")))
}

/// Returns the versions of the store's engine and of the compiler, in one sentence.
pub(super) fn of_the_store() -> Result<String> {
    let file = repository_root().join("Cargo.lock");
    let lock = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let fjall = locked(&lock, "fjall").context("fjall is not locked")?;
    let Tools { compiler, libc } = Tools::here()?;
    Ok(format!("fjall {fjall}; {compiler}, {libc}."))
}

/// In one sentence.
pub(super) fn sentence() -> Result<String> {
    let file = repository_root().join("bench-peers/rust/Cargo.lock");
    let lock = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let mut parts = Vec::new();
    for name in CRATES {
        parts.push(format!(
            "{name} {}",
            locked(&lock, name).with_context(|| format!("{name} is not locked"))?
        ));
    }
    for (name, package) in [("libcurl", "curl-sys"), ("its nghttp2", "libnghttp2-sys")] {
        let version = locked(&lock, package).with_context(|| format!("{package} is not locked"))?;
        parts.push(format!("{name} {}", version.rsplit(['-', '+']).next().unwrap_or(version)));
    }
    parts.push(answer(Command::new("go").arg("version")).context("`go version` failed")?.trim().to_owned());
    for program in ["nghttpd", "h2o", "nginx"] {
        parts.push(format!("{program} {}", told(program)?));
    }
    let Tools { compiler, libc } = Tools::here()?;
    Ok(format!("{}; {compiler}, {libc}.", parts.join(", ")))
}

/// The version in a lock file.
pub(super) fn locked<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    rest.split('"').next()
}

/// The first thing that looks like a version of what the program says.
pub(super) fn told(program: &str) -> Result<String> {
    let path = needed_program(program)?;
    let flag = if program == "nginx" { "-v" } else { "--version" };
    // wrk says its version, and ends as if that were an error.
    let output = Command::new(path).arg(flag).output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut words = said.split(|c: char| c.is_whitespace() || c == '/');
    let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    Ok(version.with_context(|| format!("{program} says no version: {said}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_is_read() {
        let lock = "[[package]]\nname = \"h2\"\nversion = \"0.4.20\"\nsource = \"x\"\n";
        assert_eq!(locked(lock, "h2"), Some("0.4.20"));
        assert_eq!(locked(lock, "h3"), None);
    }
}
