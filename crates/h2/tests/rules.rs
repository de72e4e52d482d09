//! What the machine answers to each frame a peer must not send, and to some it may: a table of stimulus and answer.
//!
//! Every row runs whole and octet by octet, with equal answers and equal events.

mod support;

use support::steps::Step::{Answer, Ask, GiveUp, In};
use support::steps::{Row, check, check_all, many, one};
use support::wire::*;
use support::{End, frame};

const CALM: &str = "ENHANCE_YOUR_CALM";

#[test]
fn preface() {
    let unconnected = || End::server();
    let bad = [&MAGIC[..20], b"XX\r\n\r\n\r\n"].concat();
    check_all(
        unconnected,
        vec![
            ("a bad preface", one(bad), "GOAWAY 0 PROTOCOL_ERROR", "§3.4"),
            ("HTTP/1.1", one(b"GET / HTTP/1.1\r\n\r\n".to_vec()), "GOAWAY 0 PROTOCOL_ERROR", "§3.4"),
            (
                "the first frame is not SETTINGS",
                one([MAGIC, &frame(PING, 0, 0, &[0; 8])].concat()),
                "GOAWAY 0 PROTOCOL_ERROR",
                "first frame is not SETTINGS",
            ),
            (
                "the first frame acknowledges SETTINGS",
                one([MAGIC, &frame(SETTINGS, ACK, 0, &[])].concat()),
                "GOAWAY 0 PROTOCOL_ERROR",
                "first frame is not SETTINGS",
            ),
        ],
    );
    check_all(
        End::client,
        vec![(
            "a server that starts with HEADERS",
            one(headers(END, 1, &response("200", &[]))),
            "GOAWAY 0 PROTOCOL_ERROR",
            "first frame is not SETTINGS",
        )],
    );
}

#[test]
fn frames_as_such() {
    let big = vec![0; 16_385];
    check_all(
        server,
        vec![
            (
                "an unknown frame",
                many(&[frame(0x16, 0xff, 0, &[0; 8]), frame(PING, 0, 0, &[0; 8])]),
                "PING 1",
                "",
            ),
            ("an unknown flag", one(frame(PING, 0x16, 0, &[0; 8])), "PING 1", ""),
            ("a reserved bit", one(frame(PING, 0, 0x8000_0000, &[0; 8])), "PING 1", ""),
            (
                "the largest frame",
                many(&[headers(0, 1, &get()), data(END, 1, &big[1..])]),
                "",
                "data 16384 octets end",
            ),
            (
                "DATA too large",
                many(&[headers(0, 1, &get()), data(END, 1, &big)]),
                "GOAWAY 1 FRAME_SIZE_ERROR",
                "§4.2",
            ),
            ("HEADERS too large", one(headers(0, 1, &big)), "GOAWAY 0 FRAME_SIZE_ERROR", "§4.2"),
            ("a broken block", one(headers(0, 1, &[0x80])), "GOAWAY 1 COMPRESSION_ERROR", "RFC 7541 §6.1"),
            (
                "a block that is cut",
                one(headers(0, 1, &[0x40, 9])),
                "GOAWAY 1 COMPRESSION_ERROR",
                "RFC 7541 §5.2",
            ),
            (
                "PRIORITY inside a block",
                many(&[frame(HEADERS, END, 1, &get()), frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 15])]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§4.3",
            ),
            (
                "HEADERS inside a block",
                many(&[frame(HEADERS, END, 1, &get()), headers(END, 3, &get())]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§4.3",
            ),
            (
                "an unknown frame inside a block",
                many(&[frame(HEADERS, END, 1, &get()), frame(0x16, 0, 0, &[])]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§4.3",
            ),
        ],
    );
}

#[test]
fn idle_streams() {
    let rows = |id: u32| -> Vec<Row<'static>> {
        vec![
            ("DATA", one(data(END, id, b"test")), "GOAWAY 0 PROTOCOL_ERROR", "DATA on an idle"),
            (
                "RST_STREAM",
                one(u32_frame(RST_STREAM, id, 8)),
                "GOAWAY 0 PROTOCOL_ERROR",
                "RST_STREAM on an idle",
            ),
            (
                "WINDOW_UPDATE",
                one(u32_frame(WINDOW_UPDATE, id, 9)),
                "GOAWAY 0 PROTOCOL_ERROR",
                "WINDOW_UPDATE on an idle",
            ),
            (
                "CONTINUATION",
                one(frame(CONTINUATION, END_HEADERS, id, &get())),
                "GOAWAY 0 PROTOCOL_ERROR",
                "without an unfinished",
            ),
        ]
    };
    for id in [1, 2] {
        check_all(server, rows(id));
        check_all(client, rows(id));
    }
    check_all(
        client,
        vec![(
            "a response to nothing",
            one(headers(END, 101, &response("200", &[]))),
            "GOAWAY 0 PROTOCOL_ERROR",
            "never opened",
        )],
    );
}

