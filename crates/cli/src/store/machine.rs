//! The memory of the machine that this program may use.

use std::{fs, path::Path};

/// The folder in which Linux shows groups of processes, nested as they are (cgroups of version 2).
const GROUPS: &str = "/sys/fs/cgroup";

/// The bytes that are assumed if the machine's memory is unknown.
const UNKNOWN: u64 = 2 * 1024 * 1024 * 1024;

/// Returns the memory in bytes: that of the machine, or less if its container has less.
pub(super) fn memory_bytes() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    machine.into_iter().chain(of_groups(Path::new(GROUPS), &own)).min().unwrap_or(UNKNOWN)
}

/// The memory in the file of Linux: `MemTotal:       24684084 kB`.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the least bound of this process's group and of those around it; none if none of them has one.
/// `own` is the file in which Linux names the group: `0::/system.slice/alula.service`. A container may see
/// itself as the outermost, whatever the name.
fn of_groups(groups: &Path, own: &str) -> Option<u64> {
    let name = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let around = groups.join(name);
    let around = around.ancestors().take_while(|folder| folder.starts_with(groups));
    let bound = |folder: &Path| of_group(&fs::read_to_string(folder.join("memory.max")).ok()?);
    around.filter_map(bound).min()
}

/// Returns the bound of a group; none if it has none, which is written as `max`.
fn of_group(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_linux_writes_it() {
        assert_eq!(of_machine("MemFree: 1 kB\nMemTotal:       24684084 kB\n"), Some(24_684_084 * 1024));
        assert_eq!(of_machine("MemTotal: many\n"), None);
        assert_eq!((of_group("1073741824\n"), of_group("max\n")), (Some(1 << 30), None));
    }

    #[test]
    fn the_least_bound_of_nested_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        let bound = |group: &str, text: &str| fs::write(root.path().join(group).join("memory.max"), text);
        let of = |own: &str| of_groups(root.path(), own);
        assert_eq!(of("0::/a/b\n"), None);
        bound("a/b", "max\n").unwrap();
        bound("a", "2000\n").unwrap();
        assert_eq!((of("1:name=systemd:/x\n0::/a/b\n"), of("0::/\n")), (Some(2000), None));
        bound("a/b", "1000\n").unwrap();
        assert_eq!((of("0::/a/b\n"), of("0::/a\n")), (Some(1000), Some(2000)));
        bound("", "500\n").unwrap();
        assert_eq!((of("0::/a/b\n"), of("0::/\n"), of("")), (Some(500), Some(500), Some(500)));
        assert_eq!(of("0::/../../elsewhere\n"), Some(500));
    }
}
