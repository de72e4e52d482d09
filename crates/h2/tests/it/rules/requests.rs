//! What a request must look like (RFC 9113 §8), CONNECT and extended CONNECT (RFC 8441) included.

use alula_h2::Config;

use super::table::Step::{Accept, In};
use super::table::{Case, Row, Rows, Step, given, many, one};
use crate::support::wire::*;
use crate::support::{End, frame};

const MALFORMED: &str = "RST_STREAM 1 PROTOCOL_ERROR";

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        malformed(),
        Rows::new("server, fields", server, fine()),
        Rows::new("server, content", server, content()),
        Rows::new("server, trailers", server, trailers()),
        Rows::new("server, CONNECT", server, connect()),
        Rows::new("server that takes extended CONNECT", connect_server, extended_connect()),
        Rows::new("server, sizes", server, sizes()),
    ]
}

const M: (&str, &str) = (":method", "GET");
const S: (&str, &str) = (":scheme", "https");
const A: (&str, &str) = (":authority", "a.example");
const P: (&str, &str) = (":path", "/");
const C: (&str, &str) = (":method", "CONNECT");
const W: (&str, &str) = (":protocol", "websocket");

type Pairs = &'static [(&'static str, &'static str)];

/// Fields that must not follow the pseudo-fields of a usual request.
const FIELDS: [(&str, &str, Pairs); 26] = [
    ("upper case in a name", "9113 §8.2.1", &[("X-Upper", "x")]),
    ("an empty name", "9113 §8.2.1", &[("", "x")]),
    ("a space in a name", "9113 §8.2.1", &[("a b", "x")]),
    ("a colon in a name", "9113 §8.2.1", &[("a:b", "x")]),
    ("NUL in a name", "9113 §8.2.1", &[("a\0b", "x")]),
    ("DEL in a name", "9113 §8.2.1", &[("a\x7fb", "x")]),
    ("a byte above 0x7f in a name", "9113 §8.2.1", &[("ä", "x")]),
    ("CR in a value", "9113 §8.2.1", &[("x", "a\rb")]),
    ("LF in a value", "9113 §8.2.1", &[("x", "a\nb")]),
    ("NUL in a value", "9113 §8.2.1", &[("x", "a\0b")]),
    ("a space before a value", "9113 §8.2.1", &[("x", " a")]),
    ("a space after a value", "9113 §8.2.1", &[("x", "a ")]),
    ("a tab before a value", "9113 §8.2.1", &[("x", "\ta")]),
    ("a tab after a value", "9113 §8.2.1", &[("x", "a\t")]),
    ("connection", "9113 §8.2.2", &[("connection", "keep-alive")]),
    ("keep-alive", "9113 §8.2.2", &[("keep-alive", "1")]),
    ("proxy-connection", "9113 §8.2.2", &[("proxy-connection", "close")]),
    ("transfer-encoding", "9113 §8.2.2", &[("transfer-encoding", "chunked")]),
    ("upgrade", "9113 §8.2.2", &[("upgrade", "h2c")]),
    ("te: gzip", "9113 §8.2.2", &[("te", "gzip")]),
    ("te: trailers and more", "9113 §8.2.2", &[("te", "trailers, deflate")]),
    ("an empty te", "9113 §8.2.2", &[("te", "")]),
    ("another host", "9113 §8.3.1", &[("host", "b.example")]),
    ("two hosts", "9113 §8.3.1", &[("host", "a.example"), ("host", "a.example")]),
    ("a length that is none", "9110 §8.6", &[("content-length", "+0")]),
    ("two lengths", "9110 §8.6", &[("content-length", "0"), ("content-length", "0")]),
];

