//! The processor time and the memory of a process and those that it has started.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

/// The process and its descendants.
fn processes(id: u32) -> Result<Vec<u32>> {
    let mut all = vec![id];
    for thread in fs::read_dir(format!("/proc/{id}/task")).with_context(|| format!("process {id}"))? {
        // A thread that has ended since, or a child, has nothing to add.
        let children = fs::read_to_string(thread?.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            all.extend(processes(child.parse()?).unwrap_or_default());
        }
    }
    Ok(all)
}

/// User and system time, of threads that have ended as well.
pub(super) fn cpu(id: u32) -> Result<Duration> {
    let mut sum = Duration::ZERO;
    for process in processes(id)? {
        let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(process)?))?;
        sum += Duration::from(clock.now()?);
    }
    Ok(sum)
}

/// KiB that are the program's own: pages of files that it maps are the system's.
pub(super) fn memory(id: u32) -> Result<u64> {
    let mut sum = 0;
    for process in processes(id)? {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let own = own.and_then(|own| own.trim().strip_suffix(" kB")).context("RssAnon is told")?;
        sum += own.parse::<u64>()?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_time_and_memory() {
        let own = std::process::id();
        assert!(processes(own).expect("it runs").contains(&own));
        assert!(cpu(own).expect("it has a clock") > Duration::ZERO);
        assert!(memory(own).expect("it has memory") > 0);
    }
}
