//! Every kind of frame in every state of a stream (RFC 9113 §5.1), for both roles. The reserved states are
//! missing: they need PUSH_PROMISE, which is refused.

use super::table::Step::{Answer, Ask, GiveUp, In};
use super::table::{Case, Rows, Step};
use crate::support::wire::*;
use crate::support::{End, frame};

/// What stream 1 goes through, and the answers to each of [`kinds`] in turn. `-` is none; an error of the
/// stream is told with RST_STREAM, one of the connection with GOAWAY and the last stream.
type State = (&'static str, fn() -> Vec<Step>, [&'static str; 12]);

const PE: &str = "GOAWAY 0 PROTOCOL_ERROR";
const PE1: &str = "GOAWAY 1 PROTOCOL_ERROR";
const CLOSED: &str = "RST_STREAM 1 STREAM_CLOSED";

const SERVER: [State; 7] = [
    ("idle", Vec::new, [PE, "-", "-", PE, PE, PE, PE, PE, PE, PE, "-", "-"]),
    ("open", open, ["-", "-", "-", "-", PE1, PE1, PE1, PE1, "-", PE1, "-", "-"]),
    ("half-closed (local)", answered_early, ["-", "-", "-", "-", PE1, PE1, PE1, PE1, "-", PE1, "-", "-"]),
    ("half-closed (remote)", asked, [CLOSED, CLOSED, "-", "-", PE1, PE1, PE1, PE1, "-", PE1, "-", "-"]),
    (
        "closed by END_STREAM",
        answered,
        [
            "GOAWAY 1 STREAM_CLOSED",
            "GOAWAY 1 STREAM_CLOSED",
            "-",
            "-",
            PE1,
            PE1,
            PE1,
            PE1,
            "-",
            PE1,
            "-",
            "-",
        ],
    ),
    (
        "closed by the peer's RST_STREAM",
        reset_by_peer,
        [CLOSED, CLOSED, "-", "-", PE1, PE1, PE1, PE1, "-", PE1, "-", "-"],
    ),
    ("closed by our RST_STREAM", reset_by_us, ["-", "-", "-", "-", PE1, PE1, PE1, PE1, "-", PE1, "-", "-"]),
];

const CLIENT: [State; 7] = [
    ("idle", Vec::new, [PE, PE, "-", PE, PE, PE, PE, PE, PE, PE, "-", PE]),
    (
        "open",
        || vec![Ask("POST")],
        ["RST_STREAM 1 PROTOCOL_ERROR", "-", "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
    (
        "half-closed (local)",
        || vec![Ask("GET")],
        ["RST_STREAM 1 PROTOCOL_ERROR", "-", "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
    (
        "half-closed (remote)",
        || vec![Ask("POST"), response_in()],
        [CLOSED, CLOSED, "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
    (
        "closed by END_STREAM",
        || vec![Ask("GET"), response_in()],
        ["GOAWAY 0 STREAM_CLOSED", "GOAWAY 0 STREAM_CLOSED", "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
    (
        "closed by the peer's RST_STREAM",
        || vec![Ask("POST"), In(u32_frame(RST_STREAM, 1, 8))],
        [CLOSED, CLOSED, "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
    (
        "closed by our RST_STREAM",
        || vec![Ask("POST"), GiveUp],
        ["-", "-", "-", "-", PE, PE, PE, PE, "-", PE, "-", PE],
    ),
];

fn open() -> Vec<Step> {
    vec![In(headers(0, 1, &request("POST", &[])))]
}

fn answered_early() -> Vec<Step> {
    vec![In(headers(0, 1, &request("POST", &[]))), Answer]
}

fn asked() -> Vec<Step> {
    vec![In(headers(END, 1, &get()))]
}

fn answered() -> Vec<Step> {
    vec![In(headers(END, 1, &get())), Answer]
}

fn reset_by_peer() -> Vec<Step> {
    vec![In([headers(0, 1, &get()), u32_frame(RST_STREAM, 1, 8)].concat())]
}

fn reset_by_us() -> Vec<Step> {
    vec![In(headers(0, 1, &request("POST", &[]))), GiveUp]
}

fn response_in() -> Step {
    In(headers(END, 1, &response("200", &[])))
}

/// One frame of each kind on stream 1. HEADERS are what may come: a request on an idle stream of a server,
/// else trailers; a response on a client.
fn kinds(is_client: bool, is_idle: bool) -> [(&'static str, Vec<u8>); 12] {
    let fields = match (is_client, is_idle) {
        (true, _) => response("200", &[]),
        (false, true) => get(),
        (false, false) => block(&[("x", "y")]),
    };
    [
        ("DATA", data(END, 1, b"x")),
        ("HEADERS", headers(END, 1, &fields)),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 9, 1])),
        ("RST_STREAM", u32_frame(RST_STREAM, 1, 8)),
        ("SETTINGS", frame(SETTINGS, 0, 1, &[])),
        ("PUSH_PROMISE", frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2][..], &get()].concat())),
        ("PING", frame(PING, 0, 1, &[0; 8])),
        ("GOAWAY", frame(GOAWAY, 0, 1, &[0; 8])),
        ("WINDOW_UPDATE", u32_frame(WINDOW_UPDATE, 1, 1)),
        ("CONTINUATION", frame(CONTINUATION, END_HEADERS, 1, &fields)),
        ("a frame of unknown kind", frame(0xee, 0xff, 1, b"whatever")),
        ("PRIORITY_UPDATE", priority_update(1, "u=1")),
    ]
}

/// The section that has the rule for each of [`kinds`], where one is broken.
fn section(kind: &str, told: &str, state: &str) -> &'static str {
    match kind {
        "SETTINGS" => "9113 §6.5",
        "PUSH_PROMISE" => "9113 §6.6",
        "PING" => "9113 §6.7",
        "GOAWAY" => "9113 §6.8",
        "CONTINUATION" => "9113 §6.10",
        "a frame of unknown kind" => "9113 §4.1",
        "PRIORITY" => "9113 §5.3.2",
        "PRIORITY_UPDATE" => "9218 §7.1",
        "DATA" if told.ends_with(" PROTOCOL_ERROR") && state != "idle" => "9113 §8.1",
        _ => "9113 §5.1",
    }
}

fn table(subject: &'static str, make: fn() -> End, states: [State; 7]) -> Rows {
    let is_client = make().machine.is_client();
    let mut rows = Vec::new();
    for (state, steps, answers) in states {
        for ((kind, bytes), told) in kinds(is_client, state == "idle").into_iter().zip(answers) {
            let mut steps = steps();
            steps.push(In(bytes));
            let stimulus = format!("{kind} on a stream that is {state}");
            let told_all = if told == "-" { Vec::new() } else { vec![told.into()] };
            rows.push(Case { stimulus, section: section(kind, told, state), steps, told: told_all, log: "" });
        }
    }
    Rows { subject, make, rows }
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![table("server, states", server, SERVER), table("client, states", client, CLIENT)]
}
