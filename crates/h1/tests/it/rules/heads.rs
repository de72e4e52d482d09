//! Request lines, targets and hosts (RFC 9112 §2 and §3).

use alula_h1::{Config, Connection, Leniency};

use super::table::Step::In;
use super::table::{Row, Rows, bad, given, one, row};
use crate::support::{Answers, End};

pub(crate) fn server() -> End {
    End::new(Connection::server(Config::default()), Answers::Never)
}

/// A server that forgives lines without a carriage return.
fn bare_lf_server() -> End {
    let leniency = Leniency { bare_lf: true, ..Leniency::default() };
    End::new(Connection::server(Config { leniency, ..Config::default() }), Answers::Never)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "request lines", make: server, rows: lines() },
        Rows { subject: "targets", make: server, rows: targets() },
        Rows { subject: "hosts", make: server, rows: hosts() },
        Rows { subject: "line feeds, forgiven", make: bare_lf_server, rows: bare_lf() },
    ]
}

/// A request line that is refused, whatever follows.
fn line(stimulus: &str, section: &'static str, line: &str, rule: &str) -> Row {
    bad(stimulus, section, format!("{line}\r\nHost: a\r\n\r\n").as_bytes(), rule)
}

/// A request line that is taken.
fn fine(stimulus: &str, section: &'static str, line: &str, log: &str) -> Row {
    row(stimulus, section, one(format!("{line}\r\nHost: a\r\n\r\n")), "", log)
}

