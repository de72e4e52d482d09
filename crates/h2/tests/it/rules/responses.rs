//! What a response must look like (RFC 9113 §8), and what follows a request of each kind.

use super::table::Step::{In, Tunnel};
use super::table::{Row, Rows, asked, given};
use crate::support::frame;
use crate::support::wire::*;

const MALFORMED: &str = "RST_STREAM 1 PROTOCOL_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows::new("client, heads", client, heads()),
        Rows::new("client, fields", client, fields()),
        Rows::new("client, interim responses", client, interim()),
        Rows::new("client, content", client, content()),
        Rows::new("client, tunnels", client, tunnels()),
        Rows::new("client of a server that takes extended CONNECT", connect_client, extended_connect()),
    ]
}

fn head(flags: u8, status: &str, pairs: &[(&str, &str)]) -> Vec<u8> {
    headers(flags, 1, &response(status, pairs))
}

fn heads() -> Vec<Row> {
    let all = |pairs: &[(&str, &str)]| asked("GET", &[headers(END, 1, &block(pairs))]);
    let of = |status: &str| asked("GET", &[head(END, status, &[])]);
    vec![
        ("200", "9113 §8.3.2", of("200"), "", "head 200 end"),
        ("599", "9113 §8.3.2", of("599"), "", "head 599 end"),
        ("no status", "9113 §8.3.2", all(&[("x", "y")]), MALFORMED, "§8.3.2"),
        ("nothing", "9113 §8.3.2", all(&[]), MALFORMED, "§8.3.2"),
        ("a status of two digits", "9113 §8.3.2", of("20"), MALFORMED, "§8.3.2"),
        ("a status of four digits", "9113 §8.3.2", of("2000"), MALFORMED, "§8.3.2"),
        ("a status that is no number", "9113 §8.3.2", of("+20"), MALFORMED, "§8.3.2"),
        ("a status below 100", "9113 §8.3.2", of("099"), MALFORMED, "§8.3.2"),
        ("an empty status", "9113 §8.3.2", of(""), MALFORMED, "§8.3.2"),
        ("two statuses", "9113 §8.3", all(&[(":status", "200"), (":status", "200")]), MALFORMED, "twice"),
        ("a status after a field", "9113 §8.3", all(&[("x", "y"), (":status", "200")]), MALFORMED, "after"),
        ("a path", "9113 §8.3", all(&[(":status", "200"), (":path", "/")]), MALFORMED, "not defined"),
        ("a protocol", "9113 §8.3", all(&[(":status", "200"), (":protocol", "x")]), MALFORMED, "not defined"),
        ("an unknown pseudo-field", "9113 §8.3", all(&[(":status", "200"), (":x", "")]), MALFORMED, ""),
        ("101", "9113 §8.6", asked("GET", &[head(0, "101", &[])]), MALFORMED, "§8.6"),
        ("101 that ends the stream", "9113 §8.6", of("101"), MALFORMED, "§8.6"),
    ]
}