/// Sections that are no request.
const SECTIONS: [(&str, &str, Pairs); 38] = [
    ("an unknown pseudo-field, last", "9113 §8.3", &[M, S, A, P, (":test", "x")]),
    ("an unknown pseudo-field, first", "9113 §8.3", &[(":test", "x"), M, S, A, P]),
    ("a pseudo-field of responses", "9113 §8.3", &[M, S, A, P, (":status", "200")]),
    ("a pseudo-field in upper case", "9113 §8.2.1", &[(":METHOD", "GET"), S, A, P]),
    ("a pseudo-field without a name", "9113 §8.2.1", &[M, S, A, P, (":", "x")]),
    ("a pseudo-field after a field", "9113 §8.3", &[M, S, A, ("x", "y"), P]),
    ("a pseudo-field again after a field", "9113 §8.3", &[M, S, A, P, ("x", "y"), P]),
    ("two methods", "9113 §8.3", &[M, M, S, A, P]),
    ("two schemes", "9113 §8.3", &[M, S, S, A, P]),
    ("two paths", "9113 §8.3", &[M, S, A, P, P]),
    ("two authorities", "9113 §8.3", &[M, S, A, A, P]),
    ("nothing", "9113 §8.3.1", &[]),
    ("no method", "9113 §8.3.1", &[S, A, P]),
    ("no scheme", "9113 §8.3.1", &[M, A, P]),
    ("no path", "9113 §8.3.1", &[M, S, A]),
    ("an empty path", "9113 §8.3.1", &[M, S, A, (":path", "")]),
    ("a relative path", "9113 §8.3.1", &[M, S, A, (":path", "a")]),
    ("a path with a space", "9113 §8.3.1", &[M, S, A, (":path", "/a b")]),
    ("a path with CR LF", "9113 §8.3.1", &[M, S, A, (":path", "/a\r\nb")]),
    ("an asterisk for GET", "9113 §8.3.1", &[M, S, A, (":path", "*")]),
    ("an empty method", "9113 §8.3.1", &[(":method", ""), S, A, P]),
    ("a method that is no token", "9113 §8.3.1", &[(":method", "G T"), S, A, P]),
    ("an empty scheme", "9113 §8.3.1", &[M, (":scheme", ""), A, P]),
    ("a scheme that is none", "9113 §8.3.1", &[M, (":scheme", "ht tp"), A, P]),
    ("a scheme that begins with a digit", "9113 §8.3.1", &[M, (":scheme", "1http"), A, P]),
    ("an empty authority", "9113 §8.3.1", &[M, S, (":authority", ""), P]),
    ("an authority with a user", "9113 §8.3.1", &[M, S, (":authority", "me@a.example"), P]),
    ("an authority with a space", "9113 §8.3.1", &[M, S, (":authority", "a b"), P]),
    ("an authority with a path", "9113 §8.3.1", &[M, S, (":authority", "a.example/x"), P]),
    ("CONNECT without authority", "9113 §8.5", &[C]),
    ("CONNECT with a path", "9113 §8.5", &[C, A, P]),
    ("CONNECT with a scheme", "9113 §8.5", &[C, S, A]),
    ("CONNECT with everything", "9113 §8.5", &[C, S, A, P]),
    (":protocol although it was not offered", "8441 §4", &[C, W, S, A, P]),
    (":protocol alone although it was not offered", "8441 §4", &[C, W, A]),
    (":protocol without CONNECT", "8441 §4", &[M, W, S, A, P]),
    ("two :protocol", "9113 §8.3", &[C, W, W, S, A, P]),
    ("an empty :protocol", "8441 §4", &[C, (":protocol", ""), S, A, P]),
];

/// Nothing of these comes to the application.
fn malformed() -> Rows {
    let row = |stimulus: &str, section, pairs: &[(&str, &str)]| Case {
        stimulus: stimulus.into(),
        section,
        steps: one(headers(END, 1, &block(pairs))),
        told: vec![MALFORMED.into()],
        log: "",
    };
    let of_fields = FIELDS.iter().map(|(stimulus, section, pairs)| {
        let all = [&[M, S, A, P][..], pairs].concat();
        row(stimulus, section, &all)
    });
    let of_sections = SECTIONS.iter().map(|(stimulus, section, pairs)| row(stimulus, section, pairs));
    Rows { subject: "server, malformed", make: server, rows: of_fields.chain(of_sections).collect() }
}

