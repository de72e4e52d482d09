//! What the system knows about a process: its open descriptors and its threads.

use std::fs;

/// What must be as it was after any number of requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Held {
    /// Open file descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
}

/// What the process holds now.
///
/// # Panics
/// When there is no such process.
#[must_use]
pub fn held(id: u32) -> Held {
    Held { descriptors: entries(id, "fd"), threads: entries(id, "task") }
}

fn entries(id: u32, folder: &str) -> usize {
    let path = format!("/proc/{id}/{folder}");
    fs::read_dir(&path).unwrap_or_else(|error| panic!("{path}: {error}")).count()
}
