//! Extensible priorities (RFC 9218): the setting and PRIORITY_UPDATE.

use alula_h2::Config;

use super::table::Step::{Answer, GiveUp, In};
use super::table::{Row, Rows, asked, given, many, one};
use crate::support::wire::*;
use crate::support::{End, frame};

const PE: &str = "GOAWAY 0 PROTOCOL_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows::new("server, PRIORITY_UPDATE", server, updates()),
        Rows::new("server, PRIORITY_UPDATE, one stream at a time", one_stream, limit()),
        Rows::new("client, PRIORITY_UPDATE", client, client_updates()),
        Rows::new("server, NO_RFC7540_PRIORITIES", server, later_settings()),
        Rows::new("client, NO_RFC7540_PRIORITIES", client, later_settings()),
        Rows::new("client, first NO_RFC7540_PRIORITIES", crate::support::client_end, first_settings()),
    ]
}

fn one_stream() -> End {
    let mut config = Config::default();
    config.limits.streams = 1;
    server_with(config)
}

fn updates() -> Vec<Row> {
    let open = || headers(0, 1, &get());
    let on = |id: u32, payload: &[u8]| frame(PRIORITY_UPDATE, 0, id, payload);
    let update = || priority_update(1, "u=1, i");
    let long: &'static str = " ".repeat(200).leak();
    vec![
        ("for an open stream", "9218 §7.1", many(&[open(), update()]), "", "head GET"),
        ("for an idle stream", "9218 §7.1", many(&[update(), headers(END, 1, &get())]), "", "head GET"),
        ("for a half-closed stream", "9218 §7.1", many(&[headers(END, 1, &get()), update()]), "", "head GET"),
        ("for a closed stream", "9218 §7.1", vec![In(headers(END, 1, &get())), Answer, In(update())], "", ""),
        ("for a stream that we reset", "9218 §7.1", vec![In(open()), GiveUp, In(update())], "", ""),
        given(
            "for a stream that the peer reset",
            "9218 §7.1",
            many(&[open(), u32_frame(RST_STREAM, 1, 8), update()]),
        )
        .then("", "reset CANCEL"),
        given("for a stream that was passed over", "9218 §7.1", many(&[headers(END, 3, &get()), update()]))
            .then("", ""),
        ("with a reserved bit", "9218 §7.1", one(priority_update(0x8000_0001, "u=1")), "", ""),
        ("with an unknown flag", "9113 §4.1", one(frame(PRIORITY_UPDATE, 0xff, 0, &[0, 0, 0, 1])), "", ""),
        ("without a value", "9218 §4", one(priority_update(1, "")), "", ""),
        ("with an unknown parameter", "9218 §4", one(priority_update(1, "u=9, x=(a b), y")), "", ""),
        ("with a value that is no dictionary", "9218 §7", one(priority_update(1, "u=")), "", ""),
        ("with a value of 200 bytes", "9218 §7", one(priority_update(1, long)), "", ""),
        ("for stream 0", "9218 §7.1", one(priority_update(0, "u=1")), PE, "§7.1"),
        ("for a stream that was never promised", "9218 §7.1", one(priority_update(2, "u=1")), PE, "§7.1"),
        ("on a stream", "9218 §7.1", one(on(1, &[0, 0, 0, 1])), PE, "§7.1"),
        given("on an open stream", "9218 §7.1", many(&[open(), on(1, &[0; 4])]))
            .then("GOAWAY 1 PROTOCOL_ERROR", "§7.1"),
        ("of 3 bytes", "9218 §7.1", one(on(0, &[0; 3])), "GOAWAY 0 FRAME_SIZE_ERROR", "§7.1"),
        ("of no bytes", "9218 §7.1", one(on(0, &[])), "GOAWAY 0 FRAME_SIZE_ERROR", "§7.1"),
        given("inside a block", "9113 §4.3", many(&[frame(HEADERS, END, 1, &get()), update()]))
            .then("GOAWAY 1 PROTOCOL_ERROR", "§4.3"),
        given(
            "a field that is no dictionary",
            "9218 §5",
            one(headers(END, 1, &request("GET", &[("priority", "u=")]))),
        )
        .then("", "priority=u="),
        given("a field", "9218 §5", one(headers(END, 1, &request("GET", &[("priority", "u=0")]))))
            .then("", "priority=u=0"),
    ]
}

fn limit() -> Vec<Row> {
    let update = |id: u32| priority_update(id, "u=1");
    let first = headers(END, 1, &get());
    vec![
        ("for one idle stream", "9218 §7.1", one(update(1)), "", ""),
        ("for one idle stream, twice", "9218 §7.1", many(&[update(1), update(1)]), "", ""),
        ("for two idle streams", "9218 §7.1", many(&[update(1), update(3)]), PE, "MAX_CONCURRENT_STREAMS"),
        given("for an idle stream beside an open one", "9218 §7.1", many(&[first.clone(), update(3)]))
            .then("GOAWAY 1 PROTOCOL_ERROR", "MAX_CONCURRENT_STREAMS"),
        given("for an idle stream after a closed one", "9218 §7.1", vec![In(first), Answer, In(update(3))])
            .then("", ""),
    ]
}

fn client_updates() -> Vec<Row> {
    vec![
        ("from a server", "9218 §7.1", one(priority_update(1, "u=1")), PE, "§7.1"),
        ("from a server, for a request", "9218 §7.1", asked("GET", &[priority_update(1, "u=1")]), PE, "§7.1"),
    ]
}

fn later_settings() -> Vec<Row> {
    vec![
        ("0 again", "9218 §2.1", one(setting(9, 0)), "", "Settings"),
        ("1 after 0", "9218 §2.1", one(setting(9, 1)), PE, "NO_RFC7540_PRIORITIES"),
        ("2", "9218 §2.1", one(setting(9, 2)), PE, "NO_RFC7540_PRIORITIES"),
    ]
}

fn first_settings() -> Vec<Row> {
    vec![
        ("1", "9218 §2.1", one(setting(9, 1)), "", "Settings"),
        ("1 and again", "9218 §2.1", many(&[setting(9, 1), setting(9, 1)]), "", "Settings"),
        ("1 and 0", "9218 §2.1", many(&[setting(9, 1), setting(9, 0)]), PE, "NO_RFC7540_PRIORITIES"),
        ("2", "9218 §2.1", one(setting(9, 2)), PE, "NO_RFC7540_PRIORITIES"),
    ]
}
