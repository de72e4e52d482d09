//! The preface, frames as such, padding, and the frames that are about the connection.

use super::table::Step::{Ask, GoAway, In};
use super::table::{Row, Rows, Step, asked, given, many, one};
use crate::support::frame;
use crate::support::wire::*;

const PE: &str = "GOAWAY 0 PROTOCOL_ERROR";
const SIZE: &str = "GOAWAY 0 FRAME_SIZE_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        preface(),
        Rows::new("client, preface", crate::support::client_end, client_preface()),
        Rows::new("server, frames", server, frames_in()),
        Rows::new("client, frames", client, frames_in_client()),
        Rows::new("server, stream 0", server, on_connection()),
        Rows::new("client, stream 0", client, on_connection()),
        Rows::new("server, lengths", server, lengths()),
        Rows::new("client, lengths", client, lengths()),
        padding(),
        Rows::new("client, padding", client, client_padding()),
        Rows::new("server, going away", server, going()),
        Rows::new("client, going away", client, client_going()),
    ]
}

fn with_magic(frame: Vec<u8>) -> Vec<Step> {
    one([MAGIC, &frame].concat())
}

fn preface() -> Rows {
    let bad = [&MAGIC[..20], b"XX\r\n\r\n\r\n"].concat();
    let rows = vec![
        ("a bad preface", "9113 §3.4", one(bad), PE, "client preface"),
        ("HTTP/1.1", "9113 §3.4", one(b"GET / HTTP/1.1\r\n\r\n".to_vec()), PE, "client preface"),
        ("PING first", "9113 §3.4", with_magic(frame(PING, 0, 0, &[0; 8])), PE, "not SETTINGS"),
        ("HEADERS first", "9113 §3.4", with_magic(headers(END, 1, &get())), PE, "not SETTINGS"),
        ("DATA first", "9113 §3.4", with_magic(data(END, 1, b"x")), PE, "not SETTINGS"),
        ("PRIORITY first", "9113 §3.4", with_magic(frame(PRIORITY, 0, 1, &[0; 5])), PE, "not SETTINGS"),
        ("RST_STREAM first", "9113 §3.4", with_magic(u32_frame(RST_STREAM, 1, 8)), PE, "not SETTINGS"),
        ("GOAWAY first", "9113 §3.4", with_magic(frame(GOAWAY, 0, 0, &[0; 8])), PE, "not SETTINGS"),
        ("WINDOW_UPDATE first", "9113 §3.4", with_magic(u32_frame(WINDOW_UPDATE, 0, 1)), PE, "not SETTINGS"),
        ("an unknown frame first", "9113 §3.4", with_magic(frame(0xee, 0, 0, &[])), PE, "not SETTINGS"),
        given("an acknowledgment of SETTINGS first", "9113 §3.4", with_magic(frame(SETTINGS, ACK, 0, &[])))
            .then(PE, "not SETTINGS"),
        ("SETTINGS first", "9113 §3.4", with_magic(frame(SETTINGS, 0, 0, &[])), "", "Settings"),
    ];
    Rows::new("server, preface", crate::support::server_end, rows)
}

fn client_preface() -> Vec<Row> {
    vec![
        given("a server that starts with HEADERS", "9113 §3.4", one(headers(END, 1, &response("200", &[]))))
            .then(PE, "not SETTINGS"),
        given("a server that starts with GOAWAY", "9113 §6.8", one(frame(GOAWAY, 0, 0, &[0; 8])))
            .then("", "farewell NO_ERROR after 0"),
        given(
            "a server that starts with GOAWAY and goes on without SETTINGS",
            "9113 §3.4",
            one([frame(GOAWAY, 0, 0, &[0; 8]), frame(PING, 0, 0, &[0; 8])].concat()),
        )
        .then(PE, "not SETTINGS"),
        given("a server that starts with an acknowledgment", "9113 §3.4", one(frame(SETTINGS, ACK, 0, &[])))
            .then(PE, "not SETTINGS"),
        ("HTTP/1.1", "9113 §3.4", one(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), PE, ""),
    ]
}

