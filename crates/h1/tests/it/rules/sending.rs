//! What a server may send (RFC 9112 §6 and §7), and how it says where that ends.

use alula_fields::FieldSection;
use alula_h1::{Config, Connection, Hole, Prepared, RequestHead, SendError, Spelling, Violation};
use alula_machine::OutBuf;

use super::heads::server;
use super::table::Step::{In, Interim, Open, Say, Trail};
use super::table::{Row, Rows, Step, given, row};

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "answers", make: server, rows: answers() },
        Rows { subject: "answers that are refused", make: server, rows: refused() },
    ]
}

/// A request and what is done with it.
fn asked(method: &str, version: &str, steps: &[Step]) -> Vec<Step> {
    let head = format!("{method} / HTTP/{version}\r\nHost: a\r\n\r\n");
    [&[In(head.into_bytes())], steps].concat()
}

fn get(steps: &[Step]) -> Vec<Step> {
    asked("GET", "1.1", steps)
}

fn answers() -> Vec<Row> {
    let log = "GET http a / end; idle";
    let last = "GET http a / end; last";
    let head = "HEAD http a / end; idle";
    vec![
        row("nothing", "9110 §8.6", get(&[Open(200, &[], true)]), "HTTP/1.1 200 OK|Content-Length: 0||", log),
        given(
            "a length",
            "9112 §6.2",
            get(&[Open(200, &[("content-length", "4")], false), Say("ab", false), Say("cd", true)]),
        )
        .then("HTTP/1.1 200 OK|Content-Length: 4||abcd", log),
        given(
            "chunks",
            "9112 §7.1",
            get(&[Open(200, &[], false), Say("ab", false), Say("0123456789abcdef", true)]),
        )
        .then("HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|ab|10|0123456789abcdef|0||", log),
        given(
            "chunks that were asked for",
            "9112 §7.1",
            get(&[Open(200, &[("transfer-encoding", "chunked")], false), Say("ab", true)]),
        )
        .then("HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|ab|0||", log),
        given(
            "an empty piece is no chunk",
            "9112 §7.1",
            get(&[Open(200, &[], false), Say("", false), Say("", true)]),
        )
        .then("HTTP/1.1 200 OK|Transfer-Encoding: chunked||0||", log),
        given(
            "trailers",
            "9112 §7.1.2",
            get(&[Open(200, &[], false), Say("ab", false), Trail(&[("x-sum", "1")])]),
        )
        .then("HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|ab|0|X-Sum: 1||", log),
        given("204 has no length", "9110 §15.3.5", get(&[Open(204, &[], true)]))
            .then("HTTP/1.1 204 No Content||", log),
        given("304 may have one", "9110 §15.4.5", get(&[Open(304, &[("content-length", "4")], true)]))
            .then("HTTP/1.1 304 Not Modified|Content-Length: 4||", log),
        given("304 with none", "9110 §15.4.5", get(&[Open(304, &[], true)]))
            .then("HTTP/1.1 304 Not Modified||", log),
        given(
            "an answer to HEAD with a length",
            "9110 §9.3.2",
            asked("HEAD", "1.1", &[Open(200, &[("content-length", "4")], true)]),
        )
        .then("HTTP/1.1 200 OK|Content-Length: 4||", head),
        given("an answer to HEAD without", "9110 §9.3.2", asked("HEAD", "1.1", &[Open(200, &[], true)]))
            .then("HTTP/1.1 200 OK||", head),
        given(
            "an answer to HEAD with chunks",
            "9110 §9.3.2",
            asked("HEAD", "1.1", &[Open(200, &[("transfer-encoding", "chunked")], false), Say("", true)]),
        )
        .then("HTTP/1.1 200 OK|Transfer-Encoding: chunked||", head),
        given("an interim response", "9110 §15.2", get(&[Interim(103), Open(204, &[], true)]))
            .then("HTTP/1.1 103 Early Hints||HTTP/1.1 204 No Content||", log),
        given("a status without a name", "9112 §4", get(&[Open(299, &[], true)]))
            .then("HTTP/1.1 299 |Content-Length: 0||", log),
        given("a server that closes", "9112 §9.6", get(&[Open(200, &[("connection", "close")], true)]))
            .then("HTTP/1.1 200 OK|Connection: close|Content-Length: 0||", last),
        given(
            "no chunks for HTTP/1.0",
            "9112 §6.1",
            asked("GET", "1.0", &[Open(200, &[], false), Say("ab", false), Say("cd", true)]),
        )
        .then("HTTP/1.1 200 OK|Connection: close||abcd", last),
        given(
            "no trailers for HTTP/1.0",
            "9112 §7.1.2",
            asked("GET", "1.0", &[Open(200, &[], false), Say("ab", false), Trail(&[("x", "y")])]),
        )
        .then("HTTP/1.1 200 OK|Connection: close||ab", last),
    ]
}

