//! Expectations (RFC 9110 §10.1.1).

use crate::server_cases::case::{Case, ask, raw};

/// A request that waits to be asked for its content of five bytes.
fn expecting(name: &'static str, section: &'static str, path: &str, expectation: &str) -> Case {
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: {expectation}\r\n\r\n");
    raw(name, section, head)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        expecting("100 asks for content that is wanted", "9110 §10.1.1", "/echo", "100-continue")
            .answers(100)
            .sends("hello")
            .gives("hello"),
        expecting("the expectation is compared without case", "9110 §10.1.1", "/echo", "100-Continue")
            .answers(100)
            .sends("hello")
            .gives("hello"),
        expecting("no 100 for content that is not wanted", "9110 §10.1.1", "/unread", "100-continue")
            .gives("not read")
            .closes(),
        expecting("no 100 for a path that is unknown", "9110 §10.1.1", "/none", "100-continue").refused(404),
        expecting("no 100 for a method that is not allowed", "9110 §10.1.1", "/stream", "100-continue")
            .refused(405),
        raw(
            "100 asks for chunks",
            "9110 §10.1.1",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
        )
        .answers(100)
        .sends("5\r\nhello\r\n0\r\n\r\n")
        .gives("hello"),
        raw(
            "no 100 when the content has come",
            "9110 §10.1.1",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        )
        .gives("hello"),
        raw(
            "no 100 without content",
            "9110 §10.1.1",
            "GET /text HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
        )
        .gives("hello"),
        raw(
            "no 100 for HTTP/1.0",
            "9110 §10.1.1",
            "POST /echo HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        )
        .gives("hello")
        .closes(),
        ask("an expectation through the client", "9110 §10.1.1", "POST", "/echo")
            .with("expect", "100-continue")
            .body("hello")
            .gives("hello"),
    ]
}
