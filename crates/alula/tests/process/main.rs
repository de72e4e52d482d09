//! Tests that set or read state of their process: subscribers, recorders, its standard error stream, its log.
#![deny(dead_code)]

#[path = "../support/access_log.rs"]
mod access_log;
mod failures;
#[cfg(all(feature = "metrics", feature = "tracing"))]
mod observing;
mod refused_heads;
mod refused_logged;
mod slow_turns;

use std::process::ExitCode;

use alula_testkit::{cases, run_alone};

fn main() -> ExitCode {
    run_alone(&cases![
        failures::a_debug_build_writes_failures_that_nobody_hears_to_stderr,
        failures::a_hook_that_panics_does_no_harm,
        failures::a_peer_that_is_slow_is_told_apart,
        failures::failures_under_a_service_are_told,
        failures::the_hook_hears_of_each_failure_with_its_request_and_its_cause,
        failures::the_hook_hears_of_what_is_refused,
        #[cfg(all(feature = "metrics", feature = "tracing"))]
        observing::calls_and_connections_are_told_of_and_counted,
        refused_heads::a_refused_request_is_known_as_far_as_it_came,
        refused_logged::what_is_refused_is_logged_and_counted,
        slow_turns::handlers_that_hold_up_their_connection_are_told_of_once,
    ])
}
