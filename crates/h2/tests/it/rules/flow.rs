//! Flow control (RFC 9113 §6.9).

use super::table::Step::{Ask, In};
use super::table::{Row, Rows, Step, asked, given, many, one};
use crate::support::wire::*;
use crate::support::{End, frame};

const MAX: u32 = 0x7fff_ffff;

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows::new("server, credit", server, credit()),
        Rows::new("client, credit", client, client_credit()),
        Rows::new("server that does not read", reluctant, uploads()),
        Rows::new("client that does not read", reluctant_client, downloads()),
    ]
}

fn reluctant() -> End {
    let mut server = server();
    server.consumes = false;
    server
}

fn reluctant_client() -> End {
    let mut client = client();
    client.consumes = false;
    client
}

fn credit() -> Vec<Row> {
    let open = || headers(0, 1, &request("POST", &[]));
    let on = |id: u32, increment: u32| many(&[open(), u32_frame(WINDOW_UPDATE, id, increment)]);
    vec![
        ("nothing for the connection", "9113 §6.9", on(0, 0), "GOAWAY 1 PROTOCOL_ERROR", "adds nothing"),
        ("nothing for a stream", "9113 §6.9", on(1, 0), "RST_STREAM 1 PROTOCOL_ERROR", "adds nothing"),
        ("nothing for an idle stream", "9113 §5.1", on(3, 0), "GOAWAY 1 PROTOCOL_ERROR", "idle"),
        ("a reserved bit", "9113 §6.9", on(1, 0x8000_0001), "", "head POST"),
        ("only a reserved bit", "9113 §6.9", on(1, 0x8000_0000), "RST_STREAM 1 PROTOCOL_ERROR", "nothing"),
        ("up to 2^31-1 for the connection", "9113 §6.9.1", on(0, MAX - 65_535), "", ""),
        ("above 2^31-1 for the connection", "9113 §6.9.1", on(0, MAX), "GOAWAY 1 FLOW_CONTROL_ERROR", ""),
        ("up to 2^31-1 for a stream", "9113 §6.9.1", on(1, MAX - 65_535), "", ""),
        ("above 2^31-1 for a stream", "9113 §6.9.1", on(1, MAX), "RST_STREAM 1 FLOW_CONTROL_ERROR", "2^31-1"),
        given("above 2^31-1 for a stream by one", "9113 §6.9.1", on(1, MAX - 65_534))
            .then("RST_STREAM 1 FLOW_CONTROL_ERROR", "2^31-1"),
        given(
            "for a stream that the peer has ended",
            "9113 §5.1",
            many(&[headers(END, 1, &get()), u32_frame(WINDOW_UPDATE, 1, 1)]),
        )
        .then("", "head GET"),
    ]
}

fn client_credit() -> Vec<Row> {
    let on = |id: u32, increment: u32| asked("POST", &[u32_frame(WINDOW_UPDATE, id, increment)]);
    vec![
        ("nothing for the connection", "9113 §6.9", on(0, 0), "GOAWAY 0 PROTOCOL_ERROR", "adds nothing"),
        ("nothing for a stream", "9113 §6.9", on(1, 0), "RST_STREAM 1 PROTOCOL_ERROR", "adds nothing"),
        ("above 2^31-1 for the connection", "9113 §6.9.1", on(0, MAX), "GOAWAY 0 FLOW_CONTROL_ERROR", ""),
        ("above 2^31-1 for a stream", "9113 §6.9.1", on(1, MAX), "RST_STREAM 1 FLOW_CONTROL_ERROR", ""),
    ]
}

/// So much of a message that a stream's window of 256 KiB is used up; four fill the connection's.
fn full(head: Vec<u8>, id: u32) -> Vec<Vec<u8>> {
    let mut frames = vec![head];
    frames.extend((0..16).map(|_| data(0, id, &[0; 16_384])));
    frames
}

fn uploads() -> Vec<Row> {
    let upload = |id: u32| full(headers(0, id, &request("POST", &[])), id);
    let and = |mut frames: Vec<Vec<u8>>, last: Vec<u8>| {
        frames.push(last);
        many(&frames)
    };
    let four = || -> Vec<Vec<u8>> { [1, 3, 5, 7].into_iter().flat_map(upload).collect() };
    const STREAM: &str = "RST_STREAM 1 FLOW_CONTROL_ERROR";
    vec![
        ("just as much as the stream's window", "9113 §6.9.1", many(&upload(1)), "", "262144 bytes"),
        given("more than the stream's window", "9113 §6.9.1", and(upload(1), data(0, 1, b"x")))
            .then(STREAM, "stream's"),
        given("padding above the stream's window", "9113 §6.9.1", and(upload(1), padded(0, 1, 0, 9, b"", 9)))
            .then(STREAM, ""),
        ("an empty end in a full window", "9113 §6.9.1", and(upload(1), data(END, 1, b"")), "", "end"),
        ("just as much as the connection's window", "9113 §6.9.1", many(&four()), "", ""),
        given("more than the connection's window", "9113 §6.9.1", and(four(), data(0, 7, b"x")))
            .then("GOAWAY 7 FLOW_CONTROL_ERROR", "connection's"),
        given(
            "more than the connection's window on a closed stream",
            "9113 §6.9.1",
            and(four(), [headers(0, 9, &get()), u32_frame(RST_STREAM, 9, 8), data(0, 9, b"x")].concat()),
        )
        .then("GOAWAY 9 FLOW_CONTROL_ERROR", "connection's"),
    ]
}

fn downloads() -> Vec<Row> {
    let download = |last: Vec<u8>| -> Vec<Step> {
        let mut frames = full(headers(0, 1, &response("200", &[])), 1);
        frames.push(last);
        vec![Ask("GET"), In(frames.concat())]
    };
    let nothing = || frame(PING, ACK, 0, &[0; 8]);
    vec![
        ("just as much as the stream's window", "9113 §6.9.1", download(nothing()), "", "262144 bytes"),
        given("more than the stream's window", "9113 §6.9.1", download(data(0, 1, b"x")))
            .then("RST_STREAM 1 FLOW_CONTROL_ERROR", "stream's"),
        ("credit in the meantime", "9113 §6.9", one(u32_frame(WINDOW_UPDATE, 0, 1)), "", ""),
    ]
}