#[test]
fn half_closed_and_closed_streams() {
    let opened = || headers(END, 1, &get());
    let continuation = frame(CONTINUATION, END_HEADERS, 1, &block(&[("x", "y")]));
    let reset = u32_frame(RST_STREAM, 1, 8);
    check_all(
        server,
        vec![
            (
                "DATA after END_STREAM",
                many(&[opened(), data(END, 1, b"x")]),
                "RST_STREAM 1 STREAM_CLOSED",
                "§5.1",
            ),
            ("HEADERS after END_STREAM", many(&[opened(), opened()]), "RST_STREAM 1 STREAM_CLOSED", "§5.1"),
            (
                "CONTINUATION after END_STREAM",
                many(&[opened(), continuation.clone()]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§6.10",
            ),
            (
                "DATA after RST_STREAM",
                many(&[headers(0, 1, &get()), reset.clone(), data(END, 1, b"x")]),
                "RST_STREAM 1 STREAM_CLOSED",
                "reset CANCEL by peer",
            ),
            (
                "HEADERS after RST_STREAM",
                many(&[headers(0, 1, &get()), reset.clone(), opened()]),
                "RST_STREAM 1 STREAM_CLOSED",
                "",
            ),
            (
                "PRIORITY and WINDOW_UPDATE after RST_STREAM",
                many(&[
                    headers(0, 1, &get()),
                    reset.clone(),
                    frame(PRIORITY, 0, 1, &[0, 0, 0, 9, 0]),
                    u32_frame(WINDOW_UPDATE, 1, 1),
                    reset.clone(),
                ]),
                "",
                "",
            ),
            (
                "DATA on a closed stream",
                vec![In(opened()), Answer, In(data(END, 1, b"test"))],
                "GOAWAY 1 STREAM_CLOSED",
                "both sides have ended",
            ),
            (
                "HEADERS on a closed stream",
                vec![In(opened()), Answer, In(opened())],
                "GOAWAY 1 STREAM_CLOSED",
                "both sides have ended",
            ),
            (
                "CONTINUATION on a closed stream",
                vec![In(opened()), Answer, In(continuation)],
                "GOAWAY 1 PROTOCOL_ERROR",
                "",
            ),
            (
                "frames that are late on a stream we gave up",
                vec![
                    In(headers(0, 1, &request("POST", &[]))),
                    GiveUp,
                    In([
                        data(0, 1, b"late"),
                        headers(END, 1, &block(&[("x", "y")])),
                        frame(PING, 0, 0, &[0; 8]),
                    ]
                    .concat()),
                ],
                "PING 1",
                "",
            ),
        ],
    );
    let answered = || headers(END, 1, &response("200", &[]));
    check_all(
        client,
        vec![
            (
                "DATA on a closed stream",
                vec![Ask("GET"), In([answered(), data(END, 1, b"test")].concat())],
                "GOAWAY 0 STREAM_CLOSED",
                "§5.1",
            ),
            (
                "HEADERS on a closed stream",
                vec![Ask("GET"), In([answered(), answered()].concat())],
                "GOAWAY 0 STREAM_CLOSED",
                "§5.1",
            ),
            (
                "DATA after END_STREAM while we still send",
                vec![Ask("POST"), In([answered(), data(END, 1, b"test")].concat())],
                "RST_STREAM 1 STREAM_CLOSED",
                "§5.1",
            ),
            (
                "DATA after RST_STREAM",
                vec![Ask("GET"), In([reset, data(END, 1, b"test")].concat())],
                "RST_STREAM 1 STREAM_CLOSED",
                "",
            ),
            (
                "a response to a request we gave up",
                vec![
                    Ask("GET"),
                    GiveUp,
                    In([headers(0, 1, &response("200", &[])), data(END, 1, b"late")].concat()),
                ],
                "",
                "",
            ),
            (
                "an unprocessed request",
                vec![Ask("GET"), In(u32_frame(RST_STREAM, 1, 7))],
                "",
                "reset REFUSED_STREAM by peer unprocessed",
            ),
        ],
    );
}

#[test]
fn stream_identifiers() {
    check_all(
        server,
        vec![
            ("an even one", one(headers(END, 2, &get())), "GOAWAY 0 PROTOCOL_ERROR", "even identifier"),
            (
                "a lower one",
                many(&[headers(END, 5, &get()), headers(END, 3, &get())]),
                "GOAWAY 5 PROTOCOL_ERROR",
                "not above all before",
            ),
            ("HEADERS on 0", one(headers(END, 0, &get())), "GOAWAY 0 PROTOCOL_ERROR", "§6.2"),
            ("DATA on 0", one(data(END, 0, b"x")), "GOAWAY 0 PROTOCOL_ERROR", "§6.1"),
            ("PRIORITY on 0", one(frame(PRIORITY, 0, 0, &[0; 5])), "GOAWAY 0 PROTOCOL_ERROR", "§6.3"),
            ("RST_STREAM on 0", one(u32_frame(RST_STREAM, 0, 8)), "GOAWAY 0 PROTOCOL_ERROR", "§6.4"),
            ("SETTINGS on 1", one(frame(SETTINGS, 0, 1, &[])), "GOAWAY 0 PROTOCOL_ERROR", "§6.5"),
            ("PING on 1", one(frame(PING, 0, 1, &[0; 8])), "GOAWAY 0 PROTOCOL_ERROR", "§6.7"),
            ("GOAWAY on 1", one(frame(GOAWAY, 0, 1, &[0; 8])), "GOAWAY 0 PROTOCOL_ERROR", "§6.8"),
        ],
    );
    check_all(
        client,
        vec![(
            "HEADERS on 0",
            one(headers(END, 0, &response("200", &[]))),
            "GOAWAY 0 PROTOCOL_ERROR",
            "§6.2",
        )],
    );
}

#[test]
fn priority() {
    let on_itself = [&[0, 0, 0, 1, 255][..], &get()].concat();
    let on_another = [&[0x80, 0, 0, 9, 255][..], &get()].concat();
    check_all(
        server,
        vec![
            ("ignored", one(headers(END | WITH_PRIORITY, 1, &on_another)), "", "head GET"),
            (
                "HEADERS that depend on themselves",
                one(headers(END | WITH_PRIORITY, 1, &on_itself)),
                "RST_STREAM 1 PROTOCOL_ERROR",
                "",
            ),
            (
                "PRIORITY that depends on itself",
                one(frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 255])),
                "RST_STREAM 1 PROTOCOL_ERROR",
                "",
            ),
            (
                "PRIORITY of 4 octets",
                one(frame(PRIORITY, 0, 1, &[0; 4])),
                "RST_STREAM 1 FRAME_SIZE_ERROR",
                "",
            ),
            (
                "on an idle stream",
                many(&[frame(PRIORITY, 0, 7, &[0; 5]), headers(END, 1, &get())]),
                "",
                "head GET",
            ),
            (
                "padding and priority cut short",
                one(frame(HEADERS, END | END_HEADERS | PADDED | WITH_PRIORITY, 1, &[0; 5])),
                "GOAWAY 0 FRAME_SIZE_ERROR",
                "§4.2",
            ),
        ],
    );
    check_all(
        client,
        vec![(
            "PRIORITY of 4 octets",
            vec![Ask("GET"), In(frame(PRIORITY, 0, 1, &[0; 4]))],
            "RST_STREAM 1 FRAME_SIZE_ERROR",
            "§6.3",
        )],
    );
}

