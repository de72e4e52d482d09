//! What a client makes of responses (RFC 9112 §4, §6.3 and §9).

use alula_h1::{Config, Connection, Leniency};

use super::table::Step::{Ask, Eof, GiveUp, GoAway, In, Say, Wait};
use super::table::{Row, Rows, Step, given, row};
use crate::support::{Answers, End};

pub(crate) fn client() -> End {
    End::new(Connection::client(Config::default()), Answers::Never)
}

fn bare_lf_client() -> End {
    let leniency = Leniency { bare_lf: true, length_with_coding: true, ..Leniency::default() };
    End::new(Connection::client(Config { leniency, ..Config::default() }), Answers::Never)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "status lines", make: client, rows: lines() },
        Rows { subject: "where responses end", make: client, rows: framings() },
        Rows { subject: "requests", make: client, rows: requests() },
        Rows { subject: "interim responses and switching", make: client, rows: interim() },
        Rows { subject: "a forgiving client", make: bare_lf_client, rows: forgiven() },
    ]
}

pub(crate) const GET: &str = "GET / HTTP/1.1|Host: a.example||";
const HEAD: &str = "HEAD / HTTP/1.1|Host: a.example||";
pub(crate) const POST: &str = "POST / HTTP/1.1|Host: a.example|Content-Length: 4||";

pub(crate) fn text(bytes: &str) -> Step {
    In(bytes.as_bytes().to_vec())
}

pub(crate) fn get(response: &str) -> Vec<Step> {
    vec![Ask("GET", &[], true), text(response)]
}

/// A response to GET that is taken.
fn fine(stimulus: &str, section: &'static str, response: &str, log: &str) -> Row {
    row(stimulus, section, get(response), GET, log)
}

fn wrong(stimulus: &str, section: &'static str, response: &str, rule: &str) -> Row {
    row(stimulus, section, get(response), GET, &format!("closed {rule}"))
}

fn lines() -> Vec<Row> {
    let line =
        |stimulus, section, line: &str, rule| wrong(stimulus, section, &format!("{line}\r\n\r\n"), rule);
    let empty = "200 content-length=0 end; idle";
    let ok = |stimulus, line: &str| {
        fine(stimulus, "9112 §4", &format!("{line}\r\nContent-Length: 0\r\n\r\n"), empty)
    };
    vec![
        ok("a plain response", "HTTP/1.1 200 OK"),
        ok("an empty reason", "HTTP/1.1 200 "),
        ok("no reason, and no space for it", "HTTP/1.1 200"),
        ok("a reason beyond ASCII", "HTTP/1.1 200 \u{e9}\t!"),
        given("a status nobody knows", "9110 §15", get("HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n"))
            .then(GET, "999 content-length=0 end; idle"),
        line("an empty line before", "9112 §4", "", "STATUS_LINE"),
        line("two spaces", "9112 §4", "HTTP/1.1  200 OK", "STATUS_LINE"),
        line("a status of four digits", "9112 §4", "HTTP/1.1 2000 OK", "STATUS_LINE"),
        line("a status of two", "9112 §4", "HTTP/1.1 20 OK", "STATUS_LINE"),
        line("a status below 100", "9110 §15", "HTTP/1.1 099 OK", "STATUS_INVALID"),
        line("a status with a sign", "9110 §15", "HTTP/1.1 +20 OK", "STATUS_INVALID"),
        line("HTTP/2", "9112 §2.3", "HTTP/2.0 200 OK", "VERSION_UNSUPPORTED"),
        line("another protocol", "9112 §2.3", "ICY 200 OK", "VERSION_INVALID"),
        line("a request", "9112 §2.3", "GET / HTTP/1.1", "VERSION_INVALID"),
        line("NUL in the reason", "9112 §4", "HTTP/1.1 200 \0", "STATUS_LINE"),
        wrong("a line feed alone", "9112 §2.2", "HTTP/1.1 200 OK\n\n", "BARE_LF"),
    ]
}

