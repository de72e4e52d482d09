//! What a client makes of responses (RFC 9112 §4, §6.3 and §9).

use alula_h1::{Config, Connection, Leniency};

use super::table::Step::{Ask, Eof, GiveUp, GoAway, In, Say, Wait};
use super::table::{Row, Rows, Step, row};
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
        fine(
            "a status nobody knows",
            "9110 §15",
            "HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n",
            "999 content-length=0 end; idle",
        ),
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
        fine(
            "a length",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "200 content-length=2; data ok end; idle",
        ),
        fine(
            "chunks",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "200 transfer-encoding=chunked; data ok end; idle",
        ),
        fine(
            "trailers",
            "9112 §7.1.2",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
            "200 transfer-encoding=chunked; data ok; trailers x=y; idle",
        ),
        row(
            "until the server closes",
            "9112 §6.3",
            [get("HTTP/1.1 200 OK\r\n\r\nok"), vec![text("ok"), Eof]].concat(),
            GET,
            "200; data okok end; last",
        ),
        row(
            "nothing until the server closes",
            "9112 §6.3",
            [get("HTTP/1.1 200 OK\r\n\r\n"), vec![Eof]].concat(),
            GET,
            "200; data  end; last",
        ),
        fine(
            "204",
            "9112 §6.3",
            "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n",
            "204 content-length=5 end; idle",
        ),
        fine(
            "a coding in 204, and the end of its chunks",
            "9112 §6.3",
            "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "204 transfer-encoding=chunked end; last",
        ),
        wrong(
            "a coding in 204 of HTTP/1.0",
            "9112 §6.1",
            "HTTP/1.0 204 x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "CODING_TOO_EARLY",
        ),
        fine(
            "304",
            "9112 §6.3",
            "HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n",
            "304 content-length=5 end; idle",
        ),
        fine(
            "304 with a coding",
            "9112 §6.1",
            "HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "304 transfer-encoding=chunked end; idle",
        ),
        row(
            "HEAD with a length",
            "9112 §6.3",
            post("HEAD", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n"),
            HEAD,
            "200 content-length=5 end; idle",
        ),
        row(
            "HEAD with a coding",
            "9112 §6.3",
            post("HEAD", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
            HEAD,
            "200 transfer-encoding=chunked end; idle",
        ),
        fine(
            "hosts, which say nothing here",
            "9110 §7.2",
            "HTTP/1.1 204 x\r\nHost: a\r\nHost: b\r\n\r\n",
            "204 host=a host=b end; idle",
        ),
        fine(
            "two equal lengths become one",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
            "200 content-length=2; data ok end; idle",
        ),
        fine(
            "a list of equal lengths becomes one",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
            "200 content-length=2; data ok end; idle",
        ),
        wrong(
            "two lengths that differ",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
            "LENGTH_REPEATED",
        ),
        wrong(
            "a length with a sign",
            "9112 §6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n",
            "LENGTH_INVALID",
        ),
        wrong(
            "a length beside a coding",
            "9112 §6.1",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
            "LENGTH_WITH_CODING",
        ),
        wrong(
            "a coding nobody knows",
            "9112 §6.1",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "CODING_UNKNOWN",
        ),
        wrong(
            "a coding in HTTP/1.0",
            "9112 §6.1",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "CODING_TOO_EARLY",
        ),
        wrong(
            "a coding in 103",
            "9112 §6.1",
            "HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n",
            "CODING_UNEXPECTED",
        ),
        wrong("a folded line", "9112 §5.2", "HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", "FOLDED"),
    ]
}

