//! Identifiers, priorities, CONTINUATION, resets and late frames.

use alula_h2::Config;

use super::table::Step::{self, Accept, Answer, Ask, GiveUp, In};
use super::table::{Row, Rows, asked, given, many, one};
use crate::support::wire::*;
use crate::support::{End, frame};

const PE: &str = "GOAWAY 0 PROTOCOL_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows::new("server, identifiers", server, identifiers()),
        Rows::new("client, identifiers", client, client_identifiers()),
        Rows::new("server, one stream at a time", one_stream, limit()),
        Rows::new("server, priority", server, priority()),
        Rows::new("client, priority", client, client_priority()),
        Rows::new("server, CONTINUATION", server, continuation()),
        Rows::new("client, CONTINUATION", client, client_continuation()),
        Rows::new("server, late frames", server, late()),
        Rows::new("client, late frames", client, client_late()),
        Rows::new("server, resets", server, resets()),
        Rows::new("client, resets", client, client_resets()),
    ]
}

fn identifiers() -> Vec<Row> {
    vec![
        ("an even one", "9113 §5.1.1", one(headers(END, 2, &get())), PE, "even identifier"),
        given(
            "an even one after a request",
            "9113 §5.1.1",
            many(&[headers(END, 1, &get()), headers(END, 2, &get())]),
        )
        .then("GOAWAY 1 PROTOCOL_ERROR", "even"),
        given("a lower one", "9113 §5.1.1", many(&[headers(END, 5, &get()), headers(END, 3, &get())]))
            .then("GOAWAY 5 PROTOCOL_ERROR", "not above all before"),
        given(
            "DATA on one that was passed over",
            "9113 §6.1",
            many(&[headers(END, 5, &get()), data(END, 3, b"x")]),
        )
        .then("RST_STREAM 3 STREAM_CLOSED", ""),
        ("one that leaves others out", "9113 §5.1.1", one(headers(END, 99, &get())), "", "head GET"),
        ("DATA on an even one", "9113 §5.1", one(data(END, 2, b"x")), PE, "idle"),
        ("WINDOW_UPDATE on an even one", "9113 §5.1", one(u32_frame(WINDOW_UPDATE, 2, 1)), PE, "idle"),
        ("RST_STREAM on an even one", "9113 §5.1", one(u32_frame(RST_STREAM, 2, 8)), PE, "idle"),
    ]
}

fn client_identifiers() -> Vec<Row> {
    let response = response("200", &[]);
    vec![
        ("a response to nothing", "9113 §5.1.1", one(headers(END, 101, &response)), PE, "never opened"),
        ("a response on an even one", "9113 §5.1.1", one(headers(END, 2, &response)), PE, ""),
        given("a response to the next request", "9113 §5.1.1", asked("GET", &[headers(END, 3, &response)]))
            .then(PE, ""),
        ("RST_STREAM on an even one", "9113 §5.1", one(u32_frame(RST_STREAM, 2, 8)), PE, "idle"),
    ]
}

fn one_stream() -> End {
    let mut config = Config::default();
    config.limits.streams = 1;
    server_with(config)
}

fn limit() -> Vec<Row> {
    let ask = |id: u32| headers(END, id, &get());
    let both = vec![In(ask(1)), In(ask(3)), Answer];
    let open = headers(0, 1, &get());
    let many_answered = |last| (1..=last).step_by(2).flat_map(|id| [In(ask(id)), Answer]).collect::<Vec<_>>();
    vec![
        ("a second one", "9113 §5.1.2", both, "RST_STREAM 3 REFUSED_STREAM", ""),
        ("a second one after the first", "9113 §5.1.2", vec![In(ask(1)), Answer, In(ask(3)), Answer], "", ""),
        given(
            "DATA for one that was refused",
            "9113 §5.1.2",
            vec![In(ask(1)), In([headers(0, 3, &get()), data(END, 3, b"x")].concat()), Answer],
        )
        .then("RST_STREAM 3 REFUSED_STREAM", ""),
        given(
            "a second one after RST_STREAM",
            "9113 §5.1.2",
            vec![In([open, u32_frame(RST_STREAM, 1, 8)].concat()), In(ask(3)), Answer],
        )
        .then("", "head GET"),
        given(
            "trailers for one that closed long ago",
            "9113 §5.1",
            many_answered(131).into_iter().chain([In(headers(END, 1, &[]))]).collect(),
        )
        .then("RST_STREAM 1 STREAM_CLOSED", "closed long ago"),
        given(
            "DATA for one that closed long ago",
            "9113 §6.1",
            many_answered(131).into_iter().chain([In(data(END, 1, b"x"))]).collect(),
        )
        .then("RST_STREAM 1 STREAM_CLOSED", "closed long ago"),
    ]
}