fn fields() -> Vec<Row> {
    let with = |name: &str, value: &str| asked("GET", &[head(END, "200", &[(name, value)])]);
    let long: &'static str = "v".repeat(10_000).leak();
    let large = [
        frame(HEADERS, 0, 1, &response("200", &[("x", long)])),
        frame(CONTINUATION, END_HEADERS, 1, &block(&[("x", long)])),
    ];
    let trailers = |pairs: &[(&str, &str)]| {
        asked("GET", &[head(0, "200", &[]), data(0, 1, b"x"), headers(END, 1, &block(pairs))])
    };
    vec![
        ("upper case in a name", "9113 §8.2.1", with("X", "y"), MALFORMED, "§8.2.1"),
        ("a space in a name", "9113 §8.2.1", with("a b", "y"), MALFORMED, "§8.2.1"),
        ("LF in a value", "9113 §8.2.1", with("x", "a\nb"), MALFORMED, "§8.2.1"),
        ("a space before a value", "9113 §8.2.1", with("x", " y"), MALFORMED, "§8.2.1"),
        ("te", "9113 §8.2.2", with("te", "trailers"), MALFORMED, "§8.2.2"),
        ("connection", "9113 §8.2.2", with("connection", "close"), MALFORMED, "§8.2.2"),
        ("transfer-encoding", "9113 §8.2.2", with("transfer-encoding", "chunked"), MALFORMED, "§8.2.2"),
        ("upgrade", "9113 §8.2.2", with("upgrade", "h3"), MALFORMED, "§8.2.2"),
        ("keep-alive", "9113 §8.2.2", with("keep-alive", "1"), MALFORMED, "§8.2.2"),
        ("proxy-connection", "9113 §8.2.2", with("proxy-connection", "close"), MALFORMED, "§8.2.2"),
        ("too many bytes", "9113 §10.5.1", asked("GET", &large), "RST_STREAM 1 ENHANCE_YOUR_CALM", "larger"),
        ("trailers", "9113 §8.1", trailers(&[("x", "y")]), "", "trailers x=y"),
        given(
            "host, content-length and expect in trailers, which are dropped",
            "9110 §6.5.1",
            trailers(&[("host", "b"), ("content-length", "x"), ("x", "y"), ("expect", "100-continue")]),
        )
        .then("", "trailers x=y"),
        ("a status in trailers", "9113 §8.1", trailers(&[(":status", "200")]), MALFORMED, "trailers"),
        ("connection in trailers", "9113 §8.2.2", trailers(&[("connection", "x")]), MALFORMED, "§8.2.2"),
    ]
}

fn interim() -> Vec<Row> {
    let hints = |flags: u8| head(flags, "103", &[("link", "x")]);
    vec![
        given("before the final one", "9113 §8.1", asked("GET", &[hints(0), head(END, "200", &[])]))
            .then("", "interim 103"),
        ("that ends the stream", "9113 §8.1", asked("GET", &[hints(END)]), MALFORMED, "interim"),
        ("after the final one", "9113 §8.1", asked("GET", &[head(0, "200", &[]), hints(END)]), MALFORMED, ""),
        given("after the final one, going on", "9113 §8.1", asked("GET", &[head(0, "200", &[]), hints(0)]))
            .then(MALFORMED, ""),
        ("with content", "9113 §8.1", asked("GET", &[hints(0), data(END, 1, b"x")]), MALFORMED, "before"),
        ("sixteen", "9113 §10.5", asked("GET", &vec![hints(0); 16]), "", "interim 103"),
        given("seventeen", "9113 §10.5", asked("GET", &vec![hints(0); 17]))
            .then("RST_STREAM 1 ENHANCE_YOUR_CALM", "too many"),
    ]
}

