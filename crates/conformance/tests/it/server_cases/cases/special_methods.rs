//! HEAD, OPTIONS, TRACE and CONNECT (RFC 9110 §9.3.2, §9.3.6 to §9.3.8).

use crate::server_cases::case::{Case, ask, raw};

pub(crate) fn cases() -> Vec<Case> {
    head().into_iter().chain(others()).collect()
}

fn head() -> Vec<Case> {
    vec![
        ask("HEAD has the fields of GET and no content", "9110 §9.3.2", "HEAD", "/text")
            .answers_head(200)
            .has("content-length", "5")
            .holds("content-type", "text/plain")
            .content(""),
        ask("HEAD of a streamed answer has no content", "9110 §9.3.2", "HEAD", "/stream")
            .answers_head(200)
            .content(""),
        ask("HEAD of much states the length of it", "9110 §8.6", "HEAD", "/large")
            .answers_head(200)
            .has("content-length", "100000"),
        ask("HEAD of an unknown path has no content", "9110 §9.3.2", "HEAD", "/none")
            .answers_head(404)
            .content(""),
        ask("HEAD where GET is missing is answered 405", "9110 §9.3.2", "HEAD", "/unread")
            .answers_head(405)
            .has("allow", "POST"),
        ask("HEAD of a redirection has its location", "9110 §9.3.2", "HEAD", "/redirect/302")
            .answers_head(302)
            .has("location", "/to%20here"),
        ask(
            "HEAD of an answer with trailers has neither content nor trailers",
            "9110 §9.3.2",
            "HEAD",
            "/stream-with-trailers",
        )
        .answers_head(200)
        .content(""),
        ask("HEAD of an answer that fails has no content", "9110 §9.3.2", "HEAD", "/failed")
            .answers_head(500)
            .content(""),
        raw(
            "the answer after one to HEAD begins right behind its head",
            "9112 §6.3",
            "HEAD /text HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .answers_head(200)
        .gives("hello"),
        raw(
            "the answer after one to HEAD of a stream begins right behind its head",
            "9112 §6.3",
            "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .answers_head(200)
        .gives("hello"),
    ]
}

fn others() -> Vec<Case> {
    vec![
        ask("OPTIONS is answered where it has a handler", "9110 §9.3.7", "OPTIONS", "/options")
            .answers(204)
            .has("allow", "GET, HEAD, OPTIONS")
            .content(""),
        ask("OPTIONS without a handler names the methods", "9110 §9.3.7", "OPTIONS", "/text")
            .answers(405)
            .has("allow", "GET, HEAD, POST"),
        ask("OPTIONS with content is answered", "9110 §9.3.7", "OPTIONS", "/options")
            .body("ignored")
            .answers(204),
        raw(
            "OPTIONS of the server as a whole is not a path",
            "9112 §3.2.4",
            "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .answers(404),
        raw("an asterisk with another method is refused", "9112 §3.2.4", "GET * HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        ask("TRACE without a handler is answered 405", "9110 §9.3.8", "TRACE", "/text")
            .with("cookie", "secret=1")
            .answers(405)
            .lacks("cookie"),
        raw(
            "CONNECT to a server that is no proxy is refused",
            "9110 §9.3.6",
            "CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n",
        )
        .refused(404),
        raw("CONNECT without a port is refused", "9110 §9.3.6", "CONNECT b HTTP/1.1\r\nHost: b\r\n\r\n")
            .refused(400),
        raw("CONNECT to a path is refused", "9112 §3.2.3", "CONNECT /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw(
            "CONNECT with content is refused",
            "9110 §9.3.6",
            "CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\nContent-Length: 1\r\n\r\nx",
        )
        .refused(400),
    ]
}
