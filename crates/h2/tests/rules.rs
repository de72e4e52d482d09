//! What the machine answers to each thing a peer must not do, and to some it may: a table of stimulus and answer.
//!
//! Every row runs whole and octet by octet, with equal answers and equal events.

mod support;

use support::wire::*;
use support::{End, frame};

/// What happens before and after the input.
enum Step {
    In(Vec<u8>),
    /// The server answers its latest request with 204.
    Answer,
    /// The server answers CONNECT with 200.
    Accept,
    /// The application gives its latest stream up.
    GiveUp,
    /// The client sends a request with this method; one that has content is left open.
    Ask(&'static str),
}

use Step::{Accept, Answer, Ask, GiveUp, In};

/// Runs the steps, and says what the peer is told, or what the log says if it is told nothing.
fn run(mut end: End, steps: &[Step], piece: usize) -> (Vec<String>, Vec<String>) {
    let (mut told, mut latest) = (Vec::new(), None);
    for step in steps {
        match step {
            In(octets) => octets.chunks(piece).for_each(|octets| end.receive(octets)),
            Answer => end.respond(*end.streams.last().unwrap(), 204, &[], true).unwrap(),
            Accept => end.respond(*end.streams.last().unwrap(), 200, &[], false).unwrap(),
            GiveUp => {
                let stream = end.streams.last().copied().or(latest).unwrap();
                end.machine.reset(stream, alula_h2::ErrorCode::CANCEL);
            }
            Ask(method) => latest = Some(ask(&mut end, method)),
        }
        let octets = end.transmit();
        // What we ask for ourselves is no answer.
        if matches!(step, In(_)) {
            told.extend(answers(&octets));
        }
    }
    // Notices are asked for between inputs, so that their place among the events depends on the pieces.
    let mut log = end.take_log();
    log.sort();
    (told, log)
}

fn ask(end: &mut End, method: &str) -> alula_h2::StreamKey {
    let has_content = matches!(method, "POST" | "CONNECT");
    if method == "CONNECT" {
        let fields = alula_fields::FieldSection::new();
        let head = alula_h2::RequestHead {
            method,
            scheme: "",
            authority: "a.example:443",
            path: "",
            protocol: None,
            fields: &fields,
        };
        return end.machine.send_request(&head, false, &mut end.out).unwrap();
    }
    end.request(method, "/", !has_content).unwrap()
}

/// Checks one row: `expected` is what the peer is told, and `rule` is in the log.
fn check(name: &str, make: fn() -> End, steps: &[Step], expected: &[&str], rule: &str) {
    let whole = run(make(), steps, usize::MAX);
    assert_eq!(whole.0, expected, "{name}: {:?}", whole.1);
    assert!(whole.1.iter().any(|line| line.contains(rule)) || rule.is_empty(), "{name}: {:?}", whole.1);
    assert_eq!(run(make(), steps, 1), whole, "{name}, octet by octet");
}

type Row<'a> = (&'a str, Vec<Step>, &'a str, &'a str);

fn check_all(make: fn() -> End, rows: Vec<Row<'_>>) {
    for (name, steps, expected, rule) in rows {
        let expected: Vec<&str> = expected.split(", ").filter(|text| !text.is_empty()).collect();
        check(name, make, &steps, &expected, rule);
    }
}

/// One input.
fn one(octets: Vec<u8>) -> Vec<Step> {
    vec![In(octets)]
}

fn many(frames: &[Vec<u8>]) -> Vec<Step> {
    vec![In(frames.concat())]
}

/// A request to a server that breaks a rule of fields.
fn malformed(pairs: &[(&str, &str)]) -> Vec<Step> {
    one(headers(END, 1, &block(pairs)))
}

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
                "reset REFUSED_STREAM by goaway unprocessed",
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