fn priority() -> Vec<Row> {
    let on = |id: u8| [&[0, 0, 0, id, 255][..], &get()].concat();
    let exclusive = [&[0x80, 0, 0, 9, 255][..], &get()].concat();
    let alone = |on: u8, id: u32| frame(PRIORITY, 0, id, &[0, 0, 0, on, 255]);
    const SELF: &str = "RST_STREAM 1 PROTOCOL_ERROR";
    vec![
        ("of HEADERS", "9113 §5.3.2", one(headers(END | WITH_PRIORITY, 1, &exclusive)), "", "head GET"),
        ("HEADERS that depend on themselves", "7540 §5.3.1", one(headers(END | 0x20, 1, &on(1))), SELF, ""),
        ("PRIORITY that depends on itself", "7540 §5.3.1", one(alone(1, 1)), SELF, ""),
        given(
            "PRIORITY that depends on itself, open",
            "7540 §5.3.1",
            many(&[headers(0, 1, &get()), alone(1, 1)]),
        )
        .then(SELF, "depends on itself"),
        given("PRIORITY of 4 bytes", "9113 §6.3", one(frame(PRIORITY, 0, 1, &[0; 4])))
            .then("RST_STREAM 1 FRAME_SIZE_ERROR", ""),
        given(
            "PRIORITY of 6 bytes, open",
            "9113 §6.3",
            many(&[headers(0, 1, &get()), frame(PRIORITY, 0, 1, &[0; 6])]),
        )
        .then("RST_STREAM 1 FRAME_SIZE_ERROR", "5 bytes"),
        given(
            "PRIORITY on an idle stream",
            "9113 §6.3",
            many(&[frame(PRIORITY, 0, 7, &[0; 5]), headers(END, 1, &get())]),
        )
        .then("", "head GET"),
    ]
}

fn client_priority() -> Vec<Row> {
    vec![
        given("PRIORITY of 4 bytes", "9113 §6.3", asked("GET", &[frame(PRIORITY, 0, 1, &[0; 4])]))
            .then("RST_STREAM 1 FRAME_SIZE_ERROR", "§6.3"),
        given("PRIORITY of 4 bytes on an idle stream", "9113 §6.3", one(frame(PRIORITY, 0, 1, &[0; 4])))
            .then("GOAWAY 0 FRAME_SIZE_ERROR", "§6.3"),
        given(
            "PRIORITY that depends on itself",
            "7540 §5.3.1",
            asked("GET", &[frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 0])]),
        )
        .then("RST_STREAM 1 PROTOCOL_ERROR", "itself"),
        given(
            "a response that depends on itself",
            "7540 §5.3.1",
            asked(
                "GET",
                &[headers(END | WITH_PRIORITY, 1, &[&[0, 0, 0, 1, 0][..], &response("200", &[])].concat())],
            ),
        )
        .then("RST_STREAM 1 PROTOCOL_ERROR", "itself"),
    ]
}