fn refused() -> Vec<Row> {
    let log = "GET http a / end";
    let head = "HTTP/1.1 200 OK|Content-Length: 2||";
    let two = || Open(200, &[("content-length", "2")], false);
    vec![
        given("more than was said", "9110 §8.6", get(&[two(), Say("abc", true)]))
            .then(&format!("{head}?ContentLength"), log),
        given("less than was said", "9110 §8.6", get(&[two(), Say("a", true), Say("ab", true)]))
            .then(&format!("{head}?ContentLengthab"), "GET http a / end; idle"),
        given("a length and no content", "9110 §8.6", get(&[Open(200, &[("content-length", "2")], true)]))
            .then("?ContentLength", log),
        given("a length in 204", "9110 §8.6", get(&[Open(204, &[("content-length", "0")], true)]))
            .then("?ContentLength", log),
        given("a coding in 204", "9112 §6.1", get(&[Open(204, &[("transfer-encoding", "chunked")], true)]))
            .then("?ContentLength", log),
        given(
            "a coding for HTTP/1.0",
            "9112 §6.1",
            asked("GET", "1.0", &[Open(200, &[("transfer-encoding", "chunked")], false)]),
        )
        .then(&format!("?Control({:?})", alula_h1::Violation::CODING_TOO_EARLY), log),
        given(
            "a length beside a coding",
            "9112 §6.2",
            get(&[Open(200, &[("content-length", "2"), ("transfer-encoding", "chunked")], false)]),
        )
        .then(
            &format!(
                "?{:?}",
                alula_h1::SendError::Field { at: 1, rule: alula_h1::Violation::LENGTH_WITH_CODING }
            ),
            log,
        ),
        given("content of 304", "9110 §15.4.5", get(&[Open(304, &[], false), Say("a", true)]))
            .then("HTTP/1.1 304 Not Modified||?ContentLength", log),
        row("content before the head", "9112 §2.1", get(&[Say("a", true)]), "?HeadNotSent", log),
        row("a second answer", "9112 §9.3", get(&[two(), two()]), &format!("{head}?HeadAlreadySent"), log),
        given("content after the end", "9112 §6.3", get(&[Open(204, &[], true), Say("a", true)]))
            .then("HTTP/1.1 204 No Content||?StreamEnded", "GET http a / end; idle"),
        given("trailers after a length", "9112 §7.1.2", get(&[two(), Trail(&[("x", "y")])]))
            .then(&format!("{head}?Trailers"), log),
        given(
            "a length among trailers",
            "9110 §6.5.1",
            get(&[Open(200, &[], false), Trail(&[("content-length", "1")])]),
        )
        .then(
            &format!(
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||?{:?}",
                alula_h1::SendError::Field { at: 0, rule: alula_h1::Violation::LENGTH_INVALID }
            ),
            log,
        ),
    ]
}

/// An asterisk is no part of a whole URI (RFC 9112 §3.2.4), also where it was prepared.
#[test]
fn proxies_are_asked_without_an_asterisk() {
    let fields = FieldSection::new();
    let head = |path| RequestHead {
        method: "OPTIONS",
        scheme: "http",
        authority: "a.example",
        path,
        protocol: None,
        fields: &fields,
    };
    let config = || Config { absolute_targets: true, ..Config::default() };
    let expected = b"OPTIONS http://a.example HTTP/1.1\r\nHost: a.example\r\n\r\n";
    let fixed = Prepared::new(&head("*"), &[], Spelling::Given).unwrap();
    let open = Prepared::new(&head("/"), &[Hole::Path], Spelling::Given).unwrap();
    let mut out = OutBuf::new();
    Connection::client(config()).send_request(&head("*"), true, &mut out).unwrap();
    Connection::client(config()).send_prepared(&fixed, &[], true, &mut out).unwrap();
    Connection::client(config()).send_prepared(&open, &[b"*"], true, &mut out).unwrap();
    assert_eq!(out.unsent().escape_ascii().to_string(), expected.repeat(3).escape_ascii().to_string());
    let nobody = RequestHead { authority: "", ..head("/") };
    let prepared = Prepared::new(&nobody, &[], Spelling::Given).unwrap();
    let refusal = SendError::Control(Violation::TARGET_INVALID);
    let mut client = Connection::client(config());
    assert_eq!(client.send_request(&nobody, true, &mut out), Err(refusal));
    assert_eq!(client.send_prepared(&prepared, &[], true, &mut out), Err(refusal));
}

/// Who asks is for the proxy to know (RFC 9110 §11.7.2), also with what was prepared, and stands within the head.
#[test]
fn proxies_are_told_who_asks() {
    let mut fields = FieldSection::new();
    fields.append("accept", "*/*").unwrap();
    let head = RequestHead {
        method: "POST",
        scheme: "http",
        authority: "a.example",
        path: "/",
        protocol: None,
        fields: &fields,
    };
    for (spelling, names) in [
        (Spelling::Given, ["Host", "Accept", "Content-Length", "Proxy-Authorization"]),
        (Spelling::Lower, ["host", "accept", "content-length", "proxy-authorization"]),
    ] {
        let proxy_authorization = "Basic YTpi".to_owned();
        let config = Config { absolute_targets: true, proxy_authorization, spelling, ..Config::default() };
        let prepared = Prepared::new(&head, &[], spelling).unwrap();
        let mut out = OutBuf::new();
        // What was written before is left alone.
        out.extend(b"before");
        Connection::client(config.clone()).send_request(&head, true, &mut out).unwrap();
        Connection::client(config).send_prepared(&prepared, &[], true, &mut out).unwrap();
        let values = ["a.example", "*/*", "0", "Basic YTpi"];
        let lines: String =
            names.iter().zip(values).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let expected = format!("POST http://a.example/ HTTP/1.1\r\n{lines}\r\n").repeat(2);
        assert_eq!(
            out.unsent().escape_ascii().to_string(),
            format!("before{expected}").escape_default().to_string()
        );
    }
}
