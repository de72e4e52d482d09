//! Shapes of fields: entries of indexes, metadata, links, conditions, contexts and media types.

use std::time::Duration;

use alula_conformance::frames::{self, flag, kind};

use crate::attack::{Attack, filled, get, put};

const HEAD: usize = 200_000;

const CONNECTIONS: usize = 400;

/// A quarter of `process_memory_bytes`, up to which heads need not be paid for.
const CALM: u64 = 256 << 20;

/// The memory that a connection has unpaid from then on: `unpaid_head_bytes`, and as much for its buffers
/// and the
/// handlers of the requests that are taken.
const UNPAID: u64 = 128 << 10;

/// The type of a content, without which none is waited for.
const CONTENT_TYPE: &[u8] = b"\x0f\x10\x0atext/plain";

/// The time that a connection takes with what is not in its bytes: it is accepted, and each of a hundred
/// requests of
/// forty bytes is begun or refused.
const FREE_TIME: Duration = Duration::from_micros(500);

pub(crate) fn index_entries() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (key, name, bytes) in [
        (1, 1, HEAD),
        (1_000, 10, HEAD),
        (60_000, 1, 100_000),
        (60_000, 1, 700),
        (60_000, 1, 40),
        (1, 1_000, HEAD),
        (4_000, 4_000, 60_000),
    ] {
        let terms = filled(bytes, ", ", |number| format!("{number:x}"));
        let field = format!("x-riak-index-{}_bin: {terms}\r\n", "n".repeat(name));
        let path = format!("/buckets/b/keys/{}", "k".repeat(key));
        let shape = format!("a key of {key}, an index of {name}, {bytes} bytes of terms");
        attacks.push(Attack::of(shape, put(&path, &field, b"x")));
    }
    let path = format!("/buckets/{}/keys/k", "b".repeat(60_000));
    let terms = filled(100_000, ", ", |number| format!("{number}"));
    attacks
        .push(Attack::of("a bucket of 60000", put(&path, &format!("x-riak-index-n_int: {terms}\r\n"), b"x")));
    let path = format!("/buckets/b/keys/{}", "%00".repeat(20_000));
    attacks.push(Attack::of(
        "a key of 20000 zeros",
        put(&path, &format!("x-riak-index-n_int: {terms}\r\n"), b"x"),
    ));
    attacks
}

pub(crate) fn index_names() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (name, bytes) in [(30_000, 40_000), (30_000, 300), (10_000, HEAD), (200, HEAD)] {
        let terms = filled(bytes, ", ", |number| format!("{number:x}"));
        let field = format!("x-riak-index-{}_bin: {terms}\r\n", "n".repeat(name));
        attacks.push(Attack::of(
            format!("an index of {name}, {bytes} bytes of terms"),
            put("/buckets/b/keys/k", &field, b"x"),
        ));
    }
    let fields: String = (0..900).map(|number| format!("x-riak-index-{number:0200}_bin: a\r\n")).collect();
    attacks.push(Attack::of("900 indexes", put("/buckets/b/keys/k", &fields, b"x")));
    let wrong = format!("x-riak-index-{}: a\r\n", "n".repeat(HEAD));
    attacks.push(Attack::of("an index of no kind", put("/buckets/b/keys/k", &wrong, b"x")));
    let wrong = format!("x-riak-index-a_int: {}\r\n", "x".repeat(HEAD));
    attacks.push(Attack::of("a number that is none", put("/buckets/b/keys/k", &wrong, b"x")));
    attacks
}

pub(crate) fn metadata() -> Vec<Attack> {
    let shapes = [
        ("900 names", (0..900).map(|number| format!("x-riak-meta-{number}: a\r\n")).collect::<String>()),
        ("900 times one name", "x-riak-meta-a: a\r\n".repeat(900)),
        ("one value", format!("x-riak-meta-a: {}\r\n", "a".repeat(HEAD))),
        ("one name", format!("x-riak-meta-{}: a\r\n", "a".repeat(HEAD))),
        ("900 empty values", (0..900).map(|number| format!("x-riak-meta-{number:0200}:\r\n")).collect()),
    ];
    shapes
        .map(|(shape, fields)| Attack::of(shape, put("/buckets/b/keys/k?returnbody=true", &fields, b"x")))
        .into()
}

pub(crate) fn links() -> Vec<Attack> {
    let links = [
        ("short", "</b/k>;riaktag=\"\""),
        ("of keys", "</buckets/b/keys/k>;riaktag=\"t\""),
        ("escaped", "</buckets/%01%02/keys/%03%04>;riaktag=\"%01\""),
        ("of other relations", "</buckets/b>;rel=\"up\""),
        ("that are none", "<"),
    ];
    let mut attacks = Vec::new();
    for (shape, link) in links {
        let all = filled(HEAD, ", ", |_| link.into());
        let field = format!("link: {all}\r\n");
        attacks.push(Attack::of(
            format!("links {shape}"),
            put("/buckets/b/keys/k?returnbody=true", &field, b"x"),
        ));
        let fields = format!("link: {}\r\n", filled(HEAD / 900, ", ", |_| link.into())).repeat(900);
        attacks.push(Attack::of(
            format!("links {shape} in 900 fields"),
            put("/buckets/b/keys/k?returnbody=true", &fields, b"x"),
        ));
    }
    attacks
}