fn frames_in() -> Vec<Row> {
    let big = vec![0; 16_385];
    let cut = || frame(HEADERS, END, 1, &get());
    let broken = |inside: Vec<u8>| many(&[cut(), inside]);
    const CUT: &str = "GOAWAY 1 PROTOCOL_ERROR";
    let ping = || frame(PING, 0, 0, &[0; 8]);
    vec![
        ("an unknown frame", "9113 §5.5", many(&[frame(0x16, 0xff, 0, &[0; 8]), ping()]), "PING 1", ""),
        ("an unknown flag", "9113 §4.1", one(frame(PING, 0x16, 0, &[0; 8])), "PING 1", ""),
        ("a reserved bit", "9113 §4.1", one(frame(PING, 0, 0x8000_0000, &[0; 8])), "PING 1", ""),
        given("the largest frame", "9113 §4.2", many(&[headers(0, 1, &get()), data(END, 1, &big[1..])]))
            .then("", "data 16384 bytes end"),
        given("DATA too large", "9113 §4.2", many(&[headers(0, 1, &get()), data(END, 1, &big)]))
            .then("GOAWAY 1 FRAME_SIZE_ERROR", "§4.2"),
        ("HEADERS too large", "9113 §4.2", one(headers(0, 1, &big)), SIZE, "§4.2"),
        ("SETTINGS too large", "9113 §4.2", one(frame(SETTINGS, 0, 0, &vec![0; 16_386])), SIZE, "§4.2"),
        ("an unknown frame too large", "9113 §4.2", one(frame(0xee, 0, 0, &big)), SIZE, "§4.2"),
        given(
            "CONTINUATION too large",
            "9113 §4.2",
            many(&[cut(), frame(CONTINUATION, END_HEADERS, 1, &big)]),
        )
        .then("GOAWAY 1 FRAME_SIZE_ERROR", "§4.2"),
        ("DATA inside a block", "9113 §4.3", broken(data(0, 1, b"x")), CUT, "§4.3"),
        ("HEADERS inside a block", "9113 §4.3", broken(headers(END, 3, &get())), CUT, "§4.3"),
        ("HEADERS of the same stream inside a block", "9113 §4.3", broken(headers(END, 1, &get())), CUT, ""),
        ("PRIORITY inside a block", "9113 §4.3", broken(frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 15])), CUT, ""),
        ("RST_STREAM inside a block", "9113 §4.3", broken(u32_frame(RST_STREAM, 1, 8)), CUT, "§4.3"),
        ("SETTINGS inside a block", "9113 §4.3", broken(frame(SETTINGS, 0, 0, &[])), CUT, "§4.3"),
        ("PUSH_PROMISE inside a block", "9113 §4.3", broken(frame(PUSH_PROMISE, 4, 1, &[0; 4])), CUT, ""),
        ("PING inside a block", "9113 §4.3", broken(ping()), CUT, "§4.3"),
        ("GOAWAY inside a block", "9113 §4.3", broken(frame(GOAWAY, 0, 0, &[0; 8])), CUT, "§4.3"),
        ("WINDOW_UPDATE inside a block", "9113 §4.3", broken(u32_frame(WINDOW_UPDATE, 1, 1)), CUT, "§4.3"),
        ("an unknown frame inside a block", "9113 §4.3", broken(frame(0x16, 0, 0, &[])), CUT, "§4.3"),
        ("PING", "9113 §6.7", one(frame(PING, 0, 0, b"payload!")), "PING 1", ""),
        ("an answer to no PING", "9113 §6.7", one(frame(PING, ACK, 0, b"payload!")), "", ""),
    ]
}

fn frames_in_client() -> Vec<Row> {
    let head = || frame(HEADERS, END, 1, &response("200", &[]));
    vec![
        ("an unknown frame", "9113 §5.5", asked("GET", &[frame(0x16, 0xff, 1, &[0; 8])]), "", ""),
        given(
            "DATA too large",
            "9113 §4.2",
            asked("GET", &[headers(0, 1, &response("200", &[])), data(END, 1, &[0; 16_385])]),
        )
        .then(SIZE, "§4.2"),
        ("PING inside a block", "9113 §4.3", asked("GET", &[head(), frame(PING, 0, 0, &[0; 8])]), PE, "§4.3"),
        ("DATA inside a block", "9113 §4.3", asked("GET", &[head(), data(END, 1, b"x")]), PE, "§4.3"),
        given(
            "CONTINUATION of another stream inside a block",
            "9113 §4.3",
            asked("GET", &[head(), frame(CONTINUATION, END_HEADERS, 3, &[])]),
        )
        .then(PE, "§4.3"),
        ("PING", "9113 §6.7", one(frame(PING, 0, 0, b"payload!")), "PING 1", ""),
    ]
}