fn content() -> Vec<Row> {
    let stated = |flags: u8, status: &str, length: &str| head(flags, status, &[("content-length", length)]);
    let twice = |a: &str, b: &str| head(0, "200", &[("content-length", a), ("content-length", b)]);
    let end = |bytes: &[u8]| data(END, 1, bytes);
    vec![
        ("before the head", "9113 §8.1", asked("GET", &[data(0, 1, b"x")]), MALFORMED, "before the head"),
        ("as stated", "9113 §8.1.1", asked("GET", &[stated(0, "200", "1"), end(b"x")]), "", "data x end"),
        ("too little", "9113 §8.1.1", asked("GET", &[stated(0, "200", "2"), end(b"x")]), MALFORMED, "§8.1.1"),
        ("too much", "9113 §8.1.1", asked("GET", &[stated(0, "200", "0"), end(b"x")]), MALFORMED, "§8.1.1"),
        ("none", "9113 §8.1.1", asked("GET", &[stated(END, "200", "2")]), MALFORMED, "§8.1.1"),
        ("one length twice", "9110 §8.6", asked("GET", &[twice("1", "1"), end(b"x")]), "", "data x end"),
        ("two lengths", "9110 §8.6", asked("GET", &[twice("1", "2")]), MALFORMED, "content-length"),
        given("two lengths, to CONNECT", "9110 §9.3.6", asked("CONNECT", &[twice("1", "2"), end(b"x")]))
            .then("", "data x end"),
        given(
            "none that is one, to CONNECT",
            "9110 §9.3.6",
            asked("CONNECT", &[stated(0, "200", "x"), end(b"x")]),
        )
        .then("", "data x end"),
        given("two lengths, and no tunnel", "9110 §8.6", asked("CONNECT", &[stated(0, "407", "x")]))
            .then(MALFORMED, "content-length"),
        ("none, to HEAD", "9110 §9.3.2", asked("HEAD", &[stated(END, "200", "5")]), "", "head 200"),
        ("none, late, to HEAD", "9110 §9.3.2", asked("HEAD", &[stated(0, "200", "5"), end(b"")]), "", "end"),
        ("some, to HEAD", "9113 §8.1.1", asked("HEAD", &[stated(0, "200", "1"), end(b"x")]), MALFORMED, ""),
        ("none, in 304", "9113 §8.1.1", asked("GET", &[stated(END, "304", "5")]), "", "head 304"),
        ("some, in 304", "9113 §8.1.1", asked("GET", &[stated(0, "304", "1"), end(b"x")]), MALFORMED, ""),
        ("some, in 204", "9113 §8.1.1", asked("GET", &[head(0, "204", &[]), end(b"x")]), MALFORMED, "§8.1.1"),
        ("none, in 204", "9113 §8.1.1", asked("GET", &[head(0, "204", &[]), end(b"")]), "", "data  end"),
    ]
}

fn tunnels() -> Vec<Row> {
    let open = || head(0, "200", &[("content-length", "5")]);
    let trailers = || headers(END, 1, &block(&[("x", "y")]));
    vec![
        ("any length", "9113 §8.5", asked("CONNECT", &[open(), data(0, 1, b"any length")]), "", "any length"),
        ("the end", "9113 §8.5", asked("CONNECT", &[open(), data(END, 1, b"x")]), "", "data x end"),
        ("trailers", "9113 §8.5", asked("CONNECT", &[open(), trailers()]), MALFORMED, "tunnel"),
        given(
            "refused, with content",
            "9113 §8.5",
            asked("CONNECT", &[head(0, "403", &[("content-length", "1")]), data(END, 1, b"x")]),
        )
        .then("", "data x end"),
        given(
            "refused, with content of another length",
            "9113 §8.1.1",
            asked("CONNECT", &[head(0, "403", &[("content-length", "2")]), data(END, 1, b"x")]),
        )
        .then(MALFORMED, "§8.1.1"),
    ]
}

fn connect_client() -> crate::support::End {
    let mut client = client();
    client.receive(&setting(8, 1));
    client.transmit();
    client.log.clear();
    client
}

fn extended_connect() -> Vec<Row> {
    let with = |frames: &[Vec<u8>]| vec![Tunnel, In(frames.concat())];
    let open = || head(0, "200", &[]);
    vec![
        ("accepted", "8441 §5", with(&[open(), data(0, 1, b"any")]), "", "data any"),
        ("ended", "8441 §5", with(&[open(), data(END, 1, b"any")]), "", "data any end"),
        ("refused", "8441 §5", with(&[head(END, "403", &[])]), "", "head 403 end"),
        ("101", "9113 §8.6", with(&[head(0, "101", &[])]), MALFORMED, "§8.6"),
        given("trailers", "9113 §8.5", with(&[open(), headers(END, 1, &block(&[("x", "y")]))]))
            .then(MALFORMED, "tunnel"),
        ("reset", "8441 §5", with(&[open(), u32_frame(RST_STREAM, 1, 8)]), "", "reset CANCEL by peer"),
    ]
}