#[test]
fn padding() {
    check_all(
        server,
        vec![
            ("of HEADERS", one(padded(END | END_HEADERS, 1, HEADERS, 9, &get(), 9)), "", "head GET"),
            (
                "of DATA",
                many(&[headers(0, 1, &get()), padded(END, 1, DATA, 255, b"hello", 255)]),
                "",
                "data hello end",
            ),
            ("of nothing", many(&[headers(0, 1, &get()), padded(END, 1, DATA, 5, b"", 5)]), "", "data  end"),
            (
                "as long as DATA",
                many(&[headers(0, 1, &get()), padded(END, 1, DATA, 5, b"hell", 0)]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "padding",
            ),
            (
                "as long as HEADERS",
                one(padded(END | END_HEADERS, 1, HEADERS, 200, &get(), 0)),
                "GOAWAY 0 PROTOCOL_ERROR",
                "padding",
            ),
            (
                "without its length",
                many(&[headers(0, 1, &get()), data(PADDED, 1, b"")]),
                "GOAWAY 1 FRAME_SIZE_ERROR",
                "",
            ),
            ("of HEADERS without its length", one(headers(PADDED, 1, b"")), "GOAWAY 0 FRAME_SIZE_ERROR", ""),
        ],
    );
    check_all(
        client,
        vec![(
            "as long as HEADERS",
            vec![Ask("GET"), In(padded(END | END_HEADERS, 1, HEADERS, 200, &response("200", &[]), 0))],
            "GOAWAY 0 PROTOCOL_ERROR",
            "padding",
        )],
    );
}

#[test]
fn settings() {
    let rows = || -> Vec<Row<'static>> {
        vec![
            (
                "ACK with payload",
                one(frame(SETTINGS, ACK, 0, &[0; 6])),
                "GOAWAY 0 FRAME_SIZE_ERROR",
                "not empty",
            ),
            ("5 octets", one(frame(SETTINGS, 0, 0, &[0; 5])), "GOAWAY 0 FRAME_SIZE_ERROR", "multiple of 6"),
            ("ENABLE_PUSH 2", one(setting(2, 2)), "GOAWAY 0 PROTOCOL_ERROR", "ENABLE_PUSH"),
            ("INITIAL_WINDOW_SIZE 2^31", one(setting(4, 1 << 31)), "GOAWAY 0 FLOW_CONTROL_ERROR", "§6.5.2"),
            ("MAX_FRAME_SIZE 16383", one(setting(5, 16_383)), "GOAWAY 0 PROTOCOL_ERROR", "MAX_FRAME_SIZE"),
            ("MAX_FRAME_SIZE 2^24", one(setting(5, 1 << 24)), "GOAWAY 0 PROTOCOL_ERROR", "MAX_FRAME_SIZE"),
            ("ENABLE_CONNECT_PROTOCOL 2", one(setting(8, 2)), "GOAWAY 0 PROTOCOL_ERROR", "RFC 8441"),
            (
                "ENABLE_CONNECT_PROTOCOL back to 0",
                many(&[setting(8, 1), setting(8, 0)]),
                "GOAWAY 0 PROTOCOL_ERROR",
                "RFC 8441",
            ),
            ("an unknown one", many(&[setting(0xff, 1), frame(PING, 0, 0, &[0; 8])]), "PING 1", "Settings"),
            (
                "an ACK too many",
                many(&[frame(SETTINGS, ACK, 0, &[]), frame(PING, 0, 0, &[0; 8])]),
                "PING 1",
                "",
            ),
            ("33 entries", one(frame(SETTINGS, 0, 0, &[0; 33 * 6])), "GOAWAY 0 ENHANCE_YOUR_CALM", "entries"),
        ]
    };
    check_all(server, rows());
    check_all(client, rows());
    check_all(client, vec![("ENABLE_PUSH 1", one(setting(2, 1)), "GOAWAY 0 PROTOCOL_ERROR", "ENABLE_PUSH")]);
    check_all(server, vec![("ENABLE_PUSH 1 from a client", one(setting(2, 1)), "", "Settings")]);
}