/// Frames that need a stream, and have none.
fn on_connection() -> Vec<Row> {
    vec![
        ("DATA", "9113 §6.1", one(data(END, 0, b"x")), PE, "stream 0"),
        ("HEADERS", "9113 §6.2", one(headers(END, 0, &get())), PE, "stream 0"),
        ("PRIORITY", "9113 §6.3", one(frame(PRIORITY, 0, 0, &[0; 5])), PE, "stream 0"),
        ("RST_STREAM", "9113 §6.4", one(u32_frame(RST_STREAM, 0, 8)), PE, "stream 0"),
        ("PUSH_PROMISE", "9113 §6.6", one(frame(PUSH_PROMISE, 4, 0, &[0; 4])), PE, "§6.6"),
        ("CONTINUATION", "9113 §6.10", one(frame(CONTINUATION, 4, 0, &get())), PE, "§6.10"),
    ]
}

/// Frames whose length is wrong for their kind, before anything was asked for.
fn lengths() -> Vec<Row> {
    let short = |kind: u8, bytes: usize| one(frame(kind, 0, 0, &vec![0; bytes]));
    vec![
        ("PING of 7 bytes", "9113 §6.7", short(PING, 7), SIZE, "§6.7"),
        ("PING of 9 bytes", "9113 §6.7", short(PING, 9), SIZE, "§6.7"),
        ("an empty PING", "9113 §6.7", short(PING, 0), SIZE, "§6.7"),
        ("GOAWAY of 7 bytes", "9113 §6.8", short(GOAWAY, 7), SIZE, "§6.8"),
        ("an empty GOAWAY", "9113 §6.8", short(GOAWAY, 0), SIZE, "§6.8"),
        ("SETTINGS of 5 bytes", "9113 §6.5", short(SETTINGS, 5), SIZE, "§6.5"),
        ("SETTINGS of 7 bytes", "9113 §6.5", short(SETTINGS, 7), SIZE, "§6.5"),
        given(
            "an acknowledgment of SETTINGS with an entry",
            "9113 §6.5",
            one(frame(SETTINGS, ACK, 0, &[0; 6])),
        )
        .then(SIZE, "§6.5"),
        ("WINDOW_UPDATE of 3 bytes", "9113 §6.9", short(WINDOW_UPDATE, 3), SIZE, "§6.9"),
        ("WINDOW_UPDATE of 5 bytes", "9113 §6.9", short(WINDOW_UPDATE, 5), SIZE, "§6.9"),
        given("WINDOW_UPDATE of 8 bytes on a stream", "9113 §6.9", one(frame(WINDOW_UPDATE, 0, 1, &[0; 8])))
            .then(SIZE, "§6.9"),
        ("RST_STREAM of 3 bytes", "9113 §6.4", one(frame(RST_STREAM, 0, 1, &[0; 3])), SIZE, "§6.4"),
        ("RST_STREAM of 5 bytes", "9113 §6.4", one(frame(RST_STREAM, 0, 1, &[0; 5])), SIZE, "§6.4"),
    ]
}

fn padding() -> Rows {
    let head = || headers(0, 1, &get());
    const TOO_LONG: &str = "GOAWAY 1 PROTOCOL_ERROR";
    let whole = END | END_HEADERS;
    let rows = vec![
        ("of HEADERS", "9113 §6.2", one(padded(whole, 1, HEADERS, 9, &get(), 9)), "", "head GET"),
        given("of DATA", "9113 §6.1", many(&[head(), padded(END, 1, DATA, 255, b"hello", 255)]))
            .then("", "data hello end"),
        ("of nothing", "9113 §6.1", many(&[head(), padded(END, 1, DATA, 5, b"", 5)]), "", "data  end"),
        ("none, stated", "9113 §6.1", many(&[head(), padded(END, 1, DATA, 0, b"x", 0)]), "", "data x end"),
        given("that is not zero", "9113 §6.1", many(&[head(), data(END | PADDED, 1, &[2, b'x', 7, 7])]))
            .then("", "data x end"),
        ("as long as DATA", "9113 §6.1", many(&[head(), padded(END, 1, DATA, 5, b"hell", 0)]), TOO_LONG, ""),
        ("longer than DATA", "9113 §6.1", many(&[head(), padded(END, 1, DATA, 255, b"x", 0)]), TOO_LONG, ""),
        ("longer than HEADERS", "9113 §6.1", one(padded(whole, 1, HEADERS, 200, &get(), 0)), PE, ""),
        given("of DATA without its length", "9113 §4.2", many(&[head(), data(PADDED, 1, b"")]))
            .then("GOAWAY 1 FRAME_SIZE_ERROR", ""),
        ("of HEADERS without its length", "9113 §4.2", one(headers(PADDED, 1, b"")), SIZE, ""),
        given(
            "and priority cut short",
            "9113 §4.2",
            one(frame(HEADERS, whole | PADDED | WITH_PRIORITY, 1, &[0; 5])),
        )
        .then(SIZE, ""),
        ("priority cut short", "9113 §4.2", one(frame(HEADERS, whole | WITH_PRIORITY, 1, &[0; 4])), SIZE, ""),
    ];
    Rows::new("server, padding", server, rows)
}

