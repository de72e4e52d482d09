//! Heads that are nearly right: put together from parts, some of them odd, and then damaged a little.

use alula_testkit::Rng;

/// Which way a head goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Request,
    Response,
}

const METHODS: [&str; 10] =
    ["GET", "GET", "POST", "HEAD", "OPTIONS", "CONNECT", "get", "M-SEARCH", "", "G(T"];
const TARGETS: [&str; 22] = [
    "/",
    "/",
    "/a/b?c=d",
    "/%20",
    "/a?{\"|\"}",
    "//b/",
    "*",
    "http://a/",
    "http://a",
    "https://A:443/x",
    "http://b/",
    "a:443",
    "a",
    "",
    "/a b",
    "/#f",
    "/\u{e9}",
    "ftp://a/",
    "http://u@a/",
    "/\x7f",
    "/a\tb",
    "?q",
];
const VERSIONS: [&str; 9] = [
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/1.2",
    "HTTP/2.0",
    "HTTP/0.9",
    "http/1.1",
    "HTTP/1.10",
];
const STATUSES: [&str; 14] = [
    "200 OK",
    "200 ",
    "200",
    "204 x",
    "304 Not Modified",
    "404 \u{e9}",
    "999 x",
    "099 x",
    "20 x",
    "2000 x",
    "200  two",
    "200 a\tb",
    "100 Continue",
    "101 Switching",
];
const FIELDS: [&str; 48] = [
    "Accept: */*",
    "X-Own: value",
    "x:",
    "x:a",
    "x: \t a b \t",
    "x: \u{e9}",
    "Cookie: a=b; c=d",
    "Set-Cookie: a",
    "x: a:b",
    "!#$%&'*+-.^_`|~: b",
    "x : a",
    "x\t: a",
    "x y: a",
    "x",
    ": a",
    "x(: a",
    "\u{e9}: a",
    "x: a\x01b",
    "x: a\x7f",
    "x: a\x0b",
    "x: a\r\n b",
    "x:\r\n\tb",
    "Content-Length: 5",
    "Content-Length: 0",
    "Content-Length: 5, 5",
    "Content-Length: 5, 6",
    "Content-Length: +5",
    "Content-Length: ",
    "Content-Length: 05",
    "Content-Length: 18446744073709551616",
    "Content-Length: 5\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 05",
    "Content-Length: 5, 05",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: Chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: identity",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Connection: close",
    "Connection: keep-alive, x",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "Host: a",
    "Host: b",
    "Host: a/b",
];
const HOSTS: [&str; 8] =
    ["Host: a", "Host: a", "Host: a:443", "Host: A:443", "host:b", "Host:", "Host: a, b", ""];

/// Bytes that mean something to one reader or another.
const SPECIAL: &[u8] = b"\r\n\t :\0\x0b\x0c\x7f\x80\xff(),;/?#[]@\"<>\\^`{|}1aZ";

/// One head, ended.
pub(crate) fn head(kind: Kind, rng: &mut Rng) -> Vec<u8> {
    let mut text = if rng.one_in(20) { "\r\n".repeat(rng.range(1..4)) } else { String::new() };
    text += &match kind {
        Kind::Request => {
            let (method, target) = match rng.below(12) {
                0 => ("CONNECT", "a:443"),
                _ => (plain_or(&METHODS, 6, rng), plain_or(&TARGETS, 4, rng)),
            };
            format!("{method} {target} {}", plain_or(&VERSIONS, 4, rng))
        }
        Kind::Response => format!("{} {}", plain_or(&VERSIONS, 4, rng), plain_or(&STATUSES, 2, rng)),
    };
    let mut lines = vec![text];
    if kind == Kind::Request {
        lines.push(plain_or(&HOSTS, 4, rng).into());
    }
    for _ in 0..rng.below(4) {
        let odd = if rng.one_in(3) { &FIELDS[..] } else { &FIELDS[..9] };
        lines.push((*rng.pick(odd)).into());
    }
    let end = if rng.one_in(25) { "\n" } else { "\r\n" };
    let mut bytes =
        lines.iter().filter(|line| !line.is_empty()).flat_map(|line| [line, end]).collect::<String>();
    bytes += end;
    damage(bytes.into_bytes(), rng)
}

/// The first of them, or once in so many times any.
fn plain_or<'t>(parts: &[&'t str], times: usize, rng: &mut Rng) -> &'t str {
    let odd: &&str = rng.pick(parts);
    if rng.one_in(times) { odd } else { parts[0] }
}

/// Up to three small changes, in half of the heads; and an end that even a broken head has.
fn damage(mut bytes: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    for _ in 0..rng.below(8).saturating_sub(4) {
        let (at, byte) = (rng.below(bytes.len()), *rng.pick(SPECIAL));
        match rng.below(4) {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => {
                let again = bytes[at..].iter().copied().take(1 + rng.below(20)).collect::<Vec<_>>();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}