#[test]
fn push_ping_and_going_away() {
    let promise = frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2][..], &get()].concat());
    check_all(
        server,
        vec![
            (
                "PUSH_PROMISE",
                many(&[headers(END, 1, &get()), promise.clone()]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§6.6",
            ),
            ("PING", one(frame(PING, 0, 0, b"payload!")), "PING 1", ""),
            ("an answer to no PING", one(frame(PING, ACK, 0, b"payload!")), "", ""),
            ("PING of 6 octets", one(frame(PING, 0, 0, &[0; 6])), "GOAWAY 0 FRAME_SIZE_ERROR", "§6.7"),
            ("GOAWAY of 7 octets", one(frame(GOAWAY, 0, 0, &[0; 7])), "GOAWAY 0 FRAME_SIZE_ERROR", "§6.8"),
            (
                "RST_STREAM of 3 octets",
                many(&[headers(0, 1, &get()), frame(RST_STREAM, 0, 1, &[0; 3])]),
                "GOAWAY 1 FRAME_SIZE_ERROR",
                "§6.4",
            ),
            (
                "RST_STREAM with an odd code",
                many(&[headers(0, 1, &get()), u32_frame(RST_STREAM, 1, 0xff), frame(PING, 0, 0, &[0; 8])]),
                "PING 1",
                "reset 0xff",
            ),
            (
                "GOAWAY with an odd code",
                many(&[frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0xff, b'x']), frame(PING, 0, 0, &[0; 8])]),
                "PING 1",
                "GoAway { last: 0, code: 0xff }",
            ),
        ],
    );
    check_all(
        client,
        vec![
            ("PUSH_PROMISE", vec![Ask("GET"), In(promise)], "GOAWAY 0 PROTOCOL_ERROR", "§6.6"),
            (
                "GOAWAY that goes up",
                many(&[frame(GOAWAY, 0, 0, &[0; 8]), frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])]),
                "GOAWAY 0 PROTOCOL_ERROR",
                "§6.8",
            ),
            (
                "GOAWAY before our request",
                vec![Ask("GET"), In(frame(GOAWAY, 0, 0, &[0; 8]))],
                "",
                "reset NO_ERROR by goaway unprocessed",
            ),
        ],
    );
}