fn client_padding() -> Vec<Row> {
    let head = response("200", &[]);
    let whole = END | END_HEADERS;
    vec![
        ("of HEADERS", "9113 §6.2", asked("GET", &[padded(whole, 1, HEADERS, 9, &head, 9)]), "", "head 200"),
        given("longer than HEADERS", "9113 §6.1", asked("GET", &[padded(whole, 1, HEADERS, 200, &head, 0)]))
            .then(PE, ""),
        given(
            "longer than DATA",
            "9113 §6.1",
            asked("GET", &[headers(0, 1, &head), padded(END, 1, DATA, 9, b"x", 0)]),
        )
        .then(PE, ""),
    ]
}

fn going() -> Vec<Row> {
    let goaway = |last: u8, code: u8| frame(GOAWAY, 0, 0, &[0, 0, 0, last, 0, 0, 0, code, b'x']);
    vec![
        given("GOAWAY", "9113 §6.8", many(&[goaway(0, 0), frame(PING, 0, 0, &[0; 8])]))
            .then("PING 1", "farewell NO_ERROR after 0"),
        given("GOAWAY with an unknown code", "9113 §7", many(&[goaway(0, 0xff), frame(PING, 0, 0, &[0; 8])]))
            .then("PING 1", "farewell 0xff after 0"),
        ("GOAWAY that goes up", "9113 §6.8", many(&[goaway(0, 0), goaway(2, 0)]), PE, "§6.8"),
        given(
            "a request after our GOAWAY",
            "9113 §6.8",
            vec![
                In(headers(END, 1, &get())),
                GoAway,
                In([headers(0, 3, &get()), data(END, 3, b"x"), frame(PING, 0, 0, &[0; 8])].concat()),
            ],
        )
        .then("PING 1", ""),
        given(
            "content of an earlier request after our GOAWAY",
            "9113 §6.8",
            vec![In(headers(0, 1, &get())), GoAway, In(data(END, 1, b"late"))],
        )
        .then("", "data late end"),
        given(
            "an error after our GOAWAY",
            "9113 §6.1",
            vec![In(headers(0, 1, &get())), GoAway, In([headers(END, 3, &get()), data(0, 0, b"x")].concat())],
        )
        .then("GOAWAY 1 PROTOCOL_ERROR", ""),
    ]
}

fn client_going() -> Vec<Row> {
    let goaway = |last: u8, code: u8| frame(GOAWAY, 0, 0, &[0, 0, 0, last, 0, 0, 0, code]);
    let head = || headers(END, 1, &response("200", &[]));
    const SAFE: &str = "reset NO_ERROR by goaway unprocessed";
    vec![
        ("GOAWAY below our request", "9113 §6.8", asked("GET", &[goaway(0, 0)]), "", SAFE),
        given("GOAWAY that covers our request", "9113 §6.8", asked("GET", &[goaway(1, 0), head()]))
            .then("", "head 200"),
        given(
            "GOAWAY between two requests",
            "9113 §6.8",
            vec![Ask("GET"), Ask("GET"), In([goaway(1, 0), head()].concat())],
        )
        .then("", SAFE),
        ("GOAWAY that goes up", "9113 §6.8", many(&[goaway(0, 0), goaway(1, 0)]), PE, "§6.8"),
        given("GOAWAY that goes down", "9113 §6.8", vec![Ask("GET"), In(goaway(5, 0)), In(goaway(0, 0))])
            .then("", SAFE),
        given(
            "a response after GOAWAY refused the request",
            "9113 §6.8",
            asked("GET", &[goaway(0, 0), head()]),
        )
        .then("", SAFE),
    ]
}
