//! Where the content of answers ends, and what is said of it (RFC 9112 §6, §7; RFC 9110 §6, §8).

use crate::server_cases::case::{Case, get, raw};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        get("content that is there as a whole has its length", "9112 §6.2", "/text")
            .answers(200)
            .has("content-length", "5")
            .lacks("transfer-encoding")
            .content("hello"),
        get("empty content has a length of zero", "9110 §8.6", "/empty")
            .answers(200)
            .has("content-length", "0")
            .content(""),
        get("much content has its length", "9110 §8.6", "/large")
            .answers(200)
            .has("content-length", "100000"),
        get("streamed content comes in chunks", "9112 §7.1", "/stream")
            .answers(200)
            .has("transfer-encoding", "chunked")
            .lacks("content-length")
            .content("one,two,three"),
        get("streamed content of a stated length comes without chunks", "9112 §6.1", "/stream-of-length")
            .answers(200)
            .has("content-length", "6")
            .lacks("transfer-encoding")
            .content("thrice"),
        get("a stream of nothing is empty", "9112 §7.1", "/stream-of-nothing").gives(""),
        get("trailers are announced", "9110 §6.6.2", "/stream-with-trailers")
            .answers(200)
            .has("trailer", "x-sum")
            .trailer("x-sum", "42")
            .content("summed"),
        get("204 has neither length nor coding", "9110 §15.3.5", "/status/204")
            .answers(204)
            .lacks("content-length")
            .lacks("transfer-encoding")
            .content(""),
        get("304 has no content", "9110 §15.4.5", "/status/304")
            .answers(304)
            .lacks("transfer-encoding")
            .content(""),
        get("an answer has a date", "9110 §6.6.1", "/text").answers(200).holds("date", " GMT"),
        get("text has its media type", "9110 §8.3", "/text")
            .answers(200)
            .has("content-type", "text/plain; charset=utf-8"),
        raw("a stream to HTTP/1.0 lasts until the close", "9112 §6.1", "GET /stream HTTP/1.0\r\n\r\n")
            .answers(200)
            .lacks("transfer-encoding")
            .content("one,two,three")
            .closes(),
        raw("an answer to HTTP/1.0 is of HTTP/1.1", "9110 §6.2", "GET /text HTTP/1.0\r\n\r\n")
            .gives("hello")
            .closes(),
        raw(
            "the answer after a stream begins behind its last chunk",
            "9112 §7.1",
            "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .gives("one,two,three")
        .gives("hello"),
        raw(
            "the answer after 204 begins right behind its head",
            "9112 §6.3",
            "GET /status/204 HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .answers(204)
        .gives("hello"),
        raw(
            "the answer after 304 begins right behind its head",
            "9112 §6.3",
            "GET /status/304 HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .answers(304)
        .gives("hello"),
        raw(
            "the answer after trailers begins behind them",
            "9112 §7.1.2",
            "GET /stream-with-trailers HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n\
             GET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .gives("summed")
        .gives("hello"),
    ]
}