fn fine() -> Vec<Row> {
    let with = |pairs: &[(&str, &str)]| one(headers(END, 1, &request("GET", pairs)));
    let all = |pairs: &[(&str, &str)]| one(headers(END, 1, &block(pairs)));
    let crumbs = [("cookie", "a=b"), ("x", "y"), ("cookie", "c=d"), ("cookie", "e")];
    vec![
        ("te: trailers", "9113 §8.2.2", with(&[("te", "trailers")]), "", "te=trailers"),
        ("the same host", "9113 §8.3.1", with(&[("host", "A.Example:443")]), "", "host=A.Example:443"),
        ("only a host", "9113 §8.3.1", all(&[M, S, P, ("host", "a.example")]), "", "head GET https /"),
        given("OPTIONS *", "9113 §8.3.1", all(&[(":method", "OPTIONS"), S, A, (":path", "*")]))
            .then("", "head OPTIONS"),
        given("a scheme of another kind", "9113 §8.3.1", all(&[M, (":scheme", "coap"), A, (":path", "x")]))
            .then("", "head GET coap"),
        ("crumbs", "9113 §8.2.3", with(&crumbs), "", "x=y cookie=a=b; c=d; e"),
        ("one cookie", "9113 §8.2.3", with(&[("cookie", "a=b"), ("x", "y")]), "", "cookie=a=b x=y"),
        ("an empty value", "9113 §8.2.1", with(&[("x", "")]), "", "x="),
        ("white space inside a value", "9113 §8.2.1", with(&[("x", "a \t b")]), "", "x=a \t b"),
        ("a byte above 0x7f in a value", "9113 §8.2.1", with(&[("x", "ä")]), "", "x=ä"),
        ("a method of one's own", "9113 §8.3.1", all(&[(":method", "BREW"), S, A, P]), "", "head BREW"),
        ("pseudo-fields in another order", "9113 §8.3", all(&[P, A, S, M]), "", "head GET"),
    ]
}

fn content() -> Vec<Row> {
    let post = |length: &str| headers(0, 1, &request("POST", &[("content-length", length)]));
    let twice = [("content-length", "1"), ("content-length", "2")];
    vec![
        given(
            "of the stated length",
            "9113 §8.1.1",
            many(&[post("4"), data(0, 1, b"te"), data(END, 1, b"st")]),
        )
        .then("", "data test end"),
        ("too little", "9113 §8.1.1", many(&[post("5"), data(END, 1, b"test")]), MALFORMED, "§8.1.1"),
        ("too much", "9113 §8.1.1", many(&[post("1"), data(END, 1, b"test")]), MALFORMED, "§8.1.1"),
        ("too much, not ended", "9113 §8.1.1", many(&[post("1"), data(0, 1, b"te")]), MALFORMED, "§8.1.1"),
        ("some where none was stated", "9113 §8.1.1", many(&[post("0"), data(END, 1, b"x")]), MALFORMED, ""),
        given(
            "too little in pieces",
            "9113 §8.1.1",
            many(&[post("5"), data(0, 1, b"te"), data(END, 1, b"st")]),
        )
        .then(MALFORMED, "§8.1.1"),
        given(
            "none at all",
            "9113 §8.1.1",
            one(headers(END, 1, &request("POST", &[("content-length", "5")]))),
        )
        .then(MALFORMED, ""),
        given("padding is none", "9113 §8.1.1", many(&[post("1"), padded(END, 1, DATA, 9, b"x", 9)]))
            .then("", "data x end"),
        ("two lengths", "9110 §8.6", one(headers(0, 1, &request("POST", &twice))), MALFORMED, ""),
        ("a negative length", "9110 §8.6", one(post("-1")), MALFORMED, ""),
        ("a length of twenty digits", "9110 §8.6", one(post("10000000000000000000")), MALFORMED, ""),
        ("an empty length", "9110 §8.6", one(post("")), MALFORMED, ""),
    ]
}