fn requests() -> Vec<Row> {
    let four = || Ask("POST", &[("content-length", "4")], false);
    let ok = || text("HTTP/1.1 204 x\r\n\r\n");
    let chunked = "POST / HTTP/1.1|Host: a.example|Transfer-Encoding: chunked||";
    vec![
        row(
            "content of a length",
            "9112 §6.2",
            vec![four(), Say("ab", false), Say("cd", true), ok()],
            &format!("{POST}abcd"),
            "204 end; idle",
        ),
        row(
            "content in chunks",
            "9112 §7.1",
            vec![Ask("POST", &[], false), Say("ab", false), Say("cd", true), ok()],
            &format!("{chunked}2|ab|2|cd|0||"),
            "204 end; idle",
        ),
        row(
            "POST without content",
            "9110 §8.6",
            vec![Ask("POST", &[], true), ok()],
            "POST / HTTP/1.1|Host: a.example|Content-Length: 0||",
            "204 end; idle",
        ),
        row(
            "more than was said",
            "9110 §8.6",
            vec![four(), Say("abcde", true)],
            &format!("{POST}?ContentLength"),
            "",
        ),
        row("two at once", "9112 §9.3.2", vec![four(), four()], &format!("{POST}?Busy"), ""),
        row(
            "an answer before the content is out",
            "9112 §9.3",
            vec![four(), ok(), Say("abcd", true)],
            &format!("{POST}abcd"),
            "204 end; idle",
        ),
        row(
            "an answer, and content given up",
            "9112 §9.3",
            vec![four(), ok(), GiveUp],
            POST,
            "204 end; closed GivenUp",
        ),
        row(
            "a host of one's own",
            "9112 §3.2",
            vec![Ask("GET", &[("host", "b.example")], true)],
            &format!("?Control({:?})", alula_h1::Violation::HOST_DIFFERS),
            "",
        ),
        row(
            "a client that closes",
            "9112 §9.6",
            vec![Ask("GET", &[("connection", "close")], true), ok()],
            "GET / HTTP/1.1|Host: a.example|Connection: close||",
            "204 end; last",
        ),
        row("going away before", "9112 §9.6", vec![GoAway, Ask("GET", &[], true)], "?GoingAway", ""),
        row(
            "going away meanwhile",
            "9112 §9.6",
            vec![Ask("GET", &[], true), GoAway, ok()],
            GET,
            "204 end; last",
        ),
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
        fine(
            "interim responses",
            "9110 §15.2",
            "HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nLink: b\r\n\r\nHTTP/1.1 204 x\r\n\r\n",
            "interim 100; interim 103 link=b; 204 end; idle",
        ),
        wrong(
            "a switch nobody asked for",
            "9110 §7.8",
            "HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n",
            "SWITCH_UNASKED",
        ),
        row(
            "a switch, with bytes that follow at once",
            "9110 §7.8",
            vec![
                upgrade(),
                text("HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\nhello"),
                Say("hi", false),
                Say("", true),
                Eof,
            ],
            &format!("{asked}hi"),
            "101 upgrade=x; writable; data hello end; last",
        ),
        row("no bytes before the switch", "9110 §7.8", vec![upgrade(), Say("hi", false)], asked, ""),
        row(
            "no switch",
            "9110 §7.8",
            vec![upgrade(), text("HTTP/1.1 204 x\r\n\r\n")],
            asked,
            "204 end; writable; idle",
        ),
        row(
            "a tunnel, with bytes that follow at once",
            "9110 §9.3.6",
            vec![
                tunnel(),
                text("HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 x\r\n"),
                Say("hi", true),
                Eof,
            ],
            &format!("{connect}hi"),
            "200 content-length=5; writable; data HTTP/1.1 200 x\r\n end; last",
        ),
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
        row(
            "a refusal with a coding of HTTP/1.0",
            "9112 §6.1",
            vec![tunnel(), text("HTTP/1.0 407 x\r\nTransfer-Encoding: chunked\r\n\r\n")],
            connect,
            "closed CODING_TOO_EARLY",
        ),
        row(
            "a tunnel with a length of zero",
            "9110 §9.3.6",
            vec![
                Ask("CONNECT", &[("content-length", "0")], false),
                text("HTTP/1.1 200 x\r\n\r\n"),
                Say("hi", false),
            ],
            "CONNECT a.example:443 HTTP/1.1|Host: a.example:443|Content-Length: 0||hi",
            "200; writable",
        ),
        row(
            "a tunnel with content",
            "9110 §9.3.6",
            vec![Ask("CONNECT", &[("content-length", "2")], false)],
            "?ContentLength",
            "",
        ),
        row(
            "no tunnel",
            "9110 §9.3.6",
            vec![tunnel(), text("HTTP/1.1 407 x\r\nContent-Length: 2\r\n\r\nno")],
            connect,
            "407 content-length=2; writable; data no end; idle",
        ),
        row(
            "an early hint to CONNECT opens nothing",
            "9110 §9.3.6",
            vec![tunnel(), text("HTTP/1.1 103 x\r\n\r\n"), Say("hi", false)],
            connect,
            "interim 103",
        ),
        row(
            "a head that is too slow",
            "9112 §9.5",
            vec![Ask("GET", &[], true), Wait(600_000), text("HTTP/1.1 2"), Wait(10_000)],
            GET,
            "closed TimedOut(Head)",
        ),
    ]
}

fn forgiven() -> Vec<Row> {
    let both = "HTTP/1.1 200 x\nContent-Length: 9\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n";
    vec![
        fine(
            "line feeds alone",
            "9112 §2.2",
            "HTTP/1.1 200 x\nContent-Length: 2\n\nok",
            "200 content-length=2; data ok end; idle",
        ),
        fine(
            "a length beside a coding ends the connection",
            "9112 §6.3",
            both,
            "200 transfer-encoding=chunked; data ok end; last",
        ),
    ]
}
