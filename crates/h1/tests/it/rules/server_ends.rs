//! How a server's connection ends (RFC 9112 §9.6): it goes away, or the client does.

use super::exchanges::{LENGTH, POST, answering_server, text};
use super::heads::server;
use super::table::Step::{Eof, GiveUp, GoAway, Open, Say};
use super::table::{Row, Rows, given, row};

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "going away", make: server, rows: going() },
        Rows { subject: "the client goes", make: answering_server, rows: gone() },
        Rows { subject: "the client goes before the answer", make: server, rows: half_gone() },
    ]
}

fn going() -> Vec<Row> {
    let get = || text("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    vec![
        row("while nothing happens", "9112 §9.6", vec![GoAway], "", ""),
        row("what comes then is left", "9112 §9.6", vec![GoAway, get(), Eof], "", ""),
        given(
            "within a head: its answer is the last",
            "9112 §9.6",
            vec![text("GET / "), GoAway, text("HTTP/1.1\r\nHost: a\r\n\r\n"), Open(204, &[], true)],
        )
        .then("HTTP/1.1 204 No Content|Connection: close||", "GET http a / end; last"),
        given("before the answer, which says so", "9112 §9.6", vec![get(), GoAway, Open(204, &[], true)])
            .then("HTTP/1.1 204 No Content|Connection: close||", "GET http a / end; last"),
        given(
            "within the answer",
            "9112 §9.6",
            vec![get(), Open(200, &[("content-length", "2")], false), GoAway, Say("ok", true)],
        )
        .then("HTTP/1.1 200 OK|Content-Length: 2||ok", "GET http a / end; last"),
        given(
            "before the end of the request",
            "9112 §9.6",
            vec![text(POST), Open(204, &[], true), GoAway, text("hello")],
        )
        .then("HTTP/1.1 204 No Content||", "POST http a / content-length=5; data hello end; last"),
        given(
            "an answer given up",
            "9112 §8",
            vec![get(), Open(200, &[("content-length", "2")], false), GiveUp],
        )
        .then("HTTP/1.1 200 OK|Content-Length: 2||", "GET http a / end; closed GivenUp"),
        given("a request given up before its answer", "9112 §8", vec![get(), GiveUp])
            .then("", "GET http a / end; closed GivenUp"),
    ]
}

fn gone() -> Vec<Row> {
    let eof = |stimulus, section, bytes: &str, told: &str, log: &str| {
        row(stimulus, section, vec![text(bytes), Eof], told, log)
    };
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let log = "POST http a / transfer-encoding=chunked";
    let told = format!("{LENGTH}|/");
    vec![
        eof("before a request", "9112 §9.3", "", "", "closed PeerClosed"),
        eof("after an empty line", "9112 §9.3", "\r\n", "", "closed PeerClosed"),
        eof(
            "after a request",
            "9112 §9.3",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            &told,
            "GET http a / end; idle; closed PeerClosed",
        ),
        eof(
            "after a request and an empty line",
            "9112 §9.3",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n",
            &told,
            "GET http a / end; idle; closed PeerClosed",
        ),
        eof("within a request line", "9112 §8", "GET / HT", "", "closed CUT_HEAD"),
        eof("within the fields", "9112 §8", "GET / HTTP/1.1\r\nHost: a\r\n", "", "closed CUT_HEAD"),
        eof("before the content", "9112 §8", POST, "", "POST http a / content-length=5; closed CUT_CONTENT"),
        eof(
            "within the content",
            "9112 §8",
            &format!("{POST}hell"),
            "",
            "POST http a / content-length=5; data hell; closed CUT_CONTENT",
        ),
        eof(
            "within the size of a chunk",
            "9112 §8",
            &format!("{chunked}5"),
            "",
            &format!("{log}; closed CUT_CONTENT"),
        ),
        eof(
            "within a chunk",
            "9112 §8",
            &format!("{chunked}5\r\nhell"),
            "",
            &format!("{log}; data hell; closed CUT_CONTENT"),
        ),
        eof(
            "after a chunk",
            "9112 §8",
            &format!("{chunked}5\r\nhello\r\n"),
            "",
            &format!("{log}; data hello; closed CUT_CONTENT"),
        ),
        eof(
            "before the trailers end",
            "9112 §8",
            &format!("{chunked}0\r\nX: y\r\n"),
            "",
            &format!("{log}; closed CUT_CONTENT"),
        ),
    ]
}

fn half_gone() -> Vec<Row> {
    let get = || text("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    vec![
        given(
            "a whole request is answered none the less",
            "9112 §9.6",
            vec![get(), Eof, Open(204, &[], true)],
        )
        .then("HTTP/1.1 204 No Content|Connection: close||", "GET http a / end; last"),
        given(
            "within the answer",
            "9112 §9.6",
            vec![get(), Open(200, &[("content-length", "2")], false), Eof, Say("ok", true)],
        )
        .then("HTTP/1.1 200 OK|Content-Length: 2||ok", "GET http a / end; last"),
    ]
}
