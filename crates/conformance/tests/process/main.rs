//! Tests that measure a process or set a limit of their own: each has a process to itself, and nothing runs
//! beside it.
#![deny(dead_code)]

mod chaos;
mod crowds;
mod leaks_client;
mod leaks_server;
mod malloc;
mod serve_malloc;
mod serve_stalled;
mod store_memory;

use std::process::ExitCode;

use alula_testkit::{cases, run_one_by_one};

fn main() -> ExitCode {
    run_one_by_one(&cases![
        chaos::every_request_ends_and_no_post_is_processed_twice,
        crowds::newcomers_are_served_beside_idle_connections_in_clear_text,
        crowds::newcomers_are_served_beside_idle_connections_over_tls,
        crowds::handshakes_succeed_beside_a_flood,
        crowds::a_thousand_connections_at_once_are_all_answered,
        leaks_client::servers_leave_nothing_behind,
        leaks_server::clients_in_clear_text_leave_nothing_behind,
        leaks_server::clients_over_tls_leave_nothing_behind,
        leaks_server::clients_that_break_off_the_handshake_leave_nothing_behind,
        malloc::a_warm_request_allocates_nothing,
        serve_malloc::a_request_for_a_held_file_allocates_nothing,
        serve_stalled::one_page_is_held_however_many_streams_ask_for_it,
        serve_stalled::a_stalled_stream_holds_no_part_of_its_file,
        serve_stalled::windows_that_open_by_an_byte_hold_nothing_either,
        store_memory::large_objects_at_once_wait_for_their_part_of_the_memory,
    ])
}
