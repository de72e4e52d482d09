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

/// The memory of a process that is resident, in KiB.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Memory {
    /// Now.
    pub resident_kib: u64,
    /// The most since the process began.
    pub peak_kib: u64,
}

/// The memory that is resident for the process now, and the most that ever was.
///
/// # Panics
/// When there is no such process.
#[must_use]
pub fn memory(id: u32) -> Memory {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok());
        kib.unwrap_or_else(|| panic!("{path} has no {name}"))
    };
    Memory { resident_kib: value("VmRSS:"), peak_kib: value("VmHWM:") }
}