#[test]
fn windows() {
    let max = 0x7fff_ffff;
    let open = || headers(0, 1, &request("POST", &[]));
    check_all(
        server,
        vec![
            (
                "WINDOW_UPDATE of 3 octets",
                one(frame(WINDOW_UPDATE, 0, 0, &[0; 3])),
                "GOAWAY 0 FRAME_SIZE_ERROR",
                "§6.9",
            ),
            (
                "nothing for the connection",
                one(u32_frame(WINDOW_UPDATE, 0, 0)),
                "GOAWAY 0 PROTOCOL_ERROR",
                "§6.9",
            ),
            (
                "nothing for a stream",
                many(&[open(), u32_frame(WINDOW_UPDATE, 1, 0)]),
                "RST_STREAM 1 PROTOCOL_ERROR",
                "§6.9",
            ),
            ("a reserved bit", many(&[open(), u32_frame(WINDOW_UPDATE, 1, 0x8000_0001)]), "", "head POST"),
            (
                "too much for the connection",
                one(u32_frame(WINDOW_UPDATE, 0, max)),
                "GOAWAY 0 FLOW_CONTROL_ERROR",
                "§6.9.1",
            ),
            (
                "too much for a stream",
                many(&[open(), u32_frame(WINDOW_UPDATE, 1, max)]),
                "RST_STREAM 1 FLOW_CONTROL_ERROR",
                "§6.9.1",
            ),
            (
                "too much by SETTINGS",
                many(&[open(), u32_frame(WINDOW_UPDATE, 1, max - 65_535), setting(4, 65_536)]),
                "GOAWAY 1 FLOW_CONTROL_ERROR",
                "§6.9.2",
            ),
            (
                "as much as there may be",
                many(&[open(), u32_frame(WINDOW_UPDATE, 1, max - 65_535), setting(4, 65_535)]),
                "",
                "Settings",
            ),
        ],
    );
}

