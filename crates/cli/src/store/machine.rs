//! The memory of the machine, as far as this program may have it.

use std::fs;

/// The bytes that are taken for a machine that does not tell.
const UNKNOWN: u64 = 2 * 1024 * 1024 * 1024;

/// Returns the bytes of memory: those of the machine, or fewer if its container has fewer.
pub(super) fn memory_bytes() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| of_container(&text));
    machine.into_iter().chain(container).min().unwrap_or(UNKNOWN)
}

/// The memory in the file of Linux: `MemTotal:       24684084 kB`.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The bound of a group of processes; none if it has none, which is written as `max`.
fn of_container(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_linux_writes_it() {
        assert_eq!(of_machine("MemFree: 1 kB\nMemTotal:       24684084 kB\n"), Some(24_684_084 * 1024));
        assert_eq!(of_machine("MemTotal: many\n"), None);
        assert_eq!((of_container("1073741824\n"), of_container("max\n")), (Some(1 << 30), None));
    }
}
