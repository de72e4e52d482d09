//! Where a request ends (RFC 9112 §6): each form of request smuggling among them.

use alula_h1::{Config, Connection, Leniency};

use super::heads::server;
use super::table::{Row, Rows, bad, given, one, row};
use crate::support::{Answers, End};

fn lenient(leniency: Leniency) -> End {
    End::new(Connection::server(Config { leniency, ..Config::default() }), Answers::Whole)
}

/// Both lengths are forgiven.
fn both_server() -> End {
    lenient(Leniency { length_with_coding: true, ..Leniency::default() })
}

fn repeating_server() -> End {
    lenient(Leniency { repeated_length: true, ..Leniency::default() })
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "content-length", make: server, rows: lengths() },
        Rows { subject: "transfer-encoding", make: server, rows: codings() },
        Rows { subject: "length beside coding, forgiven", make: both_server, rows: both() },
        Rows { subject: "equal lengths, forgiven", make: repeating_server, rows: repeated() },
    ]
}

fn post(lines: &str, content: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n{content}").into_bytes()
}

fn wrong(stimulus: &str, section: &'static str, lines: &str, rule: &str) -> Row {
    bad(stimulus, section, &smuggling(lines), rule)
}

/// A request with these lines, and behind it one that nobody may take for a request.
fn smuggling(lines: &str) -> Vec<u8> {
    post(lines, "0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n")
}

fn lengths() -> Vec<Row> {
    let five = "POST http a / content-length=5; data hello end";
    vec![
        row("content of a length", "9112 §6.2", one(post("Content-Length: 5", "hello")), "", five),
        row("no length is none", "9112 §6.3", one(post("X: b", "")), "", "POST http a / x=b end"),
        given("length zero", "9112 §6.3", one(post("Content-Length: 0", "")))
            .then("", "POST http a / content-length=0 end"),
        given("zeroes before", "9112 §6.3", one(post("Content-Length: 05", "hello")))
            .then("", "POST http a / content-length=05; data hello end"),
        given(
            "content of GET",
            "9110 §9.3.1",
            one("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"),
        )
        .then("", "GET http a / content-length=1; data x end"),
        given("a part of it", "9112 §6.3", one(post("Content-Length: 9999999999999999999", "hello")))
            .then("", "POST http a / content-length=9999999999999999999; data hello"),
        given(
            "two that are the same (CL.CL)",
            "9112 §6.3",
            one(smuggling("Content-Length: 5\r\nContent-Length: 5")),
        )
        .breaks("LENGTH_REPEATED"),
        given(
            "two that differ (CL.CL)",
            "9112 §6.3",
            one(smuggling("Content-Length: 5\r\nContent-Length: 0")),
        )
        .breaks("LENGTH_REPEATED"),
        wrong("a list of the same", "9112 §6.3", "Content-Length: 5, 5", "LENGTH_REPEATED"),
        wrong("a list of different ones", "9112 §6.3", "Content-Length: 5, 6", "LENGTH_INVALID"),
        wrong("a list that ends early", "9112 §6.3", "Content-Length: 5,", "LENGTH_REPEATED"),
        wrong("a sign", "9112 §6.3", "Content-Length: +5", "LENGTH_INVALID"),
        wrong("a negative one", "9112 §6.3", "Content-Length: -5", "LENGTH_INVALID"),
        wrong("a space within", "9112 §6.3", "Content-Length: 5 5", "LENGTH_INVALID"),
        wrong("hexadecimal", "9112 §6.3", "Content-Length: 0x5", "LENGTH_INVALID"),
        wrong("an underscore", "9112 §6.3", "Content-Length: 1_0", "LENGTH_INVALID"),
        wrong("a fraction", "9112 §6.3", "Content-Length: 5.0", "LENGTH_INVALID"),
        wrong("nothing", "9112 §6.3", "Content-Length:", "LENGTH_INVALID"),
        wrong("twenty digits", "9112 §6.3", "Content-Length: 18446744073709551616", "LENGTH_INVALID"),
        wrong("digits of another script", "9112 §6.3", "Content-Length: \u{665}", "LENGTH_INVALID"),
        wrong("quotes", "9112 §6.3", "Content-Length: \"5\"", "LENGTH_INVALID"),
        wrong("a space before the colon", "9112 §5.1", "Content-Length : 5", "SPACE_BEFORE_COLON"),
    ]
}