#[test]
fn data_beyond_the_windows() {
    // The stream's window is 256 KiB, the connection's 1 MiB; nothing is given back.
    fn reluctant() -> End {
        let mut server = server();
        server.consumes = false;
        server
    }
    let full = vec![0; 16_384];
    let upload = |id: u32| -> Vec<Vec<u8>> {
        let mut frames = vec![headers(0, id, &request("POST", &[]))];
        frames.extend((0..16).map(|_| data(0, id, &full)));
        frames
    };
    let mut stream = upload(1);
    stream.push(data(0, 1, b"x"));
    check("a stream's", reluctant, &many(&stream), &["RST_STREAM 1 FLOW_CONTROL_ERROR"], "§6.9.1");
    let mut all: Vec<Vec<u8>> = [1, 3, 5, 7].into_iter().flat_map(upload).collect();
    check("the connection's, just full", reluctant, &many(&all), &[], "");
    all.push(data(0, 7, b"x"));
    check("the connection's", reluctant, &many(&all), &["GOAWAY 7 FLOW_CONTROL_ERROR"], "§6.9.1");
}

#[test]
fn continuation() {
    let get = get();
    let (first, second) = get.split_at(3);
    let (second, third) = second.split_at(5);
    let whole = [
        frame(HEADERS, END, 1, first),
        frame(CONTINUATION, 0, 1, second),
        frame(CONTINUATION, END_HEADERS, 1, third),
    ];
    let nine = |last: u8| {
        let mut frames = vec![frame(HEADERS, END, 1, &get)];
        frames.extend((0..7).map(|_| frame(CONTINUATION, 0, 1, &block(&[("x", "y")]))));
        frames.push(frame(CONTINUATION, last, 1, &block(&[("x", "y")])));
        frames
    };
    let mut too_many = nine(0);
    too_many.push(frame(CONTINUATION, END_HEADERS, 1, &[]));
    check_all(
        server,
        vec![
            ("three pieces", many(&whole), "", "head GET https a.example / end"),
            ("eight", many(&nine(END_HEADERS)), "", "head GET"),
            ("nine", many(&too_many), &format!("GOAWAY 1 {CALM}"), "too many CONTINUATION"),
            (
                "an empty one at the end",
                many(&[frame(HEADERS, END, 1, &get), frame(CONTINUATION, END_HEADERS, 1, &[])]),
                "",
                "head GET",
            ),
            (
                "an empty one before the end",
                many(&[frame(HEADERS, END, 1, &get), frame(CONTINUATION, 0, 1, &[])]),
                "GOAWAY 1 ENHANCE_YOUR_CALM",
                "empty CONTINUATION",
            ),
            (
                "on another stream",
                many(&[frame(HEADERS, END, 1, first), frame(CONTINUATION, END_HEADERS, 3, second)]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§4.3",
            ),
            (
                "on stream 0",
                many(&[frame(HEADERS, END, 1, first), frame(CONTINUATION, END_HEADERS, 0, second)]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "",
            ),
            (
                "after the end of the block",
                many(&[headers(0, 1, &get), frame(CONTINUATION, END_HEADERS, 1, second)]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§6.10",
            ),
            (
                "after DATA",
                many(&[headers(0, 1, &get), data(0, 1, b"x"), frame(CONTINUATION, END_HEADERS, 1, second)]),
                "GOAWAY 1 PROTOCOL_ERROR",
                "§6.10",
            ),
        ],
    );
}