#[test]
fn messages() {
    let post = |length: &str| headers(0, 1, &request("POST", &[("content-length", length)]));
    let trailers = |flags: u8, pairs: &[(&str, &str)]| headers(flags, 1, &block(pairs));
    const MALFORMED: &str = "RST_STREAM 1 PROTOCOL_ERROR";
    check_all(
        server,
        vec![
            (
                "content of the stated length",
                many(&[post("4"), data(0, 1, b"te"), data(END, 1, b"st")]),
                "",
                "data test end",
            ),
            ("too little", many(&[post("5"), data(END, 1, b"test")]), MALFORMED, "§8.1.1"),
            ("too much", many(&[post("1"), data(END, 1, b"test")]), MALFORMED, "§8.1.1"),
            (
                "too little in pieces",
                many(&[post("5"), data(0, 1, b"te"), data(END, 1, b"st")]),
                MALFORMED,
                "§8.1.1",
            ),
            (
                "none at all",
                one(headers(END, 1, &request("POST", &[("content-length", "5")]))),
                MALFORMED,
                "",
            ),
            (
                "too little before trailers",
                many(&[post("5"), data(0, 1, b"x"), trailers(END, &[("x", "y")])]),
                MALFORMED,
                "§8.1.1",
            ),
            (
                "trailers",
                many(&[post("1"), data(0, 1, b"x"), trailers(END, &[("x", "y")])]),
                "",
                "trailers x=y",
            ),
            (
                "a second HEADERS that does not end",
                many(&[post("1"), trailers(0, &[("x", "y")])]),
                MALFORMED,
                "without END_STREAM",
            ),
            (
                "a pseudo-field in trailers",
                many(&[headers(0, 1, &get()), trailers(END, &[(":method", "GET")])]),
                MALFORMED,
                "trailers",
            ),
            (
                "a status in trailers",
                many(&[headers(0, 1, &get()), trailers(END, &[(":status", "200")])]),
                MALFORMED,
                "trailers",
            ),
            (
                "te in trailers",
                many(&[headers(0, 1, &get()), trailers(END, &[("te", "trailers")])]),
                MALFORMED,
                "§8.2.2",
            ),
            (
                "fields in a tunnel",
                vec![
                    In(headers(0, 1, &block(&[(":method", "CONNECT"), (":authority", "a.example:443")]))),
                    Accept,
                    In([data(0, 1, b"x"), trailers(END, &[("x", "y")])].concat()),
                ],
                MALFORMED,
                "tunnel",
            ),
        ],
    );
    let ask = |method: &'static str, frames: &[Vec<u8>]| vec![Ask(method), In(frames.concat())];
    let head = |flags: u8, status: &str, pairs: &[(&str, &str)]| headers(flags, 1, &response(status, pairs));
    check_all(
        client,
        vec![
            ("DATA before the head", ask("GET", &[data(0, 1, b"x")]), MALFORMED, "before the head"),
            (
                "interim responses",
                ask("GET", &[head(0, "103", &[("link", "x")]), head(END, "200", &[])]),
                "",
                "interim 103 link=x",
            ),
            ("an interim response that ends", ask("GET", &[head(END, "103", &[])]), MALFORMED, "interim"),
            (
                "an interim response after the final one",
                ask("GET", &[head(0, "200", &[]), head(END, "103", &[])]),
                MALFORMED,
                "trailers",
            ),
            (
                "seventeen interim responses",
                ask("GET", &vec![head(0, "103", &[]); 17]),
                "RST_STREAM 1 ENHANCE_YOUR_CALM",
                "too many interim",
            ),
            ("101", ask("GET", &[head(0, "101", &[])]), MALFORMED, "§8.6"),
            (
                "too little",
                ask("GET", &[head(0, "200", &[("content-length", "2")]), data(END, 1, b"x")]),
                MALFORMED,
                "§8.1.1",
            ),
            (
                "the same length twice",
                ask(
                    "GET",
                    &[
                        head(0, "200", &[("content-length", "1"), ("content-length", "1")]),
                        data(END, 1, b"x"),
                    ],
                ),
                "",
                "data x end",
            ),
            (
                "two lengths",
                ask("GET", &[head(0, "200", &[("content-length", "1"), ("content-length", "2")])]),
                MALFORMED,
                "content-length",
            ),
            (
                "a length without content after HEAD",
                ask("HEAD", &[head(END, "200", &[("content-length", "5")])]),
                "",
                "head 200",
            ),
            (
                "content after HEAD",
                ask("HEAD", &[head(0, "200", &[("content-length", "1")]), data(END, 1, b"x")]),
                MALFORMED,
                "§8.1.1",
            ),
            (
                "304 with a length",
                ask("GET", &[head(END, "304", &[("content-length", "5")])]),
                "",
                "head 304",
            ),
            ("204 with content", ask("GET", &[head(0, "204", &[]), data(END, 1, b"x")]), MALFORMED, "§8.1.1"),
            (
                "a tunnel",
                ask("CONNECT", &[head(0, "200", &[("content-length", "5")]), data(0, 1, b"any length")]),
                "",
                "data any length",
            ),
            (
                "fields in a tunnel",
                ask("CONNECT", &[head(0, "200", &[]), trailers(END, &[("x", "y")])]),
                MALFORMED,
                "tunnel",
            ),
            (
                "CONNECT refused, with content",
                ask("CONNECT", &[head(0, "403", &[("content-length", "1")]), data(END, 1, b"x")]),
                "",
                "data x end",
            ),
            (
                "trailers",
                ask("GET", &[head(0, "200", &[]), data(0, 1, b"x"), trailers(END, &[("x", "y")])]),
                "",
                "trailers x=y",
            ),
            ("no status", ask("GET", &[headers(END, 1, &block(&[("x", "y")]))]), MALFORMED, "§8.3.2"),
            ("a status of two digits", ask("GET", &[head(END, "20", &[])]), MALFORMED, "§8.3.2"),
            ("a status that is no number", ask("GET", &[head(END, "+20", &[])]), MALFORMED, "§8.3.2"),
            ("a status below 100", ask("GET", &[head(END, "099", &[])]), MALFORMED, "§8.3.2"),
            ("two statuses", ask("GET", &[head(END, "200", &[(":status", "200")])]), MALFORMED, "twice"),
            ("a path", ask("GET", &[head(END, "200", &[(":path", "/")])]), MALFORMED, "not defined"),
            ("te", ask("GET", &[head(END, "200", &[("te", "trailers")])]), MALFORMED, "§8.2.2"),
            ("connection", ask("GET", &[head(END, "200", &[("connection", "close")])]), MALFORMED, "§8.2.2"),
        ],
    );
}

