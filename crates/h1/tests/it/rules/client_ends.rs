//! When a client may use a connection again, and what it makes of a server that goes (RFC 9112 §9).

use alula_h1::{Config, Connection};

use super::client::{GET, POST, client, get, text};
use super::table::Step::{Ask, Cut, Eof, Say};
use super::table::{Row, Rows, given, row};
use crate::support::{Answers, End};

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "reuse", make: client, rows: reuse() },
        Rows { subject: "the server goes", make: client, rows: gone() },
        Rows { subject: "the server is cut off", make: client, rows: cut() },
        Rows {
            subject: "the server is cut off, which is accepted",
            make: accepting_client,
            rows: cut_and_accepted(),
        },
    ]
}

fn reuse() -> Vec<Row> {
    let ok = "HTTP/1.1 204 x\r\n\r\n";
    let twice = |first: &str| vec![Ask("GET", &[], true), text(first), Ask("GET", &[], true), text(ok)];
    let closed = |stimulus, first: &str, log: &str| {
        let steps = vec![Ask("GET", &[], true), text(first), Ask("GET", &[], true)];
        row(stimulus, "9112 §9.3", steps, &format!("{GET}?GoingAway"), log)
    };
    vec![
        given("a second request", "9112 §9.3", twice(ok))
            .then(&format!("{GET}{GET}"), "204 end; idle; 204 end; idle"),
        given(
            "of HTTP/1.0 that stays",
            "9112 §9.3",
            twice("HTTP/1.0 204 x\r\nConnection: x, keep-alive\r\n\r\n"),
        )
        .then(&format!("{GET}{GET}"), "204 connection=x, keep-alive end; idle; 204 end; idle"),
        closed("of HTTP/1.0", "HTTP/1.0 204 x\r\n\r\n", "204 end; last"),
        closed(
            "that says close",
            "HTTP/1.1 204 x\r\nConnection: x, Close\r\n\r\n",
            "204 connection=x, Close end; last",
        ),
        given("a response nobody asked for, before any request", "9112 §9.2", vec![text(ok)])
            .then("", "closed UNSOLICITED"),
        given("a second response (response splitting)", "9112 §9.2", get(&ok.repeat(2)))
            .then(GET, "204 end; idle; closed UNSOLICITED"),
        given("content of 204", "9112 §9.2", get("HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\nx"))
            .then(GET, "204 content-length=1 end; idle; closed UNSOLICITED"),
        given(
            "content longer than its length",
            "9112 §9.2",
            get("HTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\nxy"),
        )
        .then(GET, "200 content-length=1; data x end; idle; closed UNSOLICITED"),
        given("an empty line after a response", "9112 §9.2", get(&format!("{ok}\r\n")))
            .then(GET, "204 end; idle; closed UNSOLICITED"),
        given(
            "408 before any request",
            "9110 §15.5.9",
            vec![text("HTTP/1.1 408 x\r\nConnection: close\r\n\r\n")],
        )
        .then("", "closed PeerClosed"),
        given("408 between two requests", "9110 §15.5.9", get(&format!("{ok}HTTP/1.0 408 x\r\n\r\n")))
            .then(GET, "204 end; idle; closed PeerClosed"),
        given(
            "what may become 408",
            "9110 §15.5.9",
            vec![Ask("GET", &[], true), text(&format!("{ok}HTTP/1.1 4")), Ask("GET", &[], true)],
        )
        .then(&format!("{GET}?GoingAway"), "204 end; idle"),
        given("what does not become 408", "9112 §9.2", get(&format!("{ok}HTTP/1.1 40x")))
            .then(GET, "204 end; idle; closed UNSOLICITED"),
        given(
            "what follows close is left",
            "9112 §9.6",
            get("HTTP/1.1 204 x\r\nConnection: close\r\n\r\nmore"),
        )
        .then(GET, "204 connection=close end; last"),
    ]
}

