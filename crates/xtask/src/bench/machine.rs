//! The machine and the versions that took part.

use std::fs;
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use crate::command::{answer, needed_program};
use crate::costs::figures::Tools;

/// Returns the machine, and the versions of crates in a lock file and of programs, in two sentences.
pub(super) fn sentence(lock_file: &str, crates: &[&str], programs: &[&str]) -> Result<String> {
    let file = repository_root().join(lock_file);
    let lock = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let mut parts = Vec::new();
    for name in crates {
        let version = locked(&lock, name).with_context(|| format!("{name} is not locked"))?;
        parts.push(format!("{name} {version}"));
    }
    for program in programs {
        parts.push(format!("{program} {}", told(program)?));
    }
    let Tools { compiler, libc } = Tools::here()?;
    parts.extend([compiler, libc]);
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{}, {cores} cores. {}", machine()?, parts.join(", ")))
}

/// The processor and the system.
fn machine() -> Result<String> {
    let told = fs::read_to_string("/proc/cpuinfo")?;
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let system = answer(Command::new("uname").arg("-sr")).context("`uname` names the system")?;
    Ok(format!("{}, {}", model.map_or("a processor without a name", |(_, name)| name), system.trim()))
}

/// The version in a lock file; that of libcurl is behind the version of its crate.
fn locked<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    let version = rest.split('"').next()?;
    version.rsplit('+').next()?.rsplit('-').next()
}

/// The first thing that looks like a version of what the program says.
fn told(program: &str) -> Result<String> {
    let path = needed_program(program)?;
    let flag = if program == "nginx" { "-v" } else { "--version" };
    // wrk says its version, and ends as if that were an error.
    let output = Command::new(path).arg(flag).output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut words = said.split(|c: char| c.is_whitespace() || c == '/');
    let version = words.find(|word| is_version(word));
    Ok(version.with_context(|| format!("{program} says no version: {said}"))?.to_owned())
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_is_read() {
        let lock = "[[package]]\nname = \"h2\"\nversion = \"0.4.20\"\nsource = \"x\"\n";
        assert_eq!(locked(lock, "h2"), Some("0.4.20"));
        assert_eq!(locked(lock, "h3"), None);
        assert_eq!(locked("name = \"curl-sys\"\nversion = \"0.4.1+curl-8.22\"", "curl-sys"), Some("8.22"));
    }
}