#[test]
fn fields_of_requests() {
    const MALFORMED: &str = "RST_STREAM 1 PROTOCOL_ERROR";
    let with = |pairs: &[(&str, &str)]| one(headers(END, 1, &request("GET", pairs)));
    let (m, s, a, p) =
        ((":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/"));
    let refused: Vec<(&str, Vec<Step>)> = vec![
        ("upper case", with(&[("X-Upper", "x")])),
        ("an empty name", with(&[("", "x")])),
        ("a space in a name", with(&[("a b", "x")])),
        ("a colon in a name", with(&[("a:b", "x")])),
        ("CR in a value", with(&[("x", "a\rb")])),
        ("LF in a value", with(&[("x", "a\nb")])),
        ("NUL in a value", with(&[("x", "a\0b")])),
        ("a space before a value", with(&[("x", " a")])),
        ("a tab after a value", with(&[("x", "a\t")])),
        ("connection", with(&[("connection", "keep-alive")])),
        ("keep-alive", with(&[("keep-alive", "1")])),
        ("proxy-connection", with(&[("proxy-connection", "close")])),
        ("transfer-encoding", with(&[("transfer-encoding", "chunked")])),
        ("upgrade", with(&[("upgrade", "h2c")])),
        ("te", with(&[("te", "gzip")])),
        ("te with more", with(&[("te", "trailers, deflate")])),
        ("an unknown pseudo-field", with(&[(":test", "x")])),
        ("an unknown pseudo-field, first", malformed(&[(":test", "x"), m, s, a, p])),
        ("a status", malformed(&[m, s, a, p, (":status", "200")])),
        ("a pseudo-field after a field", malformed(&[m, s, a, ("x", "y"), p])),
        ("an empty path", malformed(&[m, s, a, (":path", "")])),
        ("no method", malformed(&[s, a, p])),
        ("no scheme", malformed(&[m, a, p])),
        ("no path", malformed(&[m, s, a])),
        ("nothing", malformed(&[])),
        ("two methods", malformed(&[m, m, s, a, p])),
        ("two schemes", malformed(&[m, s, s, a, p])),
        ("two paths", malformed(&[m, s, a, p, p])),
        ("two authorities", malformed(&[m, s, a, a, p])),
        ("a method that is no token", malformed(&[(":method", "G T"), s, a, p])),
        ("an empty method", malformed(&[(":method", ""), s, a, p])),
        ("a scheme that is none", malformed(&[m, (":scheme", "ht tp"), a, p])),
        ("a path with a space", malformed(&[m, s, a, (":path", "/a b")])),
        ("a path with CR LF", malformed(&[m, s, a, (":path", "/a\r\nb")])),
        ("a relative path", malformed(&[m, s, a, (":path", "a")])),
        ("an asterisk for GET", malformed(&[m, s, a, (":path", "*")])),
        ("an authority with a user", malformed(&[m, s, (":authority", "me@a.example"), p])),
        ("an empty authority", malformed(&[m, s, (":authority", ""), p])),
        ("an authority with a space", malformed(&[m, s, (":authority", "a b"), p])),
        ("another host", with(&[("host", "b.example")])),
        ("two hosts", with(&[("host", "a.example"), ("host", "a.example")])),
        (
            "a protocol without leave",
            malformed(&[(":method", "CONNECT"), (":protocol", "websocket"), s, a, p]),
        ),
        ("a protocol without CONNECT", malformed(&[m, (":protocol", "websocket"), s, a, p])),
        ("CONNECT with a path", malformed(&[(":method", "CONNECT"), a, p])),
        ("CONNECT with a scheme", malformed(&[(":method", "CONNECT"), s, a])),
        ("CONNECT without authority", malformed(&[(":method", "CONNECT")])),
        ("a length that is none", with(&[("content-length", "+0")])),
        ("two lengths", with(&[("content-length", "0"), ("content-length", "0")])),
    ];
    for (name, steps) in refused {
        check(name, server, &steps, &[MALFORMED], "");
    }
    check_all(
        server,
        vec![
            ("te: trailers", with(&[("te", "trailers")]), "", "te=trailers"),
            ("the same host", with(&[("host", "A.Example:443")]), "", "host=A.Example:443"),
            (
                "only a host",
                malformed(&[m, s, p, ("host", "a.example")]),
                "",
                "head GET https / host=a.example",
            ),
            ("OPTIONS *", malformed(&[(":method", "OPTIONS"), s, a, (":path", "*")]), "", "head OPTIONS"),
            ("an odd scheme", malformed(&[m, (":scheme", "coap"), a, (":path", "x")]), "", "head GET coap"),
            (
                "crumbs",
                with(&[("cookie", "a=b"), ("x", "y"), ("cookie", "c=d"), ("cookie", "e")]),
                "",
                "x=y cookie=a=b; c=d; e",
            ),
            ("one cookie", with(&[("cookie", "a=b"), ("x", "y")]), "", "cookie=a=b x=y"),
            ("an empty value", with(&[("x", "")]), "", "x="),
            ("a method of one's own", malformed(&[(":method", "BREW"), s, a, p]), "", "head BREW"),
            (
                "CONNECT",
                one(headers(0, 1, &block(&[(":method", "CONNECT"), a]))),
                "",
                "head CONNECT a.example",
            ),
            // The stream after one that was refused is served.
            (
                "the next request",
                many(&[headers(END, 1, &request("GET", &[("X", "y")])), headers(END, 3, &get())]),
                MALFORMED,
                "head GET",
            ),
        ],
    );
}