fn codings() -> Vec<Row> {
    let chunked = "POST http a / transfer-encoding=chunked; data  end";
    let other_case = "POST http a / transfer-encoding=Chunked; data  end";
    let old = |lines: &str| format!("POST / HTTP/1.0\r\n{lines}\r\n\r\n0\r\n\r\n").into_bytes();
    let coding = |stimulus, value: &str, rule| {
        wrong(stimulus, "9112 §6.1", &format!("Transfer-Encoding: {value}"), rule)
    };
    vec![
        row("chunked", "9112 §6.1", one(post("Transfer-Encoding: chunked", "0\r\n\r\n")), "", chunked),
        given("chunked in another case", "9112 §7", one(post("Transfer-Encoding: Chunked", "0\r\n\r\n")))
            .then("", other_case),
        given(
            "length and coding (CL.TE)",
            "9112 §6.1",
            one(smuggling("Content-Length: 5\r\nTransfer-Encoding: chunked")),
        )
        .breaks("LENGTH_WITH_CODING"),
        given(
            "coding and length (TE.CL)",
            "9112 §6.1",
            one(smuggling("Transfer-Encoding: chunked\r\nContent-Length: 5")),
        )
        .breaks("LENGTH_WITH_CODING"),
        given(
            "coding and length zero (TE.0)",
            "9112 §6.1",
            one(smuggling("Transfer-Encoding: chunked\r\nContent-Length: 0")),
        )
        .breaks("LENGTH_WITH_CODING"),
        given(
            "chunked twice (TE.TE)",
            "9112 §6.1",
            one(smuggling("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")),
        )
        .breaks("CODING_REPEATED"),
        given(
            "chunked and another (TE.TE)",
            "9112 §6.1",
            one(smuggling("Transfer-Encoding: chunked\r\nTransfer-Encoding: cow")),
        )
        .breaks("CODING_REPEATED"),
        given(
            "another and chunked (TE.TE)",
            "9112 §6.1",
            one(smuggling("Transfer-Encoding: cow\r\nTransfer-Encoding: chunked")),
        )
        .breaks("CODING_UNKNOWN"),
        coding("chunked, chunked", "chunked, chunked", "CODING_REPEATED"),
        coding("gzip, chunked", "gzip, chunked", "CODING_UNKNOWN"),
        coding("chunked, gzip", "chunked, gzip", "CODING_UNKNOWN"),
        coding("identity", "identity", "CODING_UNKNOWN"),
        coding("chunked, identity", "chunked, identity", "CODING_UNKNOWN"),
        coding("a comma after chunked", "chunked,", "CODING_UNKNOWN"),
        coding("a comma before chunked", ",chunked", "CODING_UNKNOWN"),
        coding("a parameter", "chunked;q=1", "CODING_UNKNOWN"),
        coding("quotes", "\"chunked\"", "CODING_UNKNOWN"),
        coding("xchunked", "xchunked", "CODING_UNKNOWN"),
        coding("nothing", "", "CODING_UNKNOWN"),
        wrong("a form feed after chunked", "9110 §5.5", "Transfer-Encoding: chunked\x0c", "VALUE_INVALID"),
        wrong("a space before the colon", "9112 §5.1", "Transfer-Encoding : chunked", "SPACE_BEFORE_COLON"),
        wrong("a break before the value", "9112 §6.1", "Transfer-Encoding:\r\n chunked", "CODING_UNKNOWN"),
        wrong("a line feed for a line", "9112 §2.2", "X: b\nTransfer-Encoding: chunked", "BARE_LF"),
        given("a name that only looks like it", "9110 §5.1", one(post("Transfer_Encoding: chunked", "")))
            .then("", "POST http a / transfer_encoding=chunked end"),
        bad("in HTTP/1.0", "9112 §6.1", &old("Transfer-Encoding: chunked"), "CODING_TOO_EARLY"),
        given(
            "in HTTP/1.0 with a length",
            "9112 §6.1",
            one(old("Content-Length: 5\r\nTransfer-Encoding: chunked")),
        )
        .breaks("CODING_TOO_EARLY"),
    ]
}

fn both() -> Vec<Row> {
    let head = "POST http a / transfer-encoding=chunked; data x end; last";
    let told = "HTTP/1.1 200 OK|Content-Length: 1|Connection: close||/";
    let chunked = "1\r\nx\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    vec![
        given(
            "the coding is what counts, and the last of it",
            "9112 §6.3",
            one(post("Content-Length: 5\r\nTransfer-Encoding: chunked", chunked)),
        )
        .then(told, head),
        given(
            "in the other order",
            "9112 §6.3",
            one(post("Transfer-Encoding: chunked\r\nContent-Length: 5", chunked)),
        )
        .then(told, head),
        given(
            "a length that is none",
            "9112 §6.3",
            one(smuggling("Transfer-Encoding: chunked\r\nContent-Length: x")),
        )
        .breaks("LENGTH_INVALID"),
        given(
            "two lengths",
            "9112 §6.3",
            one(smuggling("Content-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked")),
        )
        .breaks("LENGTH_REPEATED"),
    ]
}

fn repeated() -> Vec<Row> {
    let told = "HTTP/1.1 200 OK|Content-Length: 1||/";
    let log = "POST http a / content-length=5; data hello end; idle";
    vec![
        given(
            "two fields become one",
            "9110 §8.6",
            one(post("Content-Length: 5\r\nContent-Length: 5", "hello")),
        )
        .then(told, log),
        row("a list becomes one", "9110 §8.6", one(post("Content-Length: 5, 5", "hello")), told, log),
        row("both", "9110 §8.6", one(post("Content-Length: 5,5\r\nContent-Length: 5", "hello")), told, log),
        wrong("two that differ", "9112 §6.3", "Content-Length: 5\r\nContent-Length: 6", "LENGTH_REPEATED"),
        wrong("a list that differs", "9112 §6.3", "Content-Length: 5, 6", "LENGTH_INVALID"),
        given(
            "beside a coding",
            "9112 §6.1",
            one(smuggling("Content-Length: 5, 5\r\nTransfer-Encoding: chunked")),
        )
        .breaks("LENGTH_WITH_CODING"),
    ]
}
