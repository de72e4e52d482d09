//! Every row of the table of attacks on a server of HTTP/1.1, over a real socket; `docs/limits.md` has the
//! same rows.
//!
//! Run with `--nocapture --test-threads 1` the tests print the table, as those of `server.rs` do.

use std::time::Duration;

use alula::Limits;
use alula_conformance::attack::{Answer, Attack, Attacks as _, Http1Attacker, MEMORY_MAX, NEVER, SOON};

/// How often a slow peer sends something.
const NOW_AND_THEN: Duration = Duration::from_millis(50);
/// What a malformed request is answered.
const BAD: Answer = Answer::Last(400);
/// Returns the answer to a request that is not waited for any more.
const LATE: Answer = Answer::Last(408);
/// What a request with too much in its head is answered.
const TOO_LARGE: Answer = Answer::Last(431);

/// A request whose content is read before it is answered; its fields and its content follow.
const UPLOAD: &str = "POST /read HTTP/1.1\r\nHost: a\r\n";
/// A request whose content is not looked at; likewise.
const UNREAD: &str = "POST /small HTTP/1.1\r\nHost: a\r\n";

/// What a rule of the protocol answers, whatever the limits are.
fn rule(row: &'static str, answer: Answer, play: fn(&mut Http1Attacker)) {
    Attack::over_http1(row, answer).check(play);
}

/// What a limit answers, and without which the attack goes through.
fn limit(row: &'static str, answer: Answer, lift: fn(&mut Limits), play: fn(&mut Http1Attacker)) {
    Attack::over_http1(row, answer).lift(lift).check(play);
}

/// A request with these fields, and another one where its content may be taken to be.
fn hide(attacker: &mut Http1Attacker, fields: &str, before: &str) {
    attacker.send([UPLOAD, fields, "\r\n", before, Http1Attacker::SMUGGLED].concat());
}

/// A request with this among its fields.
fn ask_with(attacker: &mut Http1Attacker, fields: &[u8]) {
    attacker.send([b"GET /small HTTP/1.1\r\nHost: a\r\n", fields, b"\r\n"].concat());
}

/// Content in these chunks.
fn upload_in(attacker: &mut Http1Attacker, chunks: &[u8]) {
    attacker.send([UPLOAD.as_bytes(), b"Transfer-Encoding: chunked\r\n\r\n", chunks].concat());
}

