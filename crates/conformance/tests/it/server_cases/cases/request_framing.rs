//! Where the content of requests ends (RFC 9112 §6, §7; RFC 9110 §8.6).

use crate::server_cases::case::{Case, ask, raw};

/// A request whose content is sent back, with these fields and this content.
fn echo(name: &'static str, section: &'static str, rest: &str) -> Case {
    raw(name, section, format!("POST /echo HTTP/1.1\r\nHost: a\r\n{rest}"))
}

/// A request whose content comes in these chunks.
fn chunked(name: &'static str, section: &'static str, chunks: &str) -> Case {
    echo(name, section, &format!("Transfer-Encoding: chunked\r\n\r\n{chunks}"))
}

pub(crate) fn cases() -> Vec<Case> {
    lengths().into_iter().chain(codings()).chain(chunks()).chain(trailers()).collect()
}

fn lengths() -> Vec<Case> {
    vec![
        ask("content of a stated length", "9112 §6.2", "POST", "/echo").body("hello").gives("hello"),
        ask("content that holds what looks like a request", "9112 §6.3", "POST", "/echo")
            .body("GET / HTTP/1.1\r\n\r\n")
            .gives("GET / HTTP/1.1\r\n\r\n"),
        echo("a length of zero", "9112 §6.2", "Content-Length: 0\r\n\r\n").gives(""),
        echo("neither length nor coding is no content", "9112 §6.3", "\r\n").gives(""),
        echo("a length with zeroes before it", "9110 §8.6", "Content-Length: 005\r\n\r\nhello")
            .gives("hello"),
        echo("content that comes late", "9112 §6.3", "Content-Length: 5\r\n\r\nhe")
            .sends("llo")
            .gives("hello"),
        echo("two lengths that differ", "9112 §6.3", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello")
            .refused(400),
        echo("the same length twice", "9112 §6.3", "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello")
            .refused(400),
        echo("a list of lengths", "9110 §8.6", "Content-Length: 5, 5\r\n\r\nhello").refused(400),
        echo("a length below zero", "9110 §8.6", "Content-Length: -5\r\n\r\nhello").refused(400),
        echo("a length with a sign", "9110 §8.6", "Content-Length: +5\r\n\r\nhello").refused(400),
        echo("a length in hexadecimal", "9110 §8.6", "Content-Length: 0x5\r\n\r\nhello").refused(400),
        echo("an empty length", "9110 §8.6", "Content-Length:\r\n\r\n").refused(400),
        echo("a length with a fraction", "9110 §8.6", "Content-Length: 5.0\r\n\r\nhello").refused(400),
        echo("a length that no number holds", "9110 §8.6", "Content-Length: 99999999999999999999\r\n\r\n")
            .refused(400),
        echo("content that is cut", "9112 §8", "Content-Length: 5\r\n\r\nhel").half_closes().ends(),
        raw(
            "content that nobody reads is read over",
            "9112 §9.3",
            "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        )
        .gives("not read"),
    ]
}

fn codings() -> Vec<Case> {
    vec![
        echo(
            "a length beside a coding",
            "9112 §6.1",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        )
        .refused(400),
        echo(
            "a coding beside a length",
            "9112 §6.1",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        )
        .refused(400),
        echo("a coding that is unknown", "9112 §6.1", "Transfer-Encoding: unknown\r\n\r\n").refused(501),
        echo("a coding behind chunked", "9112 §6.3", "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n")
            .refused(501),
        echo("chunked twice", "9112 §7.1", "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")
            .refused(400),
        echo("chunked in capitals", "9112 §7", "Transfer-Encoding: CHUNKED\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
            .gives("hi"),
        raw(
            "a coding in HTTP/1.0",
            "9112 §6.1",
            "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        )
        .refused(400),
    ]
}

fn chunks() -> Vec<Case> {
    vec![
        chunked("content in one chunk", "9112 §7.1", "5\r\nhello\r\n0\r\n\r\n").gives("hello"),
        chunked("content in several chunks", "9112 §7.1", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n").gives("hello"),
        chunked("no chunk but the last", "9112 §7.1", "0\r\n\r\n").gives(""),
        chunked(
            "a size in hexadecimal, in either case",
            "9112 §7.1",
            "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
        )
        .gives("01234567890123456789"),
        chunked("a size with zeroes before it", "9112 §7.1", "0005\r\nhello\r\n000\r\n\r\n").gives("hello"),
        chunked("a chunk extension is skipped", "9112 §7.1.1", "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n")
            .gives("hello"),
        chunked("a chunk that comes in pieces", "9112 §7.1", "5\r")
            .sends("\nhel")
            .sends("lo\r\n0\r\n\r\n")
            .gives("hello"),
        chunked(
            "a chunk that holds what looks like the last",
            "9112 §7.1",
            "7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        )
        .gives("\r\n0\r\n\r\n"),
        chunked("a size that is no number", "9112 §7.1", "x\r\nhello\r\n0\r\n\r\n").refused(400),
        chunked("a size with 0x", "9112 §7.1", "0x5\r\nhello\r\n0\r\n\r\n").refused(400),
        chunked("a size below zero", "9112 §7.1", "-5\r\nhello\r\n0\r\n\r\n").refused(400),
        chunked("a size that no number holds", "9112 §7.1", "fffffffffffffffff\r\n").refused(413),
        chunked("a chunk that is longer than its size", "9112 §7.1", "4\r\nhello\r\n0\r\n\r\n").refused(400),
        chunked("a chunk that ends in a line feed alone", "9112 §7.1", "5\r\nhello\n0\r\n\r\n").refused(400),
        chunked("a size that ends in a line feed alone", "9112 §7.1", "5\nhello\r\n0\r\n\r\n").refused(400),
        chunked("chunks that are cut", "9112 §8", "5\r\nhello\r\n").half_closes().ends(),
    ]
}

fn trailers() -> Vec<Case> {
    let trailers = |name, section, rest: &str| {
        let head = "POST /trailers HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n";
        raw(name, section, format!("{head}{rest}"))
    };
    vec![
        trailers("trailers come with the last chunk", "9112 §7.1.2", "X-Sum: 42\r\n\r\n").gives("42"),
        trailers("no trailers", "9112 §7.1.2", "\r\n").answers(200),
        trailers(
            "trailers do not frame what follows",
            "9110 §6.5.1",
            "Content-Length: 5\r\nX-Sum: 42\r\n\r\n",
        )
        .gives("42"),
        trailers("a trailer without a colon", "9112 §7.1.2", "X-Sum\r\n\r\n").refused(400),
        trailers("a trailer that is folded", "9112 §5.2", "X-Sum: 4\r\n 2\r\n\r\n").refused(400),
    ]
}
