//! Tests that set what belongs to a process: each runs in one of its own.
#![deny(dead_code)]
#![forbid(unsafe_code)]

#[cfg(unix)]
#[path = "../it/support/fjall.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod fjall;
#[cfg(unix)]
mod permissions;

use std::process::ExitCode;

use alula_testkit::{cases, run_alone};

fn main() -> ExitCode {
    run_alone(&cases![
        #[cfg(unix)]
        permissions::only_the_owner_reads_what_an_engine_makes,
        #[cfg(unix)]
        permissions::what_was_open_to_others_is_closed,
        #[cfg(unix)]
        permissions::a_folder_for_all_users_is_left_as_it_is,
        #[cfg(unix)]
        permissions::a_folder_of_another_user_is_refused,
        #[cfg(unix)]
        permissions::a_folder_with_files_of_others_becomes_no_store,
    ])
}

/// Runs a test on this thread.
#[cfg(unix)]
fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}
