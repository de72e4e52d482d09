//! Rows of the tables of attacks on a server while much of its memory is in use; `docs/limits.md` has them
//! too.
//!
//! Run with `--nocapture --test-threads 1` the tests print the table, as those of `server.rs` do.

use std::{cell::Cell, time::Duration};

use alula::Limits;
use alula::h2::ErrorCode;
use alula_conformance::attack::{Answer, Attack, Attacker, Attacks as _, Http1Attacker};
use alula_conformance::frames;

const MIB: u32 = 1 << 20;
/// The memory of all connections, of which requests that never end hold more than a quarter.
const PROCESS: u64 = 8 << 20;
/// The value that the HPACK table keeps.
const KEPT: usize = 3_900;
/// A field of the HPACK table by its index, the newest.
const AGAIN: u8 = 0xbe;
/// The time between two small pieces of an attack.
const NOW_AND_THEN: Duration = Duration::from_millis(300);
const SMALL: usize = 600;

/// A server that is set to take large heads, as a store does.
fn large_heads(limits: &mut Limits) {
    (limits.head_bytes, limits.field_section_bytes) = (MIB, MIB);
    limits.process_memory_bytes = PROCESS;
}

/// A request that names a long field so often, which it puts into the HPACK table itself if it is the first.
fn repeating(stream: u32, path: &str, times: usize, is_first: bool) -> Vec<u8> {
    let rest = KEPT - 127;
    let length = [127, (rest % 128 + 128) as u8, (rest / 128) as u8];
    let kept = [&[0x40, 1, b'a'][..], &length, &[b'v'; KEPT]].concat();
    let kept = if is_first { kept } else { Vec::new() };
    let block = [frames::path_block("GET", path), kept, vec![AGAIN; times]].concat();
    frames::headers(stream, &block, true)
}

/// Requests that never end and that are paid for: they are as long as what they become.
fn hold(attacker: &mut Attacker, times: usize) {
    let fields = frames::field("a", &"v".repeat(KEPT)).repeat(4);
    attacker.flood(times, |attacker| {
        let block = [frames::path_block("GET", "/never"), fields.clone()].concat();
        frames::headers(attacker.stream(), &block, true)
    });
    assert_eq!(attacker.answer(), Answer::Served);
}

/// Other connections that hold between a quarter and a half.
fn hold_by_others(attacker: &mut Attacker) {
    attacker.with_others(3, |other| hold(other, 50));
}

#[test]
fn first_heads() {
    Attack::over_http2("a large head of a stranger while memory is in use", Answer::Status(431))
        .scene(large_heads)
        .lift(|limits| limits.first_head_bytes = u32::MAX)
        .memory_max(5 << 20)
        .check(|attacker| {
            hold_by_others(attacker);
            let stream = attacker.stream();
            // More than 64 KiB, and not so much that it would have to be paid for.
            attacker.send(&repeating(stream, "/small", 20, true));
            attacker.wait_for_answers(1);
        });
}

#[test]
fn first_heads_of_http1() {
    Attack::over_http1("HTTP/1.1: a large head of a stranger while memory is in use", Answer::Last(431))
        // The head itself is what fills the memory, and has room for all of it.
        .scene(|limits| {
            large_heads(limits);
            (limits.process_memory_bytes, limits.process_memory_soft_percent) = (1 << 20, 100);
        })
        .lift(|limits| limits.first_head_bytes = u32::MAX)
        .memory_max(1 << 20)
        .check(|attacker| {
            ask(attacker, "/small", 300 << 10);
            attacker.wait_for_answer();
        });
}

#[test]
fn unpaid_heads() {
    Attack::over_http2(
        "HPACK repeats: heads that few bytes stand for, while memory is in use",
        Answer::Reset(ErrorCode::REFUSED_STREAM),
    )
    .scene(|limits| limits.process_memory_bytes = PROCESS)
    .lift(|limits| limits.unpaid_head_bytes = u32::MAX)
    .memory_max(5 << 20)
    .check(|attacker| {
        hold_by_others(attacker);
        let mut is_first = true;
        attacker
            .flood(60, |attacker| repeating(attacker.stream(), "/never", 3, std::mem::take(&mut is_first)));
    });
}

#[test]
fn those_who_hold_the_memory() {
    Attack::over_http2(
        "requests that never end, while memory is scarce",
        Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM),
    )
    .scene(|limits| limits.process_memory_bytes = PROCESS)
    .lift(|limits| limits.process_memory_soft_percent = 100)
    .memory_max(8 << 20)
    .check(|attacker| {
        attacker.with_others(6, |other| hold(other, 40));
        // It holds the most, and is the first to go. Each request has the server look at it, and is
        // small.
        hold(attacker, 70);
        let first = attacker.stream();
        let next = Cell::new(first);
        attacker.dribble(NOW_AND_THEN, || {
            let field = frames::field("a", &"v".repeat(SMALL));
            let block = [frames::path_block("GET", "/never"), field].concat();
            frames::headers(next.replace(next.get() + 2), &block, true)
        });
    });
}

/// A request of HTTP/1.1 with a field of so many bytes.
fn ask(attacker: &mut Http1Attacker, path: &str, bytes: usize) {
    attacker.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\na: {}\r\n\r\n", "v".repeat(bytes)));
}
