//! Every row of the table of attacks on a client of HTTP/1.1, over a real socket; `docs/limits.md` has the
//! same rows.

use alula::Limits;
use alula_conformance::attack::{Answer, AttackOnClient, Play};

/// The memory that a client under attack may hold, buffers included: twice the largest head, as a buffer that
/// grows may, and what else there is.
const MEMORY_MAX: i64 = 768 * 1024;
const HEAD: &str = "HTTP/1.1 200 OK\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The client must close the connection.
fn check(
    row: &'static str,
    error: Option<&'static str>,
    lift: Option<fn(&mut Limits)>,
    bytes: String,
    closes: bool,
) {
    let play = Play::Http1(bytes.into_bytes(), closes);
    AttackOnClient { row, lift, play, answer: Answer::Closed, error, memory_max: MEMORY_MAX }.check();
}

/// An answer that breaks a rule.
fn rule(row: &'static str, error: &'static str, parts: [&str; 2]) {
    check(row, Some(error), None, parts.concat(), false);
}

/// An answer that goes beyond a limit.
fn limit(row: &'static str, error: &'static str, lift: fn(&mut Limits), bytes: String) {
    check(row, Some(error), Some(lift), bytes, false);
}

/// An answer that is cut short by the end of the connection.
fn cut(row: &'static str, error: &'static str, parts: [&str; 2]) {
    check(row, Some(error), None, parts.concat(), true);
}

#[test]
fn heads_without_end() {
    limit(
        "client, HTTP/1.1: a head that is too long",
        "Limits::head_bytes is",
        |limits| limits.head_bytes = 1024 * 1024,
        format!("{HEAD}a: {}\r\nContent-Length: 0\r\n\r\n", "b".repeat(300_000)),
    );
    limit(
        "client, HTTP/1.1: too many fields",
        "Limits::fields is",
        |limits| limits.fields = 10_000,
        format!("{HEAD}{}Content-Length: 0\r\n\r\n", "a: b\r\n".repeat(1001)),
    );
    limit(
        "client, HTTP/1.1: interim responses without end",
        "Limits::interim_responses is",
        |limits| limits.interim_responses = 1000,
        format!("{}{HEAD}Content-Length: 0\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(101)),
    );
    limit(
        "client, HTTP/1.1: interim responses that are large",
        "Limits::head_bytes is",
        |limits| limits.head_bytes = 8 * 1024 * 1024,
        format!(
            "{}{HEAD}Content-Length: 0\r\n\r\n",
            format!("HTTP/1.1 103 Early Hints\r\n{}\r\n", "a: b\r\n".repeat(900)).repeat(60)
        ),
    );
    limit(
        "client, HTTP/1.1: a huge chunk extension",
        "Limits::chunk_extension_bytes is",
        |limits| limits.chunk_extension_bytes = u32::MAX,
        format!("{CHUNKED}1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(2000)),
    );
}

#[test]
fn response_splitting() {
    rule(
        "client, HTTP/1.1: a length beside chunks",
        "content-length beside transfer-encoding",
        [HEAD, "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    );
    rule(
        "client, HTTP/1.1: two lengths that differ",
        "more than one content-length",
        [HEAD, "Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello"],
    );
    rule(
        "client, HTTP/1.1: a folded line",
        "a field line is folded",
        [HEAD, "a: b\r\n Content-Length: 0\r\n\r\n"],
    );
    rule(
        "client, HTTP/1.1: a line feed alone",
        "a line feed alone",
        [HEAD, "a: b\nContent-Length: 0\r\n\r\n"],
    );
    rule(
        "client, HTTP/1.1: a switch of protocols that nobody asked for",
        "a switch of protocols",
        ["HTTP/1.1 101 Switching Protocols\r\n", "Upgrade: h2c\r\n\r\n"],
    );
}

#[test]
fn chunk_forms() {
    rule(
        "client, HTTP/1.1: a chunk size with a sign",
        "not a hexadecimal number",
        [CHUNKED, "+1\r\nx\r\n0\r\n\r\n"],
    );
    rule(
        "client, HTTP/1.1: a chunk size beyond 64 bits",
        "more than 16 digits",
        [CHUNKED, "10000000000000001\r\nx\r\n0\r\n\r\n"],
    );
    rule(
        "client, HTTP/1.1: a chunk that is longer than its size",
        "a chunk does not end",
        [CHUNKED, "1\r\nxy\r\n0\r\n\r\n"],
    );
}

#[test]
fn content_cut_short() {
    let error = "before the content was whole";
    cut("client, HTTP/1.1: content cut short", error, [HEAD, "Content-Length: 10\r\n\r\nx"]);
    cut("client, HTTP/1.1: chunks cut short", error, [CHUNKED, "1\r\nx\r\n"]);
    cut("client, HTTP/1.1: a head cut short", "within a head", [HEAD, "Content-Le"]);
}

#[test]
fn unsolicited_bytes() {
    let answers = [HEAD, "Content-Length: 0\r\n\r\n", HEAD, "Content-Length: 5\r\n\r\nwrong"];
    check("client, HTTP/1.1: an answer that nobody asked for", None, None, answers.concat(), false);
}