fn trailers() -> Vec<Row> {
    let post = |length: &str| headers(0, 1, &request("POST", &[("content-length", length)]));
    let trailers = |flags: u8, pairs: &[(&str, &str)]| headers(flags, 1, &block(pairs));
    let after = |pairs: &[(&str, &str)]| many(&[post("1"), data(0, 1, b"x"), trailers(END, pairs)]);
    vec![
        ("after content", "9113 §8.1", after(&[("x", "y")]), "", "trailers x=y"),
        given("without content", "9113 §8.1", many(&[post("0"), trailers(END, &[("x", "y")])]))
            .then("", "trailers x=y"),
        ("none in them", "9113 §8.1", after(&[]), "", "trailers"),
        given(
            "after too little content",
            "9113 §8.1.1",
            many(&[post("5"), data(0, 1, b"x"), trailers(END, &[("x", "y")])]),
        )
        .then(MALFORMED, "§8.1.1"),
        given("that do not end the stream", "9113 §8.1", many(&[post("1"), trailers(0, &[("x", "y")])]))
            .then(MALFORMED, "without END_STREAM"),
        ("with a method", "9113 §8.1", after(&[(":method", "GET")]), MALFORMED, "trailers"),
        ("with a status", "9113 §8.1", after(&[(":status", "200")]), MALFORMED, "trailers"),
        ("with an unknown pseudo-field", "9113 §8.1", after(&[(":test", "x")]), MALFORMED, "trailers"),
        given(
            "with host, content-length and expect, which are dropped",
            "9110 §6.5.1",
            after(&[("host", "b"), ("content-length", "7"), ("x", "y"), ("expect", "100-continue")]),
        )
        .then("", "trailers x=y"),
        ("with te", "9113 §8.2.2", after(&[("te", "trailers")]), MALFORMED, "§8.2.2"),
        ("with connection", "9113 §8.2.2", after(&[("connection", "close")]), MALFORMED, "§8.2.2"),
        ("with upper case", "9113 §8.2.1", after(&[("X", "y")]), MALFORMED, "§8.2.1"),
        ("with LF in a value", "9113 §8.2.1", after(&[("x", "a\nb")]), MALFORMED, "§8.2.1"),
        given("after trailers", "9113 §5.1", many(&[post("0"), trailers(END, &[]), trailers(END, &[])]))
            .then("RST_STREAM 1 STREAM_CLOSED", "§5.1"),
        given(
            "content after trailers",
            "9113 §5.1",
            many(&[post("0"), trailers(END, &[]), data(END, 1, b"x")]),
        )
        .then("RST_STREAM 1 STREAM_CLOSED", "§5.1"),
    ]
}

fn connect() -> Vec<Row> {
    let connect = || headers(0, 1, &block(&[C, (":authority", "a.example:443")]));
    let tunnel = |frame: Vec<u8>| vec![In(connect()), Accept, In(frame)];
    vec![
        ("a request", "9113 §8.5", one(connect()), "", "head CONNECT a.example:443"),
        ("bytes in a tunnel", "9113 §8.5", tunnel(data(0, 1, b"any")), "", "data any"),
        ("the end of a tunnel", "9113 §8.5", tunnel(data(END, 1, b"")), "", "end"),
        ("credit in a tunnel", "9113 §8.5", tunnel(u32_frame(WINDOW_UPDATE, 1, 1)), "", "head CONNECT"),
        given("fields in a tunnel", "9113 §8.5", tunnel(headers(END, 1, &block(&[("x", "y")]))))
            .then(MALFORMED, "tunnel"),
        given(
            "a stated length",
            "9113 §8.5",
            vec![
                In(headers(0, 1, &block(&[C, A, ("content-length", "1")]))),
                Accept,
                In(data(0, 1, b"any length")),
            ],
        )
        .then("", "data any length"),
    ]
}

fn connect_server() -> End {
    server_with(Config { connect_protocol: true, ..Config::default() })
}