fn continuation() -> Vec<Row> {
    let get = get();
    let (first, second) = get.split_at(3);
    let (second, third) = second.split_at(5);
    let start = || frame(HEADERS, END, 1, first);
    let more = |flags: u8, id: u32, bytes: &[u8]| frame(CONTINUATION, flags, id, bytes);
    let line = block(&[("x", "y")]);
    let pieces = |count: usize| {
        let mut frames = vec![frame(HEADERS, END, 1, &get)];
        frames.extend((1..count).map(|_| more(0, 1, &line)));
        frames.push(more(END_HEADERS, 1, &line));
        many(&frames)
    };
    const CUT: &str = "GOAWAY 1 PROTOCOL_ERROR";
    const CALM: &str = "GOAWAY 1 ENHANCE_YOUR_CALM";
    vec![
        given(
            "three pieces",
            "9113 §6.10",
            many(&[start(), more(0, 1, second), more(END_HEADERS, 1, third)]),
        )
        .then("", "head GET https a.example / end"),
        ("eight", "9113 §10.5", pieces(8), "", "head GET"),
        ("nine", "9113 §10.5", pieces(9), CALM, "too many CONTINUATION"),
        given(
            "an empty one at the end",
            "9113 §6.10",
            many(&[frame(HEADERS, END, 1, &get), more(END_HEADERS, 1, &[])]),
        )
        .then("", "head GET"),
        given(
            "an empty one before the end",
            "9113 §10.5",
            many(&[frame(HEADERS, END, 1, &get), more(0, 1, &[])]),
        )
        .then(CALM, "empty CONTINUATION"),
        ("on another stream", "9113 §4.3", many(&[start(), more(END_HEADERS, 3, second)]), CUT, "§4.3"),
        ("on stream 0", "9113 §4.3", many(&[start(), more(END_HEADERS, 0, second)]), CUT, "§4.3"),
        given(
            "after the end of the block",
            "9113 §6.10",
            many(&[headers(0, 1, &get), more(END_HEADERS, 1, second)]),
        )
        .then(CUT, "§6.10"),
        given(
            "after DATA",
            "9113 §6.10",
            many(&[headers(0, 1, &get), data(0, 1, b"x"), more(END_HEADERS, 1, second)]),
        )
        .then(CUT, "§6.10"),
        given(
            "of trailers",
            "9113 §6.10",
            many(&[headers(0, 1, &get), frame(HEADERS, END, 1, &line[..1]), more(4, 1, &line[1..])]),
        )
        .then("", "trailers x=y"),
        given(
            "of a request that breaks a rule",
            "9113 §8.2.2",
            many(&[frame(HEADERS, END, 1, &get), more(4, 1, &block(&[("upgrade", "h2c")]))]),
        )
        .then("RST_STREAM 1 PROTOCOL_ERROR", ""),
    ]
}

fn client_continuation() -> Vec<Row> {
    let head = response("200", &[("x", "y")]);
    vec![
        given(
            "two pieces",
            "9113 §6.10",
            asked("GET", &[frame(HEADERS, END, 1, &head[..2]), frame(CONTINUATION, 4, 1, &head[2..])]),
        )
        .then("", "head 200 x=y end"),
        given(
            "an empty one before the end",
            "9113 §10.5",
            asked("GET", &[frame(HEADERS, END, 1, &head), frame(CONTINUATION, 0, 1, &[])]),
        )
        .then("GOAWAY 0 ENHANCE_YOUR_CALM", "empty"),
    ]
}

