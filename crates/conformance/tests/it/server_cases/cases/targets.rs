//! Targets, hosts and versions (RFC 9112 §2.3, §3; RFC 9110 §7.2).

use crate::server_cases::case::{Case, get, raw};

pub(crate) fn cases() -> Vec<Case> {
    targets().into_iter().chain(hosts()).chain(lines()).collect()
}

fn targets() -> Vec<Case> {
    vec![
        get("a path in origin-form", "9112 §3.2.1", "/asked").answers(200).within("GET /asked of "),
        get("the query is no part of the path", "9112 §3.2.1", "/text?a=b&c=/d?e").gives("hello"),
        get("an empty path is sent as a slash", "9112 §3.2.1", "/").gives("the root"),
        get("an empty query is a query", "9110 §4.2.3", "/text?").gives("hello"),
        get("an escape in a segment is decoded once", "9110 §4.2.3", "/segment/a%2525").gives("segment a%25"),
        get("an escaped slash separates no segments", "9110 §4.2.3", "/segment/a%2Fb").gives("segment a/b"),
        get("escapes are the same in either case", "9110 §4.2.3", "/segment/%c3%B6").gives("segment ö"),
        get("paths are compared with case", "9110 §4.2.3", "/TEXT").answers(404),
        get("a malformed escape is refused", "9110 §4.2.3", "/segment/%zz").answers(400),
        get("an unknown path is answered 404", "9110 §15.5.5", "/none").answers(404),
        raw("a target in absolute-form", "9112 §3.2.2", "GET http://a/asked HTTP/1.1\r\nHost: a\r\n\r\n")
            .gives("GET /asked of a"),
        raw(
            "a target in absolute-form without a path",
            "9112 §3.2.2",
            "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .gives("the root"),
        raw("a scheme in capitals", "9110 §4.2.3", "GET HTTP://a/text HTTP/1.1\r\nHost: a\r\n\r\n")
            .gives("hello"),
        raw(
            "a target of another host than the field",
            "9112 §3.2.2",
            "GET http://b/text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .refused(400),
        raw("a target without a host", "9110 §4.2.1", "GET http:///text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("a target that begins with no slash", "9112 §3.2", "GET text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("a target with a fragment", "9112 §3.2.1", "GET /text#a HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("a target in authority-form with GET", "9112 §3.2.3", "GET a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n")
            .refused(400),
        raw(
            "a target that is too long is answered 414",
            "9112 §3",
            format!("GET /text?{} HTTP/1.1\r\nHost: a\r\n\r\n", "q".repeat(9000)),
        )
        .refused(414),
        raw(
            "a request line of 8000 bytes is taken",
            "9112 §3",
            format!("GET /text?{} HTTP/1.1\r\nHost: a\r\n\r\n", "q".repeat(8000 - 20)),
        )
        .gives("hello"),
    ]
}

fn hosts() -> Vec<Case> {
    vec![
        raw("a request without a host is refused", "9112 §3.2", "GET /text HTTP/1.1\r\n\r\n").refused(400),
        raw("two hosts are refused", "9112 §3.2", "GET /text HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            .refused(400),
        raw(
            "the same host twice is refused",
            "9112 §3.2",
            "GET /text HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        )
        .refused(400),
        raw("a host with a path is refused", "9112 §3.2", "GET /text HTTP/1.1\r\nHost: a/b\r\n\r\n")
            .refused(400),
        raw("a list of hosts is refused", "9112 §3.2", "GET /text HTTP/1.1\r\nHost: a, b\r\n\r\n")
            .refused(400),
        raw("a host with a user is refused", "9110 §4.2.4", "GET /text HTTP/1.1\r\nHost: me@a\r\n\r\n")
            .refused(400),
        raw("a port that is no number is refused", "9110 §7.2", "GET /text HTTP/1.1\r\nHost: a:b\r\n\r\n")
            .refused(400),
        raw("an empty host is taken", "9112 §3.2", "GET /text HTTP/1.1\r\nHost:\r\n\r\n").gives("hello"),
        raw("a host with a port is taken", "9110 §7.2", "GET /asked HTTP/1.1\r\nHost: a:8080\r\n\r\n")
            .gives("GET /asked of a:8080"),
        raw(
            "a host that is an address of IPv6",
            "9110 §4.2.1",
            "GET /text HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
        )
        .answers(200),
        raw(
            "another host has other routes",
            "9110 §7.2",
            "GET /text HTTP/1.1\r\nHost: other.example\r\n\r\n",
        )
        .gives("another host"),
        raw(
            "hosts are compared without case",
            "9110 §4.2.3",
            "GET /text HTTP/1.1\r\nHost: OTHER.Example\r\n\r\n",
        )
        .gives("another host"),
        raw(
            "the host of an absolute target has its routes",
            "9112 §3.3",
            "GET http://other.example/text HTTP/1.1\r\nHost: other.example\r\n\r\n",
        )
        .gives("another host"),
        raw(
            "a route of one host is none of another",
            "9110 §7.4",
            "GET /probe HTTP/1.1\r\nHost: other.example\r\n\r\n",
        )
        .answers(404),
    ]
}

fn lines() -> Vec<Case> {
    vec![
        raw("two spaces in a request line", "9112 §3", "GET  /text HTTP/1.1\r\nHost: a\r\n\r\n").refused(400),
        raw("a tab in a request line", "9112 §3", "GET\t/text\tHTTP/1.1\r\nHost: a\r\n\r\n").refused(400),
        raw("a space in a target", "9112 §3.2", "GET /te xt HTTP/1.1\r\nHost: a\r\n\r\n").refused(400),
        raw("a space behind the version", "9112 §3", "GET /text HTTP/1.1 \r\nHost: a\r\n\r\n").refused(400),
        raw("a request line without a version", "9112 §3", "GET /text\r\nHost: a\r\n\r\n").refused(400),
        raw("a version in small letters", "9112 §2.3", "GET /text http/1.1\r\nHost: a\r\n\r\n").refused(400),
        raw("a version of two digits", "9112 §2.3", "GET /text HTTP/1.10\r\nHost: a\r\n\r\n").refused(400),
        raw("a major version that is unknown", "9110 §15.6.6", "GET /text HTTP/3.0\r\nHost: a\r\n\r\n")
            .refused(505),
        raw("a later minor version", "9110 §2.5", "GET /text HTTP/1.9\r\nHost: a\r\n\r\n").gives("hello"),
        raw("one empty line before a request", "9112 §2.2", "\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .gives("hello"),
        raw("a line feed alone", "9112 §2.2", "GET /text HTTP/1.1\nHost: a\n\n").refused(400),
        raw("a carriage return in a request line", "9112 §2.2", "GET /te\rxt HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("white space before the first field", "9112 §2.2", "GET /text HTTP/1.1\r\n Host: a\r\n\r\n")
            .refused(400),
        raw("bytes that are no HTTP", "9112 §2.2", "\x16\x03\x01\x02 hello\r\n\r\n").refused(400),
    ]
}
