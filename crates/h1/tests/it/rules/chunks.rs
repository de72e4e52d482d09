//! Chunks, their extensions, and trailers (RFC 9112 §7.1).

use alula_h1::{Config, Connection};

use super::heads::server;
use super::table::{Row, Rows, given, one, row};
use crate::support::{Answers, End};

const HEAD: &str = "POST http a / transfer-encoding=chunked";

fn answering_server() -> End {
    End::new(Connection::server(Config::default()), Answers::Whole)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "chunks", make: server, rows: chunks() },
        Rows { subject: "trailers", make: server, rows: trailers() },
        Rows { subject: "what follows chunks", make: answering_server, rows: following() },
    ]
}

fn post(content: impl AsRef<[u8]>) -> Vec<u8> {
    [b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", content.as_ref()].concat()
}

fn fine(stimulus: &str, section: &'static str, content: impl AsRef<[u8]>, log: &str) -> Row {
    row(stimulus, section, one(post(content)), "", &format!("{HEAD}; {log}"))
}

/// Content that breaks a rule, after what was taken of it.
fn wrong(stimulus: &str, section: &'static str, content: impl AsRef<[u8]>, taken: &str, rule: &str) -> Row {
    let status = crate::support::rule(rule).expect(rule).status.as_u16();
    let taken = if taken.is_empty() { String::new() } else { format!("{taken}; ") };
    given(stimulus, section, one(post(content)))
        .then(&format!("!{status}"), &format!("{HEAD}; {taken}closed {rule}"))
}

fn chunks() -> Vec<Row> {
    let size = |stimulus, line: &str, rule| wrong(stimulus, "9112 §7.1", format!("{line}\r\na"), "", rule);
    vec![
        fine("one chunk", "9112 §7.1", "5\r\nhello\r\n0\r\n\r\n", "data hello end"),
        fine("several", "9112 §7.1", "1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n", "data hello end"),
        fine(
            "sizes in any case, with zeroes",
            "9112 §7.1",
            "00a\r\n0123456789\r\n0A\r\n0123456789\r\n000\r\n\r\n",
            "data 01234567890123456789 end",
        ),
        fine("line ends are content", "9112 §7.1", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "data \r\n\r\n end"),
        fine("extensions", "9112 §7.1.1", "1;a\r\nx\r\n1;b=c;d=\"e;f\"\r\ny\r\n0;g\r\n\r\n", "data xy end"),
        fine("a chunk of which some is here", "9112 §7.1", "ffffffffffffffff\r\nhello", "data hello"),
        size("a size that is none", "x", "CHUNK_SIZE_INVALID"),
        size("no size", "", "CHUNK_SIZE_INVALID"),
        size("an extension without a size", ";a", "CHUNK_SIZE_INVALID"),
        size("a sign", "+1", "CHUNK_SIZE_INVALID"),
        size("a negative size", "-1", "CHUNK_SIZE_INVALID"),
        size("a prefix", "0x1", "CHUNK_SIZE_INVALID"),
        size("a space before", " 1", "CHUNK_SIZE_INVALID"),
        size("a space after", "1 ", "CHUNK_SIZE_INVALID"),
        size("a space before an extension", "1 ;a", "CHUNK_SIZE_INVALID"),
        size("an underscore", "1_0", "CHUNK_SIZE_INVALID"),
        size("seventeen digits", "10000000000000001", "CHUNK_SIZE_LARGE"),
        size("seventeen zeroes", "00000000000000000", "CHUNK_SIZE_LARGE"),
        size("seventeen digits and no more", "10000000000000001 x\0", "CHUNK_SIZE_LARGE"),
        wrong("NUL in an extension of no size", "9112 §7.1", "x;\0\r\n", "", "CHUNK_SIZE_INVALID"),
        wrong("a line feed after a size", "9112 §2.2", "1\nx\r\n", "", "BARE_LF"),
        wrong("a space and a line feed after a size", "9112 §7.1", "1 \nx\r\n", "", "CHUNK_SIZE_INVALID"),
        wrong("a carriage return after a size", "9112 §2.2", "1\rx", "", "BARE_CR"),
        wrong("a line feed in an extension", "9112 §2.2", "1;a\nb\r\nx\r\n", "", "BARE_LF"),
        wrong("a carriage return in an extension", "9112 §2.2", "1;a\rb\r\nx\r\n", "", "BARE_CR"),
        wrong("NUL in an extension", "9112 §7.1.1", "1;a\0\r\nx\r\n", "", "CHUNK_EXTENSION_INVALID"),
        wrong("data longer than its size", "9112 §7.1", "1\r\nxy\r\n", "data x", "CHUNK_END_MISSING"),
        wrong("a line feed after data", "9112 §2.2", "1\r\nx\n0\r\n\r\n", "data x", "BARE_LF"),
        wrong("a carriage return after data", "9112 §2.2", "1\r\nx\r0\r\n\r\n", "data x", "BARE_CR"),
        wrong("a second size that is none", "9112 §7.1", "1\r\nx\r\n?\r\n", "data x", "CHUNK_SIZE_INVALID"),
    ]
}

fn trailers() -> Vec<Row> {
    let end = |trailers: &str| format!("1\r\nx\r\n0\r\n{trailers}\r\n");
    vec![
        fine("a trailer", "9112 §7.1.2", end("X-Sum: 1\r\n"), "data x; trailers x-sum=1"),
        fine("two, and no content", "9112 §7.1.2", "0\r\nA: b\r\nC: d\r\n\r\n", "trailers a=b c=d"),
        fine(
            "a length among them is dropped",
            "9110 §6.5.1",
            end("Content-Length: 7\r\nX: y\r\n"),
            "data x; trailers x=y",
        ),
        fine(
            "a coding among them is dropped",
            "9110 §6.5.1",
            end("Transfer-Encoding: chunked\r\nX: y\r\n"),
            "data x; trailers x=y",
        ),
        fine(
            "a host among them is dropped",
            "9110 §6.5.1",
            end("Host: evil\r\nX: y\r\n"),
            "data x; trailers x=y",
        ),
        fine(
            "connection and expect are dropped",
            "9110 §6.5.1",
            end("Connection: close\r\nExpect: 100-continue\r\n"),
            "data x end",
        ),
        wrong("a trailer without a colon", "9112 §5", end("x\r\n"), "data x", "COLON_MISSING"),
        wrong(
            "a request for a trailer",
            "9112 §5.1",
            end("GET / HTTP/1.1\r\n"),
            "data x",
            "SPACE_BEFORE_COLON",
        ),
        wrong("a folded trailer", "9112 §5.2", end("x: y\r\n z\r\n"), "data x", "FOLDED"),
        wrong("a folded line after a dropped one", "9112 §5.2", end("host: y\r\n z\r\n"), "data x", "FOLDED"),
        wrong("NUL in a trailer", "9110 §5.5", end("x: \0\r\n"), "data x", "VALUE_INVALID"),
        wrong("a line feed in trailers", "9112 §2.2", end("x: y\n"), "data x", "BARE_LF"),
        wrong("a line feed for the end", "9112 §2.2", "0\r\n\n", "", "BARE_LF"),
    ]
}

fn following() -> Vec<Row> {
    let told = "HTTP/1.1 200 OK|Content-Length: 1||/";
    let next = "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
    let next_told = "HTTP/1.1 200 OK|Content-Length: 2||/2";
    let next_log = "GET http a /2 end; idle";
    vec![
        given("the next request", "9112 §9.3.2", one(post(format!("1\r\nx\r\n0\r\n\r\n{next}"))))
            .then(&format!("{told}{next_told}"), &format!("{HEAD}; data x end; idle; {next_log}")),
        given(
            "the next request after trailers",
            "9112 §9.3.2",
            one(post(format!("1\r\nx\r\n0\r\nA: b\r\n\r\n{next}"))),
        )
        .then(&format!("{told}{next_told}"), &format!("{HEAD}; data x; trailers a=b; idle; {next_log}")),
        given(
            "a close among trailers closes nothing",
            "9110 §6.5.1",
            one(post(format!("0\r\nConnection: close\r\n\r\n{next}"))),
        )
        .then(&format!("{told}{next_told}"), &format!("{HEAD}; data  end; idle; {next_log}")),
    ]
}