pub(crate) fn conditions() -> Vec<Attack> {
    let mut attacks = Vec::new();
    let before = vec![put("/buckets/b/keys/k", "", b"x")];
    for name in
        ["if-match", "if-none-match", "x-riak-if-not-modified", "if-modified-since", "if-unmodified-since"]
    {
        for unit in ["\"\"", "\"a\", ", ",", "A"] {
            let field = format!("{name}: {}\r\n", unit.repeat(HEAD / unit.len()));
            let put = put("/buckets/b/keys/k", &field, b"x");
            attacks.push(Attack::of(format!("{name} of {unit} in a PUT"), put).after(before.clone(), 100));
        }
        let fields = format!("{name}: \"a\"\r\n").repeat(900);
        attacks.push(
            Attack::of(format!("900 times {name}"), get("/buckets/b/keys/k", &fields))
                .after(before.clone(), 100),
        );
    }
    attacks
}

pub(crate) fn contexts() -> Vec<Attack> {
    let units = ["A", "AQAA", "AQ==", "=", "/"];
    let of = |unit: &str| {
        let field = format!("x-riak-vclock: {}\r\n", unit.repeat(HEAD / unit.len()));
        Attack::of(format!("a context of {unit}"), put("/buckets/b/keys/k", &field, b"x"))
    };
    units.map(of).into()
}

pub(crate) fn accept() -> Vec<Attack> {
    let mut attacks = Vec::new();
    // Each media type of the siblings is one to choose.
    let sibling = |number: usize| {
        let fields = format!("content-type: a/{number}\r\n");
        crate::attack::request("PUT", "/types/many/buckets/b/keys/k", &fields, b"x")
    };
    let before: Vec<_> = (0..20).map(sibling).collect();
    for unit in ["a/b", "*/*;q=0.1", ",", "a/b;c=\"d\"", "multipart/mixed;q=0"] {
        let field = format!("accept: {}\r\n", filled(HEAD, ",", |_| unit.into()));
        let get = get("/types/many/buckets/b/keys/k", &field);
        attacks.push(Attack::of(format!("accept of {unit}"), get).after(before.clone(), 4_000));
    }
    attacks
}

/// Heads of HTTP/2 that name a long field again and again. They are as long as the peer pays for.
pub(crate) fn repeats() -> Vec<Attack> {
    [(1, 4_000, 250), (99, 3_900, 3), (99, 1_000, 15), (99, 100, 100), (99, 30, 250)]
        .map(|(streams, value, times)| repeating(b"", streams, value, times))
        .into()
}

/// The same on so many connections that the store is calm no more. Their requests never end.
pub(crate) fn repeats_on_connections() -> Vec<Attack> {
    [(99, 3_900, 3), (99, 1_000, 15)]
        .map(|(streams, value, times)| {
            let one = repeating(CONTENT_TYPE, streams, value, times);
            let shape = format!("{CONNECTIONS} connections of {}", one.shape);
            let (unpaid, free_time) = (CALM + CONNECTIONS as u64 * UNPAID, CONNECTIONS as u32 * FREE_TIME);
            Attack { shape, unpaid, free_time, ..one.unread(CONNECTIONS) }
        })
        .into()
}

fn repeating(fields: &[u8], streams: u32, value: usize, times: usize) -> Attack {
    let mut bytes = [frames::PREFACE, &frames::frame(kind::SETTINGS, flag::NONE, 0, b"")].concat();
    for stream in 0..streams {
        // POST, http, a path and an authority; then a field that is kept, or the one that was.
        let mut block = vec![0x83, 0x86, 0x04, 0x12];
        block.extend_from_slice(b"/buckets/b/keys/ke");
        block.extend_from_slice(b"\x01\x09localhost");
        block.extend_from_slice(fields);
        if stream == 0 {
            block.extend_from_slice(b"\x40\x0dx-riak-meta-a");
            block.extend(string(value));
        }
        block.extend(vec![0x80 | 62; times]);
        bytes.extend(frames::frame(kind::HEADERS, flag::END_HEADERS, 1 + 2 * stream, &block));
    }
    let shape = format!("{streams} heads with {times} times a field of {value}");
    Attack { reads: false, ..Attack::of(shape, bytes) }
}

/// A string of HPACK (RFC 7541 §5.2) that is longer than 126 bytes or shorter.
fn string(length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    match length {
        0..=126 => out.push(length as u8),
        _ => {
            out.push(127);
            let mut rest = length - 127;
            while rest >= 128 {
                out.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            out.push(rest as u8);
        }
    }
    out.extend(vec![b'v'; length]);
    out
}