fn cut() -> Vec<Row> {
    let cut = |stimulus, section, response: &str, log: &str| {
        row(stimulus, section, [get(response), vec![Cut]].concat(), GET, log)
    };
    let until_close = "HTTP/1.1 200 x\r\n\r\n";
    vec![
        row("before anything was asked", "9112 §9.3", vec![Cut], "", "closed PeerClosed"),
        cut("without an answer", "9112 §9.3.1", "", "closed Unanswered { is_reused: false }"),
        cut(
            "between two exchanges",
            "9112 §9.3",
            "HTTP/1.1 204 x\r\n\r\n",
            "204 end; idle; closed PeerClosed",
        ),
        cut(
            "after content of a stated length",
            "9112 §9.3",
            "HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\nok",
            "200 content-length=2; data ok end; idle; closed PeerClosed",
        ),
        cut(
            "after the last chunk",
            "9112 §9.3",
            "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "200 transfer-encoding=chunked; data ok end; idle; closed PeerClosed",
        ),
        cut(
            "within content of a stated length",
            "9112 §8",
            "HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\no",
            "200 content-length=2; data o; closed CUT_CONTENT",
        ),
        cut("before content until the close", "9112 §9.8", until_close, "200; closed TRUNCATED"),
        cut(
            "within content until the close",
            "9112 §9.8",
            &format!("{until_close}ok"),
            "200; data ok; closed TRUNCATED",
        ),
        given(
            "within a tunnel",
            "9112 §9.8",
            vec![Ask("CONNECT", &[], false), text(&format!("{until_close}ok")), Cut],
        )
        .then(
            "CONNECT a.example:443 HTTP/1.1|Host: a.example:443||",
            "200; writable; data ok; closed TRUNCATED",
        ),
    ]
}

fn accepting_client() -> End {
    let config = Config { accept_truncated_tls: true, ..Config::default() };
    End::new(Connection::client(config), Answers::Never)
}

fn cut_and_accepted() -> Vec<Row> {
    vec![
        given(
            "within content until the close",
            "9112 §9.8",
            [get("HTTP/1.1 200 x\r\n\r\nok"), vec![Cut]].concat(),
        )
        .then(GET, "200; data ok end; last"),
        given(
            "within content of a stated length",
            "9112 §8",
            [get("HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\no"), vec![Cut]].concat(),
        )
        .then(GET, "200 content-length=2; data o; closed CUT_CONTENT"),
    ]
}

fn gone() -> Vec<Row> {
    let ok = "HTTP/1.1 204 x\r\n\r\n";
    let eof = |stimulus, section, response: &str, log: &str| {
        row(stimulus, section, [get(response), vec![Eof]].concat(), GET, log)
    };
    let chunked = "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let log = "200 transfer-encoding=chunked";
    vec![
        row("before anything was asked", "9112 §9.3", vec![Eof], "", "closed PeerClosed"),
        eof("without an answer", "9112 §9.3.1", "", "closed Unanswered { is_reused: false }"),
        given(
            "without an answer, after others",
            "9112 §9.3.1",
            vec![Ask("GET", &[], true), text(ok), Ask("GET", &[], true), Eof],
        )
        .then(&format!("{GET}{GET}"), "204 end; idle; closed Unanswered { is_reused: true }"),
        eof("between two exchanges", "9112 §9.3", ok, "204 end; idle; closed PeerClosed"),
        eof("after an interim response", "9112 §8", "HTTP/1.1 103 x\r\n\r\n", "interim 103; closed CUT_HEAD"),
        eof("within a status line", "9112 §8", "HTTP/1.1 2", "closed CUT_HEAD"),
        eof("within the fields", "9112 §8", "HTTP/1.1 200 x\r\nX: y\r\n", "closed CUT_HEAD"),
        eof(
            "before the content",
            "9112 §8",
            "HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\n",
            "200 content-length=2; closed CUT_CONTENT",
        ),
        eof(
            "within the content",
            "9112 §8",
            "HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\no",
            "200 content-length=2; data o; closed CUT_CONTENT",
        ),
        eof("before a chunk", "9112 §8", chunked, &format!("{log}; closed CUT_CONTENT")),
        eof(
            "within a chunk",
            "9112 §8",
            &format!("{chunked}2\r\no"),
            &format!("{log}; data o; closed CUT_CONTENT"),
        ),
        eof(
            "before the last chunk",
            "9112 §8",
            &format!("{chunked}2\r\nok\r\n"),
            &format!("{log}; data ok; closed CUT_CONTENT"),
        ),
        eof(
            "before the end of the trailers",
            "9112 §8",
            &format!("{chunked}2\r\nok\r\n0\r\n"),
            &format!("{log}; data ok; closed CUT_CONTENT"),
        ),
        given(
            "after an answer, within the request",
            "9112 §9.6",
            vec![Ask("POST", &[("content-length", "4")], false), text(ok), Eof, Say("abcd", true)],
        )
        .then(&format!("{POST}abcd"), "204 end; last"),
        given(
            "before an answer, within the request",
            "9112 §9.3.1",
            vec![Ask("POST", &[("content-length", "4")], false), Eof, Say("abcd", true)],
        )
        .then(&format!("{POST}?Closed"), "closed Unanswered { is_reused: false }"),
    ]
}
