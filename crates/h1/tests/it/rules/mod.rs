//! What the machine makes of each message a peer must not send, and of many it may: a table of stimulus, section of the RFC,
//! what the peer is told and what the application is told. `cargo test -p alula-h1 --test it rules -- --nocapture` prints it.
//!
//! Each row is run whole, byte by byte and at random cuts, with the same outcome.

mod chunks;
mod client;
mod client_ends;
mod exchanges;
mod fields;
mod framing;
mod heads;
mod limits;
mod sending;
mod server_ends;
mod table;

#[test]
fn every_stimulus_is_answered_as_the_rfc_says() {
    let mut tables = Vec::new();
    tables.extend(heads::tables());
    tables.extend(fields::tables());
    tables.extend(framing::tables());
    tables.extend(chunks::tables());
    tables.extend(limits::tables());
    tables.extend(exchanges::tables());
    tables.extend(server_ends::tables());
    tables.extend(sending::tables());
    tables.extend(client::tables());
    tables.extend(client_ends::tables());
    table::run_all(tables);
}
