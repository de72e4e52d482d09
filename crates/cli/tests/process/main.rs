//! Tests of the command that need the machine to themselves: one after the other, each in a process of its
//! own.
#![deny(dead_code)]

#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "a part of it is used")]
mod support;

use std::process::ExitCode;

use alula_testkit::{cases, run_one_by_one};

fn main() -> ExitCode {
    run_one_by_one(&cases![
        #[cfg(target_os = "linux")]
        disk::a_full_disk_is_emptied_and_filled_again,
        #[cfg(target_os = "linux")]
        disk::reads_go_on_while_a_full_disk_refuses_all_writes,
    ])
}
