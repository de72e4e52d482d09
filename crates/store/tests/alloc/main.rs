//! Memory and allocations of the store: each test runs in a process of its own, whose allocations are
//! counted.
#![deny(dead_code)]
#![forbid(unsafe_code)]

mod access;
mod datatypes;
#[cfg(target_os = "linux")]
mod hashes;
mod lists;
mod objects;
#[cfg(feature = "fuzzing")]
mod properties;
mod requests;
#[path = "../it/support/resources/mod.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod resources;
#[path = "../it/support/seeded.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod seeded;
mod sunk;
mod users;

use std::process::ExitCode;

use alula_tally::Tally;
use alula_testkit::{cases, run_alone};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

fn main() -> ExitCode {
    assert!(alula_tally::is_installed());
    run_alone(&cases![
        access::requests_of_known_users_cost_no_allocation,
        datatypes::a_decoded_state_is_a_small_multiple_of_its_record,
        datatypes::a_record_makes_no_room_that_its_bytes_do_not_fill,
        datatypes::a_small_change_allocates_a_multiple_of_the_record,
        datatypes::answers_that_wait_hold_their_content_alone,
        datatypes::the_decoded_form_waits_for_its_room,
        datatypes::elements_are_bounded,
        datatypes::sketches_of_a_map_are_bounded,
        datatypes::sketches_beyond_the_bound_are_not_made,
        datatypes::an_operation_takes_a_small_multiple_of_its_content,
        datatypes::json_that_arrives_has_room_or_waits,
        #[cfg(target_os = "linux")]
        hashes::the_memory_of_hashes_does_not_stay,
        lists::length_costs_no_memory,
        objects::objects_cost_no_allocation_over_http,
        #[cfg(feature = "fuzzing")]
        properties::looking_properties_up_allocates_nothing,
        requests::rows_of_long_names_are_bounded_before_they_are_built,
        requests::a_repeated_term_of_a_long_index_costs_what_it_takes,
        requests::errors_repeat_no_long_field,
        requests::patterns_are_bounded_before_they_are_parsed,
        requests::fields_are_held_once_while_the_content_is_not_there,
        requests::lists_that_are_not_read_share_the_room_of_requests,
        users::users_share_what_their_groups_may_do,
    ])
}

/// Runs a test on this thread.
fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}

/// Runs a test on this thread, on a clock that goes on when nobody has anything to do.
fn block_on_paused(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(test);
}