fn lines() -> Vec<Row> {
    vec![
        fine("a plain request", "9112 §3", "GET / HTTP/1.1", "GET http a / end"),
        fine("a method of its own", "9110 §9.1", "M-SEARCH / HTTP/1.1", "M-SEARCH http a / end"),
        fine("a method in lower case is another", "9110 §9.1", "get / HTTP/1.1", "get http a / end"),
        fine(
            "every byte of tokens in a method",
            "9110 §5.6.2",
            "!#$%&'*+-.^_`|~ / HTTP/1.1",
            "!#$%&'*+-.^_`|~ http a / end",
        ),
        fine("an empty line before", "9112 §2.2", "\r\nGET / HTTP/1.1", "GET http a / end"),
        fine("a later minor version", "9110 §2.5", "GET / HTTP/1.2", "GET http a / end"),
        line("two empty lines before", "9112 §2.2", "\r\n\r\nGET / HTTP/1.1", "EMPTY_LINES"),
        line("no version", "9112 §3", "GET /", "REQUEST_LINE"),
        line("two spaces after the method", "9112 §3", "GET  / HTTP/1.1", "REQUEST_LINE"),
        line("two spaces after the target", "9112 §3", "GET /  HTTP/1.1", "REQUEST_LINE"),
        line("a tab for a space", "9110 §9.1", "GET\t/ HTTP/1.1", "METHOD_INVALID"),
        line("a space in the target", "9112 §3", "GET /a b HTTP/1.1", "REQUEST_LINE"),
        line("a space before the method", "9110 §9.1", " GET / HTTP/1.1", "METHOD_INVALID"),
        line("a colon in the method", "9110 §9.1", "GET: / HTTP/1.1", "METHOD_INVALID"),
        line("a version in lower case", "9112 §2.3", "GET / http/1.1", "VERSION_INVALID"),
        line("a version with a comma", "9112 §2.3", "GET / HTTP/1,1", "VERSION_INVALID"),
        line("another protocol", "9112 §2.3", "GET / HTTQ/1.1", "VERSION_INVALID"),
        line("a version of two digits", "9112 §3", "GET / HTTP/1.10", "REQUEST_LINE"),
        line("HTTP/2.0", "9112 §2.3", "GET / HTTP/2.0", "VERSION_UNSUPPORTED"),
        line("HTTP/0.9 with a version", "9112 §2.3", "GET / HTTP/0.9", "VERSION_UNSUPPORTED"),
        bad("the preface of HTTP/2", "9112 §2.3", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "VERSION_UNSUPPORTED"),
        bad("a line feed alone", "9112 §2.2", b"GET / HTTP/1.1\nHost: a\r\n\r\n", "BARE_LF"),
        bad("a carriage return alone", "9112 §2.2", b"GET / HTTP/1.1\rHost: a\r\n\r\n", "BARE_CR"),
        given(
            "a carriage return within the target",
            "9112 §2.2",
            one(b"GET /\r HTTP/1.1\r\nHost: a\r\n\r\n"),
        )
        .breaks("BARE_CR"),
        bad("two carriage returns", "9112 §2.2", b"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "BARE_CR"),
        bad("a line feed before the request", "9112 §2.2", b"\nGET / HTTP/1.1\r\n\r\n", "BARE_LF"),
        bad("NUL in the line", "9112 §3", b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", "REQUEST_LINE"),
        bad("the first bytes of TLS", "9112 §3", b"\x16\x03\x01\x02\x00\x01", "REQUEST_LINE"),
    ]
}

fn targets() -> Vec<Row> {
    let with_host = |target: &str, host: &str| one(format!("{target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    vec![
        fine("path and query", "9112 §3.2.1", "GET /a/b?c=d&e HTTP/1.1", "GET http a /a/b?c=d&e end"),
        fine(
            "what browsers do not escape",
            "9112 §3.2.1",
            "GET /a?{\"b|c\"} HTTP/1.1",
            "GET http a /a?{\"b|c\"} end",
        ),
        fine(
            "a path that begins with two slashes",
            "9112 §3.2.1",
            "GET //b/ HTTP/1.1",
            "GET http a //b/ end",
        ),
        fine("a whole URI", "9112 §3.2.2", "GET http://a/b HTTP/1.1", "GET http a /b end"),
        fine(
            "a whole URI of another scheme and case",
            "9112 §3.2.2",
            "GET HTTPS://A/b HTTP/1.1",
            "GET https A /b end",
        ),
        fine("a whole URI without a path", "9112 §3.2.2", "GET http://a HTTP/1.1", "GET http a / end"),
        fine(
            "a URI without a path before a query",
            "9110 §4.2.3",
            "GET http://a?b HTTP/1.1",
            "GET http a /?b end",
        ),
        fine("an asterisk", "9112 §3.2.4", "OPTIONS * HTTP/1.1", "OPTIONS http a * end"),
        fine(
            "a URI without a path for OPTIONS",
            "9112 §3.2.4",
            "OPTIONS http://a HTTP/1.1",
            "OPTIONS http a * end",
        ),
        given("an authority for CONNECT", "9112 §3.2.3", with_host("CONNECT b:443", "b:443"))
            .then("", "CONNECT b:443"),
        given("a host that differs from the target", "9112 §3.2.2", with_host("GET http://b/", "a"))
            .then("!400", "closed HOST_DIFFERS"),
        given("a host that differs by its port", "9112 §3.2.2", with_host("GET http://a:80/", "a"))
            .then("!400", "closed HOST_DIFFERS"),
        given("a host that differs from the tunnel's", "9112 §3.2.2", with_host("CONNECT b:443", "a:443"))
            .then("!400", "closed HOST_DIFFERS"),
        line("a target that is no path", "9112 §3.2", "GET a HTTP/1.1", "TARGET_INVALID"),
        line("an asterisk for GET", "9112 §3.2", "GET * HTTP/1.1", "TARGET_INVALID"),
        line("a fragment", "9112 §3.2", "GET /#a HTTP/1.1", "TARGET_INVALID"),
        line("bytes beyond ASCII", "9112 §3.2", "GET /\u{e9} HTTP/1.1", "TARGET_INVALID"),
        line("a tab in the target", "9112 §3.2", "GET /a\tb HTTP/1.1", "TARGET_INVALID"),
        line("a scheme that is none of ours", "9112 §3.2", "GET ftp://a/ HTTP/1.1", "TARGET_INVALID"),
        line("user information", "9112 §3.2", "GET http://b@a/ HTTP/1.1", "TARGET_INVALID"),
        line("a URI without a host", "9112 §3.2", "GET http:///a HTTP/1.1", "TARGET_INVALID"),
        line("a port that is none", "9112 §3.2", "GET http://a:99999/ HTTP/1.1", "TARGET_INVALID"),
        line("a path for CONNECT", "9112 §3.2", "CONNECT /a HTTP/1.1", "TARGET_INVALID"),
        line("no port for CONNECT", "9112 §3.2", "CONNECT a HTTP/1.1", "TARGET_INVALID"),
        line("an authority for GET", "9112 §3.2", "GET a:80 HTTP/1.1", "TARGET_INVALID"),
    ]
}

fn hosts() -> Vec<Row> {
    let host = |host: &str| format!("GET / HTTP/1.1\r\n{host}\r\n\r\n");
    let bad_host = |stimulus, lines: &str, rule| bad(stimulus, "9112 §3.2", host(lines).as_bytes(), rule);
    vec![
        row("a port", "9110 §7.2", one(host("Host: a:8080")), "", "GET http a:8080 / end"),
        given("an address in brackets", "9110 §7.2", one(host("Host: [::1]:80")))
            .then("", "GET http [::1]:80 / end"),
        row("an empty host", "9112 §3.2", one(host("Host:")), "", "GET http  / end"),
        row("none in HTTP/1.0", "9112 §3.2", one("GET / HTTP/1.0\r\n\r\n"), "", "GET http / end"),
        bad("none in HTTP/1.1", "9112 §3.2", b"GET / HTTP/1.1\r\n\r\n", "HOST_MISSING"),
        bad("none beside a whole URI", "9112 §3.2", b"GET http://a/ HTTP/1.1\r\n\r\n", "HOST_MISSING"),
        bad_host("two that are the same", "Host: a\r\nHost: a", "HOST_REPEATED"),
        bad_host("two that are not", "Host: a\r\nhost: b", "HOST_REPEATED"),
        bad_host("two in one", "Host: a, b", "HOST_INVALID"),
        bad_host("user information", "Host: b@a", "HOST_INVALID"),
        bad_host("a path", "Host: a/b", "HOST_INVALID"),
        bad_host("an address that is none", "Host: [::1", "HOST_INVALID"),
        bad_host("bytes beyond ASCII", "Host: \u{e9}", "HOST_INVALID"),
        bad("two in HTTP/1.0", "9112 §3.2", b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "HOST_REPEATED"),
    ]
}

fn bare_lf() -> Vec<Row> {
    let mixed = "\nGET / HTTP/1.1\nHost: a\r\nX: b\n\n";
    let chunked = b"POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n1\na\n0\nX: b\n\n";
    vec![
        row("line feeds alone", "9112 §2.2", one(mixed), "", "GET http a / x=b end"),
        given("line feeds alone around chunks", "9112 §2.2", vec![In(chunked.to_vec())])
            .then("", "POST http a / transfer-encoding=chunked; data a; trailers x=b"),
        bad("a carriage return alone still is one", "9112 §2.2", b"GET / HTTP/1.1\n\rHost: a\n\n", "BARE_CR"),
    ]
}
