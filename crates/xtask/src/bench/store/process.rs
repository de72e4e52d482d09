//! The time and the memory of a process, as the kernel tells them.

use std::fs;

use anyhow::{Context, Result};
use nix::unistd::{SysconfVar, sysconf};

/// Seconds that the kernel worked for a process.
pub(super) fn kernel_seconds(id: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let ticks = kernel_ticks(&stat).with_context(|| stat.clone())?;
    let per_second = sysconf(SysconfVar::CLK_TCK)?.context("the kernel counts in ticks")?;
    Ok(ticks as f64 / per_second as f64)
}

/// The fifteenth field; the second has parentheses, and may have spaces in them.
fn kernel_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(12)?.parse().ok()
}

/// Octets of the resident set, now and at the most so far.
pub(super) fn resident(id: u32) -> Result<[u64; 2]> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
    };
    let [now, most] = ["VmRSS:", "VmHWM:"].map(kib);
    Ok([now, most].map(|kib| kib.unwrap_or_default() * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_kernel_is_the_fifteenth_field() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 40 25 0 0 20 0 3 0 99";
        assert_eq!(kernel_ticks(stat), Some(25));
    }

    #[test]
    fn this_process_has_memory() {
        let [now, most] = resident(std::process::id()).expect("Linux");
        assert!(now > 0 && most >= now);
    }
}
