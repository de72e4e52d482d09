//! What the machine answers to each frame a peer must not send, and to some it may: a table of stimulus,
//! section of the RFC and answer. `cargo test -p alula-h2 --test it rules -- --nocapture` prints it.
//!
//! Errors are told apart by code, by scope (RST_STREAM or GOAWAY) and by the last stream that GOAWAY names.

mod compression;
mod early_answers;
mod flow;
mod frames;
mod priorities;
mod requests;
mod responses;
mod settings;
mod states;
mod streams;
mod table;

#[test]
fn every_stimulus_is_answered_as_the_rfc_says() {
    let mut tables = Vec::new();
    tables.extend(frames::tables());
    tables.extend(settings::tables());
    tables.extend(states::tables());
    tables.extend(streams::tables());
    tables.extend(flow::tables());
    tables.extend(requests::tables());
    tables.extend(responses::tables());
    tables.extend(compression::tables());
    tables.extend(priorities::tables());
    table::run_all(tables);
}