fn late() -> Vec<Row> {
    let post = || headers(0, 1, &request("POST", &[]));
    let given_up = |frames: &[Vec<u8>]| -> Vec<Step> { vec![In(post()), GiveUp, In(frames.concat())] };
    vec![
        given(
            "content, trailers and credit of a stream that we reset",
            "9113 §5.1",
            given_up(&[
                data(0, 1, b"late"),
                u32_frame(WINDOW_UPDATE, 1, 9),
                headers(END, 1, &block(&[("x", "y")])),
                frame(PING, 0, 0, &[0; 8]),
            ]),
        )
        .then("PING 1", ""),
        ("RST_STREAM that crosses ours", "9113 §5.1", given_up(&[u32_frame(RST_STREAM, 1, 8)]), "", ""),
        given(
            "fields of a stream that we reset are decoded",
            "7541 §6.1",
            given_up(&[headers(END, 1, &[0x80])]),
        )
        .then("GOAWAY 1 COMPRESSION_ERROR", ""),
        given(
            "content of a stream whose error we have told",
            "9113 §8.2.1",
            many(&[headers(0, 1, &request("GET", &[("X", "y")])), data(END, 1, b"x")]),
        )
        .then("RST_STREAM 1 PROTOCOL_ERROR", ""),
        given(
            "credit of a stream that has ended",
            "9113 §5.1",
            vec![In(headers(END, 1, &get())), Answer, In(u32_frame(WINDOW_UPDATE, 1, 9))],
        )
        .then("", ""),
    ]
}

fn client_late() -> Vec<Row> {
    let given_up = |frames: &[Vec<u8>]| -> Vec<Step> { vec![Ask("GET"), GiveUp, In(frames.concat())] };
    let response = |flags: u8| headers(flags, 1, &response("200", &[]));
    vec![
        ("a response", "9113 §5.1", given_up(&[response(0), data(END, 1, b"late")]), "", ""),
        ("RST_STREAM that crosses ours", "9113 §5.1", given_up(&[u32_frame(RST_STREAM, 1, 8)]), "", ""),
        given(
            "credit after the response",
            "9113 §5.1",
            asked("GET", &[response(END), u32_frame(WINDOW_UPDATE, 1, 9)]),
        )
        .then("", "head 200"),
    ]
}

fn resets() -> Vec<Row> {
    let reset =
        |code: u32| many(&[headers(0, 1, &get()), data(0, 1, b"half"), u32_frame(RST_STREAM, 1, code)]);
    vec![
        ("with CANCEL", "9113 §5.4.2", reset(8), "", "reset CANCEL by peer"),
        ("with NO_ERROR", "9113 §5.4.2", reset(0), "", "reset NO_ERROR by peer"),
        ("with an unknown code", "9113 §7", reset(0xff), "", "reset 0xff by peer"),
        given(
            "of a tunnel",
            "9113 §8.5",
            vec![
                In(headers(0, 1, &block(&[(":method", "CONNECT"), (":authority", "a.example:443")]))),
                Accept,
                In(u32_frame(RST_STREAM, 1, 10)),
            ],
        )
        .then("", "reset CONNECT_ERROR by peer"),
    ]
}

fn client_resets() -> Vec<Row> {
    let reset = |code: u32| asked("GET", &[u32_frame(RST_STREAM, 1, code)]);
    let cut = |code: u32| {
        asked(
            "GET",
            &[headers(0, 1, &response("200", &[])), data(0, 1, b"x"), u32_frame(RST_STREAM, 1, code)],
        )
    };
    vec![
        ("with REFUSED_STREAM", "9113 §8.7", reset(7), "", "reset REFUSED_STREAM by peer unprocessed"),
        ("with CANCEL", "9113 §8.7", reset(8), "", "reset CANCEL by peer"),
        ("with an unknown code", "9113 §7", reset(0xff), "", "reset 0xff by peer"),
        ("with NO_ERROR inside a body", "9113 §8.1", cut(0), "", "reset NO_ERROR by peer"),
        ("with CANCEL inside a body", "9113 §8.1", cut(8), "", "reset CANCEL by peer"),
        ("with NO_ERROR before a response", "9113 §8.1", reset(0), "", "reset NO_ERROR by peer"),
        given(
            "with NO_ERROR after the whole response",
            "9113 §8.1",
            vec![
                Ask("POST"),
                In([headers(END, 1, &response("200", &[])), u32_frame(RST_STREAM, 1, 0)].concat()),
            ],
        )
        .then("", "reset NO_ERROR by peer"),
    ]
}
