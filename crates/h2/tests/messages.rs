//! What the machine answers to messages that break a rule of RFC 9113 §8, and to some that do not: a table of stimulus and
//! answer.
//!
//! Every row runs whole and octet by octet, with equal answers and equal events.

mod support;

use support::frame;
use support::steps::Step::{self, Accept, Ask, In};
use support::steps::{check, check_all, many, one};
use support::wire::*;

/// A request to a server that breaks a rule of fields.
fn malformed(pairs: &[(&str, &str)]) -> Vec<Step> {
    one(headers(END, 1, &block(pairs)))
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
