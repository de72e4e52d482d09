//! SETTINGS: the bounds of every setting, order, acknowledgments (RFC 9113 §6.5, RFC 8441 §3).

use super::table::Step::{Ask, In};
use super::table::{Row, Rows, given, many, one};
use crate::support::frame;
use crate::support::wire::*;

const PE: &str = "GOAWAY 0 PROTOCOL_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows::new("server, settings", server, bounds()),
        Rows::new("client, settings", client, bounds()),
        Rows::new("server, settings of a client", server, of_a_client()),
        Rows::new("client, settings of a server", client, of_a_server()),
    ]
}

fn bounds() -> Vec<Row> {
    let ping = || frame(PING, 0, 0, &[0; 8]);
    let ack = || frame(SETTINGS, ACK, 0, &[]);
    let fine = |id: u16, value: u32| many(&[setting(id, value), ping()]);
    vec![
        ("HEADER_TABLE_SIZE 0", "9113 §6.5.2", fine(1, 0), "PING 1", "Settings"),
        ("HEADER_TABLE_SIZE 2^32-1", "9113 §6.5.2", fine(1, u32::MAX), "PING 1", "Settings"),
        ("ENABLE_PUSH 0", "9113 §6.5.2", fine(2, 0), "PING 1", "Settings"),
        ("ENABLE_PUSH 2", "9113 §6.5.2", one(setting(2, 2)), PE, "ENABLE_PUSH"),
        ("ENABLE_PUSH 2^32-1", "9113 §6.5.2", one(setting(2, u32::MAX)), PE, "ENABLE_PUSH"),
        ("MAX_CONCURRENT_STREAMS 2^32-1", "9113 §6.5.2", fine(3, u32::MAX), "PING 1", "Settings"),
        ("INITIAL_WINDOW_SIZE 0", "9113 §6.5.2", fine(4, 0), "PING 1", "Settings"),
        ("INITIAL_WINDOW_SIZE 2^31-1", "9113 §6.5.2", fine(4, 0x7fff_ffff), "PING 1", "Settings"),
        given("INITIAL_WINDOW_SIZE 2^31", "9113 §6.5.2", one(setting(4, 1 << 31)))
            .then("GOAWAY 0 FLOW_CONTROL_ERROR", "INITIAL_WINDOW_SIZE"),
        given("INITIAL_WINDOW_SIZE 2^32-1", "9113 §6.5.2", one(setting(4, u32::MAX)))
            .then("GOAWAY 0 FLOW_CONTROL_ERROR", "INITIAL_WINDOW_SIZE"),
        ("MAX_FRAME_SIZE 2^14-1", "9113 §6.5.2", one(setting(5, 16_383)), PE, "MAX_FRAME_SIZE"),
        ("MAX_FRAME_SIZE 2^14", "9113 §6.5.2", fine(5, 16_384), "PING 1", "Settings"),
        ("MAX_FRAME_SIZE 2^24-1", "9113 §6.5.2", fine(5, 0xff_ffff), "PING 1", "Settings"),
        ("MAX_FRAME_SIZE 2^24", "9113 §6.5.2", one(setting(5, 1 << 24)), PE, "MAX_FRAME_SIZE"),
        ("MAX_FRAME_SIZE 0", "9113 §6.5.2", one(setting(5, 0)), PE, "MAX_FRAME_SIZE"),
        ("MAX_HEADER_LIST_SIZE 2^32-1", "9113 §6.5.2", fine(6, u32::MAX), "PING 1", "Settings"),
        ("ENABLE_CONNECT_PROTOCOL 0", "8441 §3", fine(8, 0), "PING 1", "Settings"),
        ("ENABLE_CONNECT_PROTOCOL 1", "8441 §3", fine(8, 1), "PING 1", "Settings"),
        given("ENABLE_CONNECT_PROTOCOL 1 twice", "8441 §3", many(&[setting(8, 1), setting(8, 1), ping()]))
            .then("PING 1", "Settings"),
        ("ENABLE_CONNECT_PROTOCOL 2", "8441 §3", one(setting(8, 2)), PE, "ENABLE_CONNECT_PROTOCOL"),
        given("ENABLE_CONNECT_PROTOCOL back to 0", "8441 §3", many(&[setting(8, 1), setting(8, 0)]))
            .then(PE, "ENABLE_CONNECT_PROTOCOL"),
        ("setting 0", "9113 §6.5.2", fine(0, u32::MAX), "PING 1", "Settings"),
        ("setting 7", "9113 §6.5.2", fine(7, u32::MAX), "PING 1", "Settings"),
        ("an unknown setting", "9113 §6.5.2", fine(0xffff, u32::MAX), "PING 1", "Settings"),
        ("no setting", "9113 §6.5", many(&[frame(SETTINGS, 0, 0, &[]), ping()]), "PING 1", "Settings"),
        given(
            "the same setting twice, the first out of range",
            "9113 §6.5.2",
            one(frame(SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 0, 0, 5, 0, 0, 0x40, 0])),
        )
        .then(PE, "MAX_FRAME_SIZE"),
        ("an acknowledgment too many", "9113 §6.5.3", many(&[ack(), ping()]), "PING 1", ""),
        given("33 entries", "9113 §10.5", one(frame(SETTINGS, 0, 0, &[0; 33 * 6])))
            .then("GOAWAY 0 ENHANCE_YOUR_CALM", "entries"),
    ]
}

fn of_a_client() -> Vec<Row> {
    let open = || headers(0, 1, &request("POST", &[]));
    let max = 0x7fff_ffff;
    vec![
        ("ENABLE_PUSH 1", "9113 §6.5.2", one(setting(2, 1)), "", "Settings"),
        ("MAX_CONCURRENT_STREAMS 0", "9113 §6.5.2", one(setting(3, 0)), "", "Settings"),
        given(
            "INITIAL_WINDOW_SIZE that takes a stream's window above 2^31-1",
            "9113 §6.9.2",
            many(&[open(), u32_frame(WINDOW_UPDATE, 1, max - 65_535), setting(4, 65_536)]),
        )
        .then("GOAWAY 1 FLOW_CONTROL_ERROR", "§6.9.2"),
        given(
            "INITIAL_WINDOW_SIZE that takes a stream's window to 2^31-1",
            "9113 §6.9.2",
            many(&[open(), u32_frame(WINDOW_UPDATE, 1, max - 65_535), setting(4, 65_535)]),
        )
        .then("", "Settings"),
    ]
}

fn of_a_server() -> Vec<Row> {
    vec![
        ("ENABLE_PUSH 1", "9113 §6.5.2", one(setting(2, 1)), PE, "ENABLE_PUSH"),
        given(
            "INITIAL_WINDOW_SIZE while a request is open",
            "9113 §6.9.2",
            vec![Ask("POST"), In([setting(4, 0), setting(4, 1 << 20)].concat())],
        )
        .then("", "Settings"),
        given(
            "INITIAL_WINDOW_SIZE that takes a stream's window above 2^31-1",
            "9113 §6.9.2",
            vec![Ask("POST"), In([u32_frame(WINDOW_UPDATE, 1, 0x7fff_0000), setting(4, 65_536)].concat())],
        )
        .then("GOAWAY 0 FLOW_CONTROL_ERROR", "§6.9.2"),
    ]
}