#[test]
fn smuggling_by_both_lengths() {
    rule("HTTP/1.1: CL.TE, a length before chunks", BAD, |attacker| {
        hide(attacker, "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: TE.CL, chunks before a length", BAD, |attacker| {
        hide(attacker, "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: TE.TE, chunks twice", BAD, |attacker| {
        hide(attacker, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    });
}

#[test]
fn smuggling_by_length() {
    rule("HTTP/1.1: two lengths that differ", BAD, |attacker| {
        hide(attacker, "Content-Length: 0\r\nContent-Length: 36\r\n", "");
    });
    rule("HTTP/1.1: the same length twice", BAD, |attacker| {
        hide(attacker, "Content-Length: 0\r\nContent-Length: 0\r\n", "");
    });
    rule("HTTP/1.1: a list of lengths", BAD, |attacker| hide(attacker, "Content-Length: 0, 0\r\n", ""));
    rule("HTTP/1.1: a length with a sign", BAD, |attacker| hide(attacker, "Content-Length: +0\r\n", ""));
    rule("HTTP/1.1: a length with a space in it", BAD, |attacker| {
        hide(attacker, "Content-Length: 0 36\r\n", "");
    });
    rule("HTTP/1.1: a length of 20 digits", BAD, |attacker| {
        hide(attacker, "Content-Length: 18446744073709551616\r\n", "");
    });
    rule("HTTP/1.1: a length in hexadecimal", BAD, |attacker| hide(attacker, "Content-Length: 0x0\r\n", ""));
    rule("HTTP/1.1: CL.0, a request in content that nobody reads", Answer::Served, |attacker| {
        let hidden = Http1Attacker::SMUGGLED;
        attacker.send([UNREAD, &format!("Content-Length: {}\r\n\r\n", hidden.len()), hidden].concat());
    });
}

#[test]
fn smuggling_by_coding() {
    rule("HTTP/1.1: a coding that is nearly chunked", Answer::Last(501), |attacker| {
        hide(attacker, "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: chunked behind another coding", Answer::Last(501), |attacker| {
        hide(attacker, "Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: chunked with a vertical tab", BAD, |attacker| {
        hide(attacker, "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: chunks in HTTP/1.0", BAD, |attacker| {
        let head = "POST /read HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        attacker.send([head, "0\r\n\r\n", Http1Attacker::SMUGGLED].concat());
    });
}

#[test]
fn smuggling_by_lines() {
    rule("HTTP/1.1: a folded line", BAD, |attacker| {
        hide(attacker, "a: b\r\n Transfer-Encoding: chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: a space before the colon", BAD, |attacker| {
        hide(attacker, "Transfer-Encoding : chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: a space before the first field", BAD, |attacker| {
        attacker.send("GET /small HTTP/1.1\r\n Host: a\r\n\r\n");
    });
    rule("HTTP/1.1: a line without a colon", BAD, |attacker| ask_with(attacker, b"Content-Length\r\n"));
    rule("HTTP/1.1: a line feed alone", BAD, |attacker| {
        hide(attacker, "a: b\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: a carriage return alone", BAD, |attacker| {
        hide(attacker, "a: b\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    });
    rule("HTTP/1.1: NUL in a value", BAD, |attacker| ask_with(attacker, b"a: b\0c\r\n"));
    rule("HTTP/1.1: NUL in a name", BAD, |attacker| ask_with(attacker, b"a\0b: c\r\n"));
    rule("HTTP/1.1: a name of no bytes", BAD, |attacker| ask_with(attacker, b": c\r\n"));
    rule("HTTP/1.1: empty lines before a request", BAD, |attacker| attacker.flood(100, "\r\n"));
}

#[test]
fn smuggling_by_request_lines() {
    rule("HTTP/1.1: a space in the target", BAD, |attacker| {
        attacker.send("GET /small HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n");
    });
    rule("HTTP/1.1: a tab for a space", BAD, |attacker| {
        attacker.send("GET\t/small HTTP/1.1\r\nHost: a\r\n\r\n");
    });
    rule("HTTP/1.1: a request of HTTP/0.9", BAD, |attacker| {
        attacker.send("GET /small\r\n");
    });
    rule("HTTP/1.1: a version that is none", Answer::Last(505), |attacker| {
        attacker.send("GET /small HTTP/3.0\r\nHost: a\r\n\r\n");
    });
    rule("HTTP/1.1: a method that is no token", BAD, |attacker| {
        attacker.send("G@T /small HTTP/1.1\r\nHost: a\r\n\r\n");
    });
}

#[test]
fn authorities_in_conflict() {
    rule("HTTP/1.1: two hosts", BAD, |attacker| ask_with(attacker, b"Host: a\r\n"));
    rule("HTTP/1.1: no host", BAD, |attacker| {
        attacker.send("GET /small HTTP/1.1\r\n\r\n");
    });
    rule("HTTP/1.1: a host that is none", BAD, |attacker| {
        attacker.send("GET /small HTTP/1.1\r\nHost: a/b\r\n\r\n");
    });
    rule("HTTP/1.1: a host that is not the target's", BAD, |attacker| {
        attacker.send("GET http://b/small HTTP/1.1\r\nHost: a\r\n\r\n");
    });
}

#[test]
fn chunk_forms() {
    rule("HTTP/1.1: a chunk size with a sign", BAD, |attacker| upload_in(attacker, b"+1\r\nx\r\n0\r\n\r\n"));
    rule("HTTP/1.1: a chunk size with 0x", BAD, |attacker| upload_in(attacker, b"0x1\r\nx\r\n0\r\n\r\n"));
    rule("HTTP/1.1: a chunk size of no digits", BAD, |attacker| upload_in(attacker, b"\r\nx\r\n0\r\n\r\n"));
    rule("HTTP/1.1: a chunk size with a space", BAD, |attacker| upload_in(attacker, b"1 \r\nx\r\n0\r\n\r\n"));
    rule("HTTP/1.1: a chunk size beyond 64 bits", Answer::Last(413), |attacker| {
        upload_in(attacker, b"10000000000000001\r\nx\r\n0\r\n\r\n");
    });
    rule("HTTP/1.1: a chunk that is longer than its size", BAD, |attacker| {
        upload_in(attacker, b"1\r\nxy\r\n0\r\n\r\n");
    });
    rule("HTTP/1.1: a line feed alone after a chunk size", BAD, |attacker| {
        upload_in(attacker, b"1\nx\r\n0\r\n\r\n");
    });
    rule("HTTP/1.1: a line feed alone after a chunk", BAD, |attacker| {
        upload_in(attacker, b"1\r\nx\n0\r\n\r\n");
    });
    rule("HTTP/1.1: a line feed in a chunk extension", BAD, |attacker| {
        upload_in(attacker, b"1;a\nx\r\n0\r\n\r\n");
    });
    rule("HTTP/1.1: NUL in a chunk extension", BAD, |attacker| {
        upload_in(attacker, b"1;a\0\r\nx\r\n0\r\n\r\n");
    });
    rule("HTTP/1.1: a trailer that is folded", BAD, |attacker| {
        upload_in(attacker, b"0\r\na: b\r\n c: d\r\n\r\n");
    });
    rule("HTTP/1.1: trailers that would end the next message", Answer::Served, |attacker| {
        let hidden = Http1Attacker::SMUGGLED;
        let chunks = format!("0\r\nContent-Length: {}\r\nHost: b\r\n\r\n", hidden.len());
        upload_in(attacker, chunks.as_bytes());
    });
}

#[test]
fn chunk_extensions() {
    limit(
        "HTTP/1.1: a huge chunk extension",
        BAD,
        |limits| limits.chunk_extension_bytes = u32::MAX,
        |attacker| {
            upload_in(attacker, format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(2000)).as_bytes());
        },
    );
    limit(
        "HTTP/1.1: many chunk extensions",
        BAD,
        |limits| limits.chunk_extension_bytes = u32::MAX,
        |attacker| upload_in(attacker, &[&b"1;ext=12\r\nx\r\n".repeat(1000)[..], b"0\r\n\r\n"].concat()),
    );
}

#[test]
fn trailers() {
    limit(
        "HTTP/1.1: too many trailers",
        TOO_LARGE,
        |limits| limits.fields = 1000,
        |attacker| upload_in(attacker, &[b"0\r\n", &b"a: b\r\n".repeat(101)[..], b"\r\n"].concat()),
    );
    limit(
        "HTTP/1.1: trailers that are too long",
        TOO_LARGE,
        |limits| limits.head_bytes = 64 * 1024,
        |attacker| upload_in(attacker, format!("0\r\na: {}\r\n\r\n", "b".repeat(17_000)).as_bytes()),
    );
}

#[test]
fn heads_too_large() {
    limit(
        "HTTP/1.1: a head that is too long",
        TOO_LARGE,
        |limits| limits.head_bytes = 64 * 1024,
        |attacker| ask_with(attacker, format!("a: {}\r\n", "b".repeat(17_000)).as_bytes()),
    );
    limit(
        "HTTP/1.1: a name without end",
        TOO_LARGE,
        |limits| limits.head_bytes = 64 * 1024,
        |attacker| ask_with(attacker, format!("{}: b\r\n", "a".repeat(17_000)).as_bytes()),
    );
    Attack::over_http1("HTTP/1.1: a target that is too long", Answer::Last(414))
        .lift(|limits| limits.target_bytes = 16 * 1024)
        .through(Answer::Status(404))
        .check(|attacker| {
            attacker.send(format!("GET /small?{} HTTP/1.1\r\nHost: a\r\n\r\n", "q".repeat(8200)));
        });
    limit(
        "HTTP/1.1: too many fields",
        TOO_LARGE,
        |limits| limits.fields = 1000,
        |attacker| ask_with(attacker, &b"a: b\r\n".repeat(101)),
    );
    limit(
        "HTTP/1.1: too many cookie lines",
        TOO_LARGE,
        |limits| limits.cookie_crumbs = 1000,
        |attacker| ask_with(attacker, &b"Cookie: a=b\r\n".repeat(151)),
    );
}

#[test]
fn unread_content() {
    limit(
        "HTTP/1.1: much content that nobody reads",
        Answer::Last(200),
        |limits| limits.drain_bytes = 1024 * 1024,
        |attacker| {
            attacker.send([UNREAD, "Content-Length: 100000\r\n\r\n"].concat());
            attacker.wait_for_answer();
            attacker.send([b'x'; 100_000]);
        },
    );
    rule("HTTP/1.1: many chunks that nobody reads", Answer::Last(200), |attacker| {
        attacker.send([UNREAD, "Transfer-Encoding: chunked\r\n\r\n"].concat());
        attacker.wait_for_answer();
        attacker.send([&b"2710\r\n"[..], &[b'x'; 10_000], b"\r\n"].concat().repeat(10));
        attacker.send("0\r\n\r\n");
    });
    rule("HTTP/1.1: bad chunks that nobody reads", Answer::Last(200), |attacker| {
        attacker.send([UNREAD, "Transfer-Encoding: chunked\r\n\r\n"].concat());
        attacker.wait_for_answer();
        attacker.send(["0x\r\n\r\n", Http1Attacker::SMUGGLED].concat());
    });
    rule("HTTP/1.1: Expect, and content that was not asked for", Answer::Last(200), |attacker| {
        let hidden = Http1Attacker::SMUGGLED;
        let fields = format!("Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", hidden.len());
        attacker.send([UNREAD, &fields].concat());
        attacker.wait_for_answer();
        attacker.send([hidden, hidden].concat());
    });
    Attack::over_http1("HTTP/1.1: content that nobody reads, and that stays away", Answer::Last(200))
        .scene(|limits| limits.idle_timeout = SOON)
        .lift(|limits| limits.idle_timeout = NEVER)
        .check(|attacker| {
            attacker.send([UNREAD, "Content-Length: 1000\r\n\r\n"].concat());
            attacker.wait_for_the_end();
            attacker.send([b'x'; 1000]);
        });
}

#[test]
fn premature_tunnel() {
    rule("HTTP/1.1: bytes for a tunnel that is not granted", Answer::Last(404), |attacker| {
        attacker.send(["CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", Http1Attacker::SMUGGLED].concat());
    });
    rule("HTTP/1.1: bytes for a protocol that is not switched to", Answer::Served, |attacker| {
        ask_with(attacker, b"Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n");
    });
}

#[test]
fn silence() {
    Attack::over_http1("HTTP/1.1: a connection that says nothing", Answer::Closed)
        .scene(|limits| limits.handshake_timeout = SOON)
        .lift(|limits| limits.handshake_timeout = NEVER)
        .check(|attacker| attacker.wait_for_the_end());
    Attack::over_http1("HTTP/1.1: a connection that says less than a version", Answer::Closed)
        .scene(|limits| limits.handshake_timeout = SOON)
        .lift(|limits| limits.handshake_timeout = NEVER)
        .check(|attacker| {
            attacker.send("PRI");
            attacker.wait_for_the_end();
        });
    Attack::over_http1("HTTP/1.1: many connections that begin a head", Answer::Closed)
        .scene(|limits| limits.handshakes = Some(32))
        .lift(|limits| limits.handshakes = Some(u32::MAX))
        .memory_max(40 * MEMORY_MAX)
        .check(|attacker| {
            attacker.send("GET /small HTTP/1.1\r\n");
            attacker.with_others(40, |other| {
                other.send("GET /small HTTP/1.1\r\n");
            });
            attacker.wait_for_the_end();
            attacker.send("Host: a\r\n\r\n");
        });
    Attack::over_http1("HTTP/1.1: a connection that stays idle", Answer::Last(200))
        .scene(|limits| limits.idle_timeout = SOON)
        .lift(|limits| limits.idle_timeout = NEVER)
        .check(|attacker| {
            ask_with(attacker, b"");
            attacker.wait_for_the_end();
        });
}

#[test]
fn idle_connections_at_the_bound() {
    Attack::over_http1("HTTP/1.1: idle connections at the bound", Answer::Last(200))
        .scene(|limits| limits.connections_max = Some(8))
        .lift(|limits| limits.connections_max = Some(u32::MAX))
        .memory_max(8 * MEMORY_MAX)
        .check(|attacker| {
            ask_with(attacker, b"");
            attacker.wait_for_answer();
            // More than four whose first heads were not read yet would make room among themselves.
            attacker.with_others(8, |other| {
                ask_with(other, b"");
                other.wait_for_answer();
            });
            attacker.wait_for_the_end();
        });
}

#[test]
fn slow_heads() {
    Attack::over_http1("HTTP/1.1: slowloris, a head that does not end", Answer::Last(408))
        .scene(|limits| limits.head_timeout = SOON)
        .lift(|limits| limits.head_timeout = NEVER)
        .check(|attacker| {
            attacker.send("GET /small HTTP/1.1\r\nHos");
            attacker.wait_for_the_end();
            attacker.send("t: a\r\n\r\n");
        });
    Attack::over_http1("HTTP/1.1: trailers that do not end", Answer::Last(408))
        .scene(|limits| limits.head_timeout = SOON)
        .lift(|limits| limits.head_timeout = NEVER)
        .check(|attacker| {
            upload_in(attacker, b"0\r\na: ");
            attacker.wait_for_the_end();
            attacker.send("b\r\n\r\n");
        });
}

/// Content of stated length that stays away.
fn slow_post(attacker: &mut Http1Attacker, path: &str) {
    attacker.send(format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx"));
    attacker.wait_for_the_end();
    attacker.send([b'x'; 999]);
}

#[test]
fn slow_content() {
    Attack::over_http1("HTTP/1.1: slow POST, content that dribbles in", Answer::Closed)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .check(|attacker| slow_post(attacker, "/echo"));
    Attack::over_http1("HTTP/1.1: a chunk that stays away", Answer::Closed)
        .scene(|limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON))
        .lift(|limits| limits.stall_timeout = NEVER)
        .check(|attacker| {
            attacker.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nx");
            attacker.wait_for_the_end();
            attacker.send("xxxx\r\n0\r\n\r\n");
        });
    Attack::over_http1("HTTP/1.1: content that dribbles in, where that is allowed", Answer::Served)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, SOON))
        .check(|attacker| {
            attacker.lose_patience();
            slow_post(attacker, "/patient");
        });
}

/// Content without a stated length that stays away in one way or another, before the answer has begun; with
/// the limit lifted the rest of it comes.
fn silent_content(row: &'static str, play: fn(&mut Http1Attacker)) {
    silent_content_ends(row, LATE, play);
}

/// Likewise, with the answer that is given when it is waited for no longer.
fn silent_content_ends(row: &'static str, answer: Answer, play: fn(&mut Http1Attacker)) {
    Attack::over_http1(row, answer)
        .scene(|limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON))
        .lift(|limits| limits.stall_timeout = NEVER)
        .check(play);
}

/// A request for this path, whose content comes in chunks.
fn chunks_to(attacker: &mut Http1Attacker, path: &str, chunks: &str) {
    attacker.send(format!("POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"));
}

#[test]
fn content_without_a_length_that_falls_silent() {
    silent_content("HTTP/1.1: chunks that nothing follows", |attacker| {
        chunks_to(attacker, "/read", "5\r\nhello\r\n");
        attacker.wait_for_the_end();
        attacker.send("0\r\n\r\n");
    });
    silent_content("HTTP/1.1: a head of chunked content that nothing follows", |attacker| {
        chunks_to(attacker, "/read", "");
        attacker.wait_for_the_end();
        attacker.send("0\r\n\r\n");
    });
    silent_content("HTTP/1.1: half a chunk size", |attacker| {
        chunks_to(attacker, "/read", "1");
        attacker.wait_for_the_end();
        attacker.send(["0\r\n", &"x".repeat(16), "\r\n0\r\n\r\n"].concat());
    });
    silent_content("HTTP/1.1: a last chunk without its end", |attacker| {
        chunks_to(attacker, "/read", "0\r\n");
        attacker.wait_for_the_end();
        attacker.send("\r\n");
    });
    let begun = "HTTP/1.1: chunks that nothing follows, after the answer has begun";
    silent_content_ends(begun, Answer::Closed, |attacker| {
        chunks_to(attacker, "/echo", "5\r\nhello\r\n");
        attacker.wait_for_the_end();
        attacker.send("0\r\n\r\n");
    });
    silent_content("HTTP/1.1: content that stays away before a slow peer is allowed", |attacker| {
        chunks_to(attacker, "/hopeful", "5\r\nhello\r\n");
        attacker.wait_for_the_end();
        attacker.send("0\r\n\r\n");
    });
}

#[test]
fn framing_in_place_of_content() {
    silent_content("HTTP/1.1: a chunk extension that dribbles in", |attacker| {
        chunks_to(attacker, "/read", "5;");
        attacker.dribble(NOW_AND_THEN, "a");
        attacker.send("\r\nhello\r\n0\r\n\r\n");
    });
    silent_content("HTTP/1.1: a chunk size that dribbles in", |attacker| {
        chunks_to(attacker, "/read", "0");
        attacker.dribble(4 * NOW_AND_THEN, "0");
        attacker.send("\r\n\r\n");
    });
}

#[test]
fn chunks_that_dribble_in() {
    Attack::over_http1("HTTP/1.1: chunks that dribble in", LATE)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .check(|attacker| {
            chunks_to(attacker, "/read", "");
            attacker.dribble(NOW_AND_THEN, "1;a\r\nx\r\n");
            attacker.send("0\r\n\r\n");
        });
}

#[test]
fn unread_content_that_is_slow() {
    Attack::over_http1("HTTP/1.1: content that nobody reads, and that stalls", Answer::Last(200))
        .scene(|limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON))
        .lift(|limits| limits.stall_timeout = NEVER)
        .check(|attacker| {
            attacker.send([UNREAD, "Content-Length: 10\r\n\r\nhello"].concat());
            attacker.wait_for_the_end();
            attacker.send("world");
        });
    Attack::over_http1("HTTP/1.1: content that nobody reads, and that dribbles in", Answer::Last(200))
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .check(|attacker| {
            attacker.send([UNREAD, "Content-Length: 1000\r\n\r\n"].concat());
            let sent = attacker.dribble(NOW_AND_THEN, "x");
            attacker.send(vec![b'x'; 1000 - sent]);
        });
}

#[test]
fn slow_read() {
    Attack::over_http1("HTTP/1.1: a socket that is not read", Answer::Closed)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .memory_max(2 * MEMORY_MAX)
        .check(|attacker| {
            attacker.stop_reading();
            attacker.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
            attacker.wait_for_the_end();
        });
}

#[test]
fn pipelining() {
    rule("HTTP/1.1: pipelining behind a request that takes long", Answer::Silence, |attacker| {
        attacker.flood(2000, "GET /never HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1000));
    });
    Attack::over_http1("HTTP/1.1: pipelining without reading the answers", Answer::Closed)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .memory_max(2 * MEMORY_MAX)
        .check(|attacker| {
            attacker.stop_reading();
            attacker.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
            attacker.wait_for_the_end();
        });
}

/// A request that is held for long, with a head as large as it may be.
fn hold(attacker: &mut Http1Attacker) {
    let fields = format!("a: {}\r\n", "v".repeat(3900)).repeat(4);
    attacker.send(["GET /never HTTP/1.1\r\nHost: a\r\n", &fields, "\r\n"].concat());
}

#[test]
fn memory_of_all_connections() {
    Attack::over_http1("HTTP/1.1: many connections that hold what they may", Answer::Closed)
        // New requests are to be taken up to the bound itself.
        .scene(|limits| {
            (limits.process_memory_bytes, limits.process_memory_soft_percent) = (4 * 1024 * 1024, 100);
        })
        .lift(|limits| limits.process_memory_bytes = u64::MAX)
        .through(Answer::Silence)
        .memory_max(8 * 1024 * 1024)
        .check(|attacker| {
            attacker.with_others(300, hold);
            hold(attacker);
            attacker.wait_for_the_end();
        });
}
