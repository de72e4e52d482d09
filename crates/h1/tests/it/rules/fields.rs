//! Field lines (RFC 9112 §5).

use alula_h1::{Config, Connection, Leniency};

use super::heads::server;
use super::table::{Row, Rows, bad, given, one, row};
use crate::support::{Answers, End};

fn lenient(leniency: Leniency) -> End {
    End::new(Connection::server(Config { leniency, ..Config::default() }), Answers::Never)
}

fn folding_server() -> End {
    lenient(Leniency { folded_lines: true, ..Leniency::default() })
}

fn spacing_server() -> End {
    lenient(Leniency { space_before_colon: true, ..Leniency::default() })
}

fn spelling_server() -> End {
    let config = Config { keep_spelling: true, ..Config::default() };
    End::new(Connection::server(config), Answers::Never)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "field lines", make: server, rows: lines() },
        Rows { subject: "folded lines, forgiven", make: folding_server, rows: folded() },
        Rows { subject: "space before a colon, forgiven", make: spacing_server, rows: spaced() },
        Rows { subject: "spelling, kept", make: spelling_server, rows: spelled() },
    ]
}

fn head(lines: impl AsRef<[u8]>) -> Vec<u8> {
    [b"GET / HTTP/1.1\r\nHost: a\r\n", lines.as_ref(), b"\r\n\r\n"].concat()
}

fn fine(stimulus: &str, section: &'static str, lines: &str, fields: &str) -> Row {
    row(stimulus, section, one(head(lines)), "", &format!("GET http a /{fields} end"))
}

fn wrong(stimulus: &str, section: &'static str, lines: impl AsRef<[u8]>, rule: &str) -> Row {
    bad(stimulus, section, &head(lines), rule)
}

fn lines() -> Vec<Row> {
    vec![
        fine("names are folded", "9110 §5.1", "ACCEPT: b\r\nX-Own: c", " accept=b x-own=c"),
        fine("no space after the colon", "9112 §5.1", "x:b", " x=b"),
        fine("white space around a value", "9112 §5.1", "x: \t b c \t", " x=b c"),
        fine("an empty value", "9110 §5.5", "x:", " x="),
        fine("a value of white space", "9110 §5.5", "x: \t ", " x="),
        fine("a colon in a value", "9112 §5", "x: a:b", " x=a:b"),
        fine("a tab in a value", "9110 §5.5", "x: a\tb", " x=a\tb"),
        fine("bytes beyond ASCII", "9110 §5.5", "x: \u{e9}", " x=\u{e9}"),
        fine("the same name twice stays two", "9110 §5.3", "x: b\r\nx: c", " x=b x=c"),
        fine("every byte of tokens in a name", "9110 §5.6.2", "!#$%&'*+-.^_`|~: b", " !#$%&'*+-.^_`|~=b"),
        wrong("no colon", "9112 §5", "x", "COLON_MISSING"),
        wrong("no colon, and a line that has one", "9112 §5", "x\r\ny: b", "COLON_MISSING"),
        wrong("an empty name", "9110 §5.1", ": b", "NAME_INVALID"),
        wrong("a pseudo-field", "9110 §5.1", ":path: /", "NAME_INVALID"),
        wrong("a parenthesis in a name", "9110 §5.1", "x(: b", "NAME_INVALID"),
        wrong("NUL in a name", "9110 §5.1", "x\0: b", "NAME_INVALID"),
        wrong("bytes beyond ASCII in a name", "9110 §5.1", "\u{e9}: b", "NAME_INVALID"),
        wrong("a quote in a name, and NUL in the value", "9110 §5.1", "x\": \0", "NAME_INVALID"),
        wrong("a space before the colon", "9112 §5.1", "x : b", "SPACE_BEFORE_COLON"),
        wrong("a tab before the colon", "9112 §5.1", "Transfer-Encoding\t: chunked", "SPACE_BEFORE_COLON"),
        wrong("a space in a name", "9112 §5.1", "x y: b", "SPACE_BEFORE_COLON"),
        wrong("a space in a name, and NUL in the value", "9112 §5.1", "x y: \0", "SPACE_BEFORE_COLON"),
        wrong("a folded line", "9112 §5.2", "x: b\r\n c", "FOLDED"),
        wrong("a folded line by tab", "9112 §5.2", "x: b\r\n\tc", "FOLDED"),
        bad("a space before the first field", "9112 §5.2", b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "FOLDED"),
        wrong("NUL in a value", "9110 §5.5", "x: \0", "VALUE_INVALID"),
        wrong("DEL in a value", "9110 §5.5", "x: a\x7f", "VALUE_INVALID"),
        wrong("a vertical tab after a value", "9110 §5.5", "Transfer-Encoding: chunked\x0b", "VALUE_INVALID"),
        wrong("a line feed in a value", "9112 §2.2", "x: a\ny: b", "BARE_LF"),
        wrong("a carriage return in a value", "9112 §2.2", "x: a\ry: b", "BARE_CR"),
        bad("a line feed for the empty line", "9112 §2.2", b"GET / HTTP/1.1\r\nHost: a\r\n\n", "BARE_LF"),
        given("a carriage return for the empty line", "9112 §2.2", one(b"GET / HTTP/1.1\r\nHost: a\r\n\rx"))
            .breaks("BARE_CR"),
    ]
}

fn folded() -> Vec<Row> {
    vec![
        fine("a folded line", "9112 §5.2", "x: b\r\n \t c", " x=b c"),
        fine("two", "9112 §5.2", "x: b\r\n c\r\n d\r\ny: e", " x=b c d y=e"),
        fine("a value that begins in the second line", "9112 §5.2", "x:\r\n b", " x=b"),
        fine("a folded line with nothing", "9112 §5.2", "x: b\r\n ", " x=b"),
        wrong("a length that is folded", "9112 §5.2", "Content-Length: 1\r\n 0", "FOLDED"),
        wrong("a coding that is folded", "9112 §5.2", "Transfer-Encoding: chunked\r\n ", "FOLDED"),
        wrong("a host that is folded", "9112 §5.2", "x: b\r\nConnection:\r\n close", "FOLDED"),
        wrong("NUL in a folded line", "9110 §5.5", "x: b\r\n \0", "VALUE_INVALID"),
        bad("a space before the first field", "9112 §5.2", b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "FOLDED"),
    ]
}

fn spaced() -> Vec<Row> {
    vec![
        fine("a space before the colon", "9112 §5.1", "x : b", " x=b"),
        fine("more of it", "9112 §5.1", "Accept \t : b", " accept=b"),
        wrong("a length with a space keeps its rules", "9112 §6.3", "Content-Length : +1", "LENGTH_INVALID"),
        wrong("a space in a name", "9112 §5.1", "x y: b", "SPACE_BEFORE_COLON"),
        wrong("a line that ends before its colon", "9112 §5", "x\r\n : b", "COLON_MISSING"),
        wrong("a space, and no colon", "9112 §5.1", "x \r\ny: b", "SPACE_BEFORE_COLON"),
    ]
}

fn spelled() -> Vec<Row> {
    // Names are shown as they are compared; how they are spelled is tested in `tests/state.rs`.
    vec![fine("names are compared folded", "9110 §5.1", "X-Own: b\r\nACCEPT: c", " x-own=b accept=c")]
}