#[test]
fn sizes_of_sections() {
    let long = "v".repeat(10_000);
    let section = |times: usize| -> Vec<(&str, &str)> { vec![("x", long.as_str()); times] };
    let small = vec![("x", "y"); 101];
    let crumbs = vec![("cookie", "y"); 51];
    let frames = |pairs: &[(&str, &str)]| {
        let octets = request("GET", pairs);
        let (first, rest) = octets.split_at(octets.len().min(16_384));
        let mut frames = vec![frame(HEADERS, END, 1, first)];
        frames.extend(rest.chunks(16_384).map(|octets| frame(CONTINUATION, 0, 1, octets)));
        frames.push(frame(CONTINUATION, END_HEADERS, 1, &[]));
        many(&frames)
    };
    check_all(
        server,
        vec![
            ("one is fine", frames(&section(1)), "", "head GET"),
            ("two are too large", frames(&section(2)), "", "head too large end"),
            (
                "seven are far too large",
                frames(&section(7)),
                "GOAWAY 1 ENHANCE_YOUR_CALM",
                "many times larger",
            ),
            ("a hundred fields", frames(&small[1..]), "", "head GET"),
            ("a field too many", frames(&small), "", "head too large end"),
            ("fifty crumbs", frames(&crumbs[1..]), "", "head GET"),
            ("a crumb too many", frames(&crumbs), "", "head too large end"),
        ],
    );
    let large = [
        frame(HEADERS, 0, 1, &response("200", &section(1))),
        frame(CONTINUATION, END_HEADERS, 1, &block(&section(1))),
    ];
    let mut steps = vec![Ask("GET")];
    steps.extend(many(&large));
    check("of a response", client, &steps, &["RST_STREAM 1 ENHANCE_YOUR_CALM"], "§10.5.1");
}

#[test]
fn a_large_request_can_be_answered() {
    let mut server = server();
    let long = "v".repeat(16_000);
    let octets = request("GET", &[("x", &long), ("y", &long)]);
    let (first, rest) = octets.split_at(16_384);
    server.receive(&[frame(HEADERS, END, 1, first), frame(CONTINUATION, END_HEADERS, 1, rest)].concat());
    let stream = *server.streams.last().unwrap();
    server.respond(stream, 431, &[], true).unwrap();
    assert_eq!(answers(&server.transmit()), ["HEADERS 1"]);
    assert_eq!(server.machine.in_flight(), 0);
}
