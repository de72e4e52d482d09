//! Fields (RFC 9110 §5, RFC 9112 §5).

use crate::server_cases::case::{Case, get, raw};

/// A request for the values of `x-asked`, with these lines among its fields.
fn fields(name: &'static str, section: &'static str, lines: impl AsRef<[u8]>) -> Case {
    raw(name, section, [b"GET /fields HTTP/1.1\r\nHost: a\r\n", lines.as_ref(), b"\r\n"].concat())
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        get("a field has its value", "9110 §5.5", "/fields").with("x-asked", "value").gives("[value]"),
        get("fields of one name keep their order", "9110 §5.3", "/fields")
            .with("x-asked", "one")
            .with("x-between", "0")
            .with("x-asked", "two")
            .gives("[one][two]"),
        get("names are compared without case", "9110 §5.1", "/fields")
            .with("X-ASKED", "value")
            .gives("[value]"),
        get("unknown fields change nothing", "9110 §5.1", "/text").with("x-unheard-of", "1").gives("hello"),
        get("a value may hold commas, quotes and colons", "9110 §5.5", "/fields")
            .with("x-asked", "a, \"b:c\"; d")
            .gives("[a, \"b:c\"; d]"),
        get("every mark that a token has may stand in a name", "9110 §5.6.2", "/text")
            .with("!#$%&'*+-.^_`|~09aZ", "1")
            .answers(200),
        fields("white space around a value is no part of it", "9112 §5.1", "X-Asked: \t value \t \r\n")
            .gives("[value]"),
        fields("no white space is needed before a value", "9112 §5.1", "X-Asked:value\r\n").gives("[value]"),
        fields("white space within a value is kept", "9110 §5.5", "X-Asked: a \t b\r\n").gives("[a \t b]"),
        fields("an empty value is a value", "9110 §5.5", "X-Asked:\r\n").gives("[]"),
        fields("bytes beyond ASCII are taken in values", "9110 §5.5", "X-Asked: ö\r\n").gives("[ö]"),
        fields("white space before a colon", "9112 §5.1", "X-Asked : value\r\n").refused(400),
        fields("a line without a colon", "9112 §5", "X-Asked\r\n").refused(400),
        fields("an empty name", "9110 §5.1", ": value\r\n").refused(400),
        fields("a name with a space", "9110 §5.1", "X Asked: value\r\n").refused(400),
        fields("a name with parentheses", "9110 §5.1", "X(Asked): value\r\n").refused(400),
        fields("a name with bytes beyond ASCII", "9110 §5.1", "X-Äsked: value\r\n").refused(400),
        fields("a folded line", "9112 §5.2", "X-Asked: a\r\n b\r\n").refused(400),
        fields("NUL in a value", "9110 §5.5", "X-Asked: a\0b\r\n").refused(400),
        fields("a carriage return in a value", "9110 §5.5", "X-Asked: a\rb\r\n").refused(400),
        fields("a line feed in place of the end of a line", "9112 §2.2", "X-Asked: a\nX-Other: b\r\n")
            .refused(400),
        fields("a bell in a value", "9110 §5.5", "X-Asked: a\x07b\r\n").refused(400),
        fields(
            "a value of 20 000 bytes is answered 431",
            "9110 §5.4",
            format!("X-Asked: {}\r\n", "a".repeat(20_000)),
        )
        .refused(431),
        fields("three hundred fields are answered 431", "9110 §5.4", "X-Asked: a\r\n".repeat(300))
            .refused(431),
        fields("a value of 4000 bytes is taken", "9110 §5.4", format!("X-Other: {}\r\n", "a".repeat(4000)))
            .gives("[]"),
    ]
}