fn framings() -> Vec<Row> {
    let post = |method, response: &str| vec![Ask(method, &[], true), text(response)];
    vec![
        given("a length", "9112 §6.3", get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
            .then(GET, "200 content-length=2; data ok end; idle"),
        given(
            "chunks",
            "9112 §6.3",
            get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        )
        .then(GET, "200 transfer-encoding=chunked; data ok end; idle"),
        given(
            "trailers",
            "9112 §7.1.2",
            get("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n"),
        )
        .then(GET, "200 transfer-encoding=chunked; data ok; trailers x=y; idle"),
        given(
            "until the server closes",
            "9112 §6.3",
            [get("HTTP/1.1 200 OK\r\n\r\nok"), vec![text("ok"), Eof]].concat(),
        )
        .then(GET, "200; data okok end; last"),
        given(
            "nothing until the server closes",
            "9112 §6.3",
            [get("HTTP/1.1 200 OK\r\n\r\n"), vec![Eof]].concat(),
        )
        .then(GET, "200; data  end; last"),
        given("204", "9112 §6.3", get("HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n"))
            .then(GET, "204 content-length=5 end; idle"),
        given(
            "a coding in 204, and the end of its chunks",
            "9112 §6.3",
            get("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        )
        .then(GET, "204 transfer-encoding=chunked end; last"),
        given(
            "a coding in 204 of HTTP/1.0",
            "9112 §6.1",
            get("HTTP/1.0 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
        )
        .then(GET, "closed CODING_TOO_EARLY"),
        given("304", "9112 §6.3", get("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n"))
            .then(GET, "304 content-length=5 end; idle"),
        given("304 with a coding", "9112 §6.1", get("HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n"))
            .then(GET, "304 transfer-encoding=chunked end; idle"),
        given("HEAD with a length", "9112 §6.3", post("HEAD", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n"))
            .then(HEAD, "200 content-length=5 end; idle"),
        given(
            "HEAD with a coding",
            "9112 §6.3",
            post("HEAD", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
        )
        .then(HEAD, "200 transfer-encoding=chunked end; idle"),
        given(
            "hosts, which say nothing here",
            "9110 §7.2",
            get("HTTP/1.1 204 x\r\nHost: a\r\nHost: b\r\n\r\n"),
        )
        .then(GET, "204 host=a host=b end; idle"),
        given(
            "two equal lengths become one",
            "9112 §6.3",
            get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
        )
        .then(GET, "200 content-length=2; data ok end; idle"),
        given(
            "a list of equal lengths becomes one",
            "9112 §6.3",
            get("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
        )
        .then(GET, "200 content-length=2; data ok end; idle"),
        given(
            "two lengths that differ",
            "9112 §6.3",
            get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n"),
        )
        .then(GET, "closed LENGTH_REPEATED"),
        given("a length with a sign", "9112 §6.3", get("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n"))
            .then(GET, "closed LENGTH_INVALID"),
        given(
            "a length beside a coding",
            "9112 §6.1",
            get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
        )
        .then(GET, "closed LENGTH_WITH_CODING"),
        given(
            "a coding nobody knows",
            "9112 §6.1",
            get("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        )
        .then(GET, "closed CODING_UNKNOWN"),
        given(
            "a coding in HTTP/1.0",
            "9112 §6.1",
            get("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        )
        .then(GET, "closed CODING_TOO_EARLY"),
        given("a coding in 103", "9112 §6.1", get("HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n"))
            .then(GET, "closed CODING_UNEXPECTED"),
        wrong("a folded line", "9112 §5.2", "HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", "FOLDED"),
    ]
}

fn requests() -> Vec<Row> {
    let four = || Ask("POST", &[("content-length", "4")], false);
    let ok = || text("HTTP/1.1 204 x\r\n\r\n");
    let chunked = "POST / HTTP/1.1|Host: a.example|Transfer-Encoding: chunked||";
    vec![
        given("content of a length", "9112 §6.2", vec![four(), Say("ab", false), Say("cd", true), ok()])
            .then(&format!("{POST}abcd"), "204 end; idle"),
        given(
            "content in chunks",
            "9112 §7.1",
            vec![Ask("POST", &[], false), Say("ab", false), Say("cd", true), ok()],
        )
        .then(&format!("{chunked}2|ab|2|cd|0||"), "204 end; idle"),
        given("POST without content", "9110 §8.6", vec![Ask("POST", &[], true), ok()])
            .then("POST / HTTP/1.1|Host: a.example|Content-Length: 0||", "204 end; idle"),
        given("more than was said", "9110 §8.6", vec![four(), Say("abcde", true)])
            .then(&format!("{POST}?ContentLength"), ""),
        row("two at once", "9112 §9.3.2", vec![four(), four()], &format!("{POST}?Busy"), ""),
        given("an answer before the content is out", "9112 §9.3", vec![four(), ok(), Say("abcd", true)])
            .then(&format!("{POST}abcd"), "204 end; idle"),
        given("an answer, and content given up", "9112 §9.3", vec![four(), ok(), GiveUp])
            .then(POST, "204 end; closed GivenUp"),
        given("a host of one's own", "9112 §3.2", vec![Ask("GET", &[("host", "b.example")], true)])
            .then(&format!("?Control({:?})", alula_h1::Violation::HOST_DIFFERS), ""),
        given("a client that closes", "9112 §9.6", vec![Ask("GET", &[("connection", "close")], true), ok()])
            .then("GET / HTTP/1.1|Host: a.example|Connection: close||", "204 end; last"),
        row("going away before", "9112 §9.6", vec![GoAway, Ask("GET", &[], true)], "?GoingAway", ""),
        given("going away meanwhile", "9112 §9.6", vec![Ask("GET", &[], true), GoAway, ok()])
            .then(GET, "204 end; last"),
    ]
}

fn interim() -> Vec<Row> {
    let upgrade = || Ask("GET", &[("connection", "upgrade"), ("upgrade", "x")], false);
    let asked = "GET / HTTP/1.1|Host: a.example|Connection: upgrade|Upgrade: x||";
    let connect = "CONNECT a.example:443 HTTP/1.1|Host: a.example:443||";
    let tunnel = || Ask("CONNECT", &[], false);
    // Whatever a response that opens a tunnel says about its content is ignored.
    let opens = |stimulus: &str, head: &str, fields: &str| {
        let bytes = text(&format!("{head}\r\n\r\nhello"));
        let steps = vec![tunnel(), bytes, Say("hi", true), Eof];
        let log = format!("{} {fields}; writable; data hello end; last", &head[9..12]);
        row(&format!("a tunnel in spite of {stimulus}"), "9110 §9.3.6", steps, &format!("{connect}hi"), &log)
    };
    vec![
        given(
            "interim responses",
            "9110 §15.2",
            get("HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nLink: b\r\n\r\nHTTP/1.1 204 x\r\n\r\n"),
        )
        .then(GET, "interim 100; interim 103 link=b; 204 end; idle"),
        given("a switch nobody asked for", "9110 §7.8", get("HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n"))
            .then(GET, "closed SWITCH_UNASKED"),
        given(
            "a switch, with bytes that follow at once",
            "9110 §7.8",
            vec![
                upgrade(),
                text("HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\nhello"),
                Say("hi", false),
                Say("", true),
                Eof,
            ],
        )
        .then(&format!("{asked}hi"), "101 upgrade=x; writable; data hello end; last"),
        row("no bytes before the switch", "9110 §7.8", vec![upgrade(), Say("hi", false)], asked, ""),
        given("no switch", "9110 §7.8", vec![upgrade(), text("HTTP/1.1 204 x\r\n\r\n")])
            .then(asked, "204 end; writable; idle"),
        given(
            "a tunnel, with bytes that follow at once",
            "9110 §9.3.6",
            vec![
                tunnel(),
                text("HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 x\r\n"),
                Say("hi", true),
                Eof,
            ],
        )
        .then(&format!("{connect}hi"), "200 content-length=5; writable; data HTTP/1.1 200 x\r\n end; last"),
        opens("a length that is none", "HTTP/1.1 200 x\r\nContent-Length: x", "content-length=x"),
        opens(
            "lengths that differ",
            "HTTP/1.1 200 x\r\nContent-Length: 1\r\nContent-Length: 2",
            "content-length=1 content-length=2",
        ),
        opens("a coding", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked", "transfer-encoding=chunked"),
        opens("another coding", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip", "transfer-encoding=gzip"),
        opens(
            "a coding and a length",
            "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
            "transfer-encoding=chunked content-length=5",
        ),
        opens(
            "a coding of HTTP/1.0",
            "HTTP/1.0 200 x\r\nTransfer-Encoding: chunked",
            "transfer-encoding=chunked",
        ),
        opens("a coding in 204", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked", "transfer-encoding=chunked"),
        given(
            "a refusal with a coding of HTTP/1.0",
            "9112 §6.1",
            vec![tunnel(), text("HTTP/1.0 407 x\r\nTransfer-Encoding: chunked\r\n\r\n")],
        )
        .then(connect, "closed CODING_TOO_EARLY"),
        given(
            "a tunnel with a length of zero",
            "9110 §9.3.6",
            vec![
                Ask("CONNECT", &[("content-length", "0")], false),
                text("HTTP/1.1 200 x\r\n\r\n"),
                Say("hi", false),
            ],
        )
        .then("CONNECT a.example:443 HTTP/1.1|Host: a.example:443|Content-Length: 0||hi", "200; writable"),
        given(
            "a tunnel with content",
            "9110 §9.3.6",
            vec![Ask("CONNECT", &[("content-length", "2")], false)],
        )
        .then("?ContentLength", ""),
        given(
            "no tunnel",
            "9110 §9.3.6",
            vec![tunnel(), text("HTTP/1.1 407 x\r\nContent-Length: 2\r\n\r\nno")],
        )
        .then(connect, "407 content-length=2; writable; data no end; idle"),
        given(
            "an early hint to CONNECT opens nothing",
            "9110 §9.3.6",
            vec![tunnel(), text("HTTP/1.1 103 x\r\n\r\n"), Say("hi", false)],
        )
        .then(connect, "interim 103"),
        given(
            "a head that is too slow",
            "9112 §9.5",
            vec![Ask("GET", &[], true), Wait(600_000), text("HTTP/1.1 2"), Wait(10_000)],
        )
        .then(GET, "closed TimedOut(Head)"),
    ]
}

fn forgiven() -> Vec<Row> {
    let both = "HTTP/1.1 200 x\nContent-Length: 9\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n";
    vec![
        given("line feeds alone", "9112 §2.2", get("HTTP/1.1 200 x\nContent-Length: 2\n\nok"))
            .then(GET, "200 content-length=2; data ok end; idle"),
        given("a length beside a coding ends the connection", "9112 §6.3", get(both))
            .then(GET, "200 transfer-encoding=chunked; data ok end; last"),
    ]
}
