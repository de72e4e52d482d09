//! Allocations and memory of requests through the whole stack; each test in a process of its own.
#![deny(dead_code)]

mod adapters;
mod bodies;
mod client;
mod in_memory;
mod memory;
mod requests;
mod server;
mod support;
mod threads;
mod tls;

use std::process::ExitCode;

use alula_tally::Tally;
use alula_testkit::{cases, run_alone};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

fn main() -> ExitCode {
    run_alone(&cases![
        adapters::adapters_cost_what_is_said_and_no_more,
        bodies::gathered_and_kept_content_costs_what_is_said_and_no_more,
        client::blocking::a_request_that_waits_allocates_nothing_and_starts_no_thread,
        client::cookies::twenty_cookies_cost_a_few_allocations,
        #[cfg(feature = "gzip")]
        client::decoding::decoding_gzip_allocates_nothing_once_warm,
        in_memory::a_request_in_memory_allocates_nothing,
        memory::account::accounts_are_those_of_the_allocator,
        memory::idle::a_connection_of_a_client_that_waits_holds_little_and_all_of_it_is_charged,
        memory::idle::a_connection_that_waits_holds_little_and_all_of_it_is_charged,
        memory::idle::a_half_open_connection_holds_little_and_all_of_it_is_charged,
        requests::a_request_allocates_nothing_on_either_side,
        server::answers::answers_allocate_nothing_once_warm,
        server::crowded::a_thousand_requests_in_flight_allocate_nothing,
        #[cfg(all(feature = "gzip", feature = "zstd"))]
        server::decoding::decoded_requests_allocate_nothing,
        server::filters::filters_allocate_nothing_once_warm,
        server::forms::parts_of_a_form_allocate_nothing,
        server::hooks::hooked_requests_allocate_nothing,
        server::routed::routed_requests_allocate_nothing,
        server::served::served_requests_allocate_nothing,
        threads::what_requests_allocate_on_two_threads,
        tls::a_request_over_tls_allocates_what_rustls_does,
    ])
}
