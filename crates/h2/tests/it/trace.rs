//! One line for every frame, in both directions.

use alula_h2::{Config, Connection, Priority};

use crate::support::wire::*;
use crate::support::{End, frame, frames, pair_with};

fn traced() -> Config {
    Config { trace: true, ..Config::default() }
}

fn lines(machine: &mut Connection) -> Vec<String> {
    std::iter::from_fn(|| machine.poll_trace()).map(|frame| frame.to_string()).collect()
}

const NAMES: [&str; 10] = [
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
];

/// How the lines of the frames in some bytes begin.
fn beginnings(way: &str, bytes: &[u8]) -> Vec<String> {
    let begin = |(kind, _, stream, payload): (u8, u8, u32, Vec<u8>)| {
        let name = match (NAMES.get(usize::from(kind)), kind) {
            (Some(name), _) => (*name).to_owned(),
            (None, PRIORITY_UPDATE) => "PRIORITY_UPDATE".to_owned(),
            (None, kind) => format!("UNKNOWN({kind:#04x})"),
        };
        format!("{way} {name} stream={stream} length={}", payload.len())
    };
    frames(bytes).into_iter().map(begin).collect()
}

fn assert_begin(lines: &[String], beginnings: &[String]) {
    assert_eq!(lines.len(), beginnings.len(), "{lines:#?}\n{beginnings:#?}");
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line == beginning || line.starts_with(&format!("{beginning} ")), "{line} / {beginning}");
    }
}

/// A conversation with messages of all kinds: what one end sends is in its trace, and in that of the other.
#[test]
fn both_ends_tell_of_the_same_frames() {
    let mut pair = pair_with(traced(), Config { schedule: true, ..traced() });
    let large = "v".repeat(15_000);
    let stream = pair.client.request_with("POST", "/", &[("priority", "u=1"), ("x", &large)], false).unwrap();
    pair.client.data_out(stream, &[7; 20_000], false).unwrap();
    pair.client.machine.reprioritise(stream, Priority { urgency: 6, incremental: true }).unwrap();
    let (mut up, mut down) = (pair.client.transmit(), Vec::new());
    pair.server.receive(&up);
    let accepted = pair.accepted();
    pair.server.respond(accepted, 103, &[], false).unwrap();
    pair.server.respond(accepted, 200, &[("x", &large), ("y", "z")], false).unwrap();
    pair.server.data_out(accepted, b"hello", false).unwrap();
    pair.server.trailers_out(accepted, &[("x", "y")]).unwrap();
    pair.server.machine.ping(*b"12345678").unwrap();
    down.extend(pair.server.transmit());
    pair.client.receive(&down);
    pair.client.machine.forget(stream);
    pair.client.machine.goaway(false);
    let more = pair.client.transmit();
    pair.server.receive(&more);
    up.extend(more);
    let more = pair.server.transmit();
    pair.client.receive(&more);
    down.extend(more);
    let of = |lines: &[String], way: &str| -> Vec<String> {
        lines.iter().filter(|line| line.starts_with(way)).cloned().collect()
    };
    let (client, server) = (lines(&mut pair.client.machine), lines(&mut pair.server.machine));
    assert_begin(&of(&client, "send"), &beginnings("send", &up));
    assert_begin(&of(&server, "recv"), &beginnings("recv", &up));
    assert_begin(&of(&server, "send"), &beginnings("send", &down));
    assert_begin(&of(&client, "recv"), &beginnings("recv", &down));
    let same = |line: &String| line.replace("send", "recv");
    assert_eq!(of(&client, "send").iter().map(same).collect::<Vec<_>>(), of(&server, "recv"));
    assert_eq!(of(&server, "send").iter().map(same).collect::<Vec<_>>(), of(&client, "recv"));
    let update = "recv PRIORITY_UPDATE stream=0 length=10 prioritized=1 priority=u=6, i";
    assert!(server.iter().any(|line| line == update), "{server:#?}");
}

/// Frames that are ignored, refused, late or unknown have lines as well, whole or byte by byte.
#[test]
fn every_frame_that_comes_has_a_line() {
    let bytes = [
        frame(SETTINGS, 0, 0, &[]),
        frame(SETTINGS, ACK, 0, &[]),
        frame(0x16, 0xff, 5, b"unknown"),
        frame(PRIORITY, 0, 1, &[0; 5]),
        frame(PRIORITY, 0, 3, &[0; 4]),
        priority_update(9, "u=1"),
        priority_update(9, "u="),
        priority_update(11, &" ".repeat(200)),
        headers(0, 5, &get()),
        frame(HEADERS, 0, 7, &get()[..2]),
        frame(CONTINUATION, END_HEADERS, 7, &get()[2..]),
        padded(0, 5, DATA, 3, b"x", 3),
        u32_frame(WINDOW_UPDATE, 5, 1),
        u32_frame(RST_STREAM, 5, 8),
        data(0, 5, b"late"),
        frame(PING, 0, 0, &[1; 8]),
        frame(PING, ACK, 0, &[2; 8]),
        frame(GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\x02words"),
    ]
    .concat();
    for piece in [usize::MAX, 1] {
        let mut server = End::new(Connection::server(traced()));
        [MAGIC, &bytes].concat().chunks(piece).for_each(|bytes| server.receive(bytes));
        server.transmit();
        let received: Vec<String> =
            lines(&mut server.machine).into_iter().filter(|line| line.starts_with("recv")).collect();
        assert_begin(&received, &beginnings("recv", &bytes));
    }
}

/// The frame that ends a connection is told of, and then the answer.
#[test]
fn a_wrong_frame_has_a_line_before_its_answer() {
    for (wrong, line) in [
        (frame(PING, 0, 0, &[0; 7]), "recv PING stream=0 length=7"),
        (frame(PING, 0, 1, &[0; 8]), "recv PING stream=1 length=8"),
        (frame(GOAWAY, 0, 0, &[]), "recv GOAWAY stream=0 length=0"),
        (frame(RST_STREAM, 0, 1, &[0; 5]), "recv RST_STREAM stream=1 length=5"),
        (u32_frame(WINDOW_UPDATE, 0, 0), "recv WINDOW_UPDATE stream=0 length=4 increment=0"),
        (priority_update(2, "u=1"), "recv PRIORITY_UPDATE stream=0 length=7"),
        (frame(PRIORITY_UPDATE, 0, 3, &[0; 4]), "recv PRIORITY_UPDATE stream=3 length=4"),
        (frame(PUSH_PROMISE, 0, 1, &[0; 4]), "recv PUSH_PROMISE stream=1 length=4"),
        (data(0, 0, b"x"), "recv DATA stream=0 length=1"),
        (frame(0x16, 0, 0, &[0; 16_385]), "recv UNKNOWN(0x16) stream=0 length=16385"),
    ] {
        let mut server = server_with(traced());
        lines(&mut server.machine);
        server.receive(&wrong);
        server.transmit();
        let told = lines(&mut server.machine);
        assert_eq!((told.len(), told[0].as_str()), (2, line), "{told:#?}");
        assert!(told[1].starts_with("send GOAWAY stream=0"), "{told:#?}");
    }
}