fn extended_connect() -> Vec<Row> {
    let with = |flags: u8, pairs: &[(&str, &str)]| headers(flags, 1, &block(pairs));
    let tunnel = |frame: Vec<u8>| vec![In(with(0, &[C, W, S, A, P])), Accept, In(frame)];
    vec![
        given("a request", "8441 §4", one(with(0, &[C, W, S, A, P])))
            .then("", "head CONNECT websocket https a.example /"),
        ("a protocol of one's own", "8441 §4", one(with(0, &[C, (":protocol", "x-y"), S, A, P])), "", "x-y"),
        ("bytes in a tunnel", "8441 §5", tunnel(data(0, 1, b"any")), "", "data any"),
        ("the end of a tunnel", "8441 §5", tunnel(data(END, 1, b"any")), "", "data any end"),
        ("the abrupt end of a tunnel", "8441 §5", tunnel(u32_frame(RST_STREAM, 1, 8)), "", "reset CANCEL"),
        ("fields in a tunnel", "9113 §8.5", tunnel(with(END, &[("x", "y")])), MALFORMED, "tunnel"),
        ("no :scheme", "9113 §8.3.1", one(with(0, &[C, W, A, P])), MALFORMED, ""),
        ("no :path", "9113 §8.3.1", one(with(0, &[C, W, S, A])), MALFORMED, ""),
        ("no :authority", "9113 §8.5", one(with(0, &[C, W, S, P])), MALFORMED, ""),
        ("no CONNECT", "8441 §4", one(with(0, &[M, W, S, A, P])), MALFORMED, ""),
        given("a :protocol that is no token", "8441 §4", one(with(0, &[C, (":protocol", "a b"), S, A, P])))
            .then(MALFORMED, ""),
        (":protocol twice", "9113 §8.3", one(with(0, &[C, W, W, S, A, P])), MALFORMED, ""),
        (":protocol after a field", "9113 §8.3", one(with(0, &[C, S, A, P, ("x", "y"), W])), MALFORMED, ""),
        given("upgrade beside it", "9113 §8.2.2", one(with(0, &[C, W, S, A, P, ("upgrade", "websocket")])))
            .then(MALFORMED, ""),
        ("CONNECT without :protocol", "9113 §8.5", one(with(0, &[C, A])), "", "head CONNECT a.example"),
        ("CONNECT without :protocol, with a path", "9113 §8.5", one(with(0, &[C, S, A, P])), MALFORMED, ""),
    ]
}

fn sizes() -> Vec<Row> {
    let long: &'static str = "v".repeat(10_000).leak();
    let section = |times: usize| vec![("x", long); times];
    let frames = |pairs: &[(&str, &str)]| -> Vec<Step> {
        let bytes = request("GET", pairs);
        let (first, rest) = bytes.split_at(bytes.len().min(16_384));
        let mut frames = vec![frame(HEADERS, END, 1, first)];
        frames.extend(rest.chunks(16_384).map(|bytes| frame(CONTINUATION, 0, 1, bytes)));
        frames.push(frame(CONTINUATION, END_HEADERS, 1, &[]));
        many(&frames)
    };
    let (small, crumbs) = ([("x", "y"); 101], [("cookie", "y"); 51]);
    vec![
        ("one large field", "9113 §10.5.1", frames(&section(1)), "", "head GET"),
        ("two large fields", "9113 §10.5.1", frames(&section(2)), "", "head too large end"),
        given("seven large fields", "9113 §10.5.1", frames(&section(7)))
            .then("GOAWAY 1 ENHANCE_YOUR_CALM", "many times"),
        ("a hundred fields", "9113 §10.5.1", frames(&small[1..]), "", "head GET"),
        ("a field too many", "9113 §10.5.1", frames(&small), "", "head too large end"),
        ("fifty crumbs", "9113 §10.5.1", frames(&crumbs[1..]), "", "head GET"),
        ("a crumb too many", "9113 §10.5.1", frames(&crumbs), "", "head too large end"),
    ]
}
