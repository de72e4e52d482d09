//! Every row of the table of attacks on a client, over a real socket; `docs/limits.md` has the same rows.
//!
//! Run with `--nocapture --test-threads 1` the tests print the table: row, what the attacker got, the most
//! memory the client held for it, and what 99 of 100 requests of the same client to another server were
//! faster than.

use alula::Limits;
use alula::h2::ErrorCode;
use alula_conformance::attack::{Answer, AttackOnClient, Attacker, MEMORY_MAX, Play as Part};
use alula_conformance::frames::{self, flag, kind};

/// More than any limit lets pass, and few enough to be quick.
const MANY: usize = 5000;

type Play = fn(&mut Attacker);

fn check(
    row: &'static str,
    lift: Option<fn(&mut Limits)>,
    answer: Answer,
    error: Option<&'static str>,
    play: Play,
) {
    AttackOnClient { row, lift, play: Part::Http2(play), answer, error, memory_max: MEMORY_MAX }.check();
}

/// A flood of one thing, answered with ENHANCE_YOUR_CALM by the bucket of glitches.
fn glitches(row: &'static str, play: Play) {
    fn lift(limits: &mut Limits) {
        limits.glitch_burst = u32::MAX;
        limits.queued_acks = u32::MAX;
    }
    check(row, Some(lift), Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM), Some("the peer"), play);
}

/// What a rule of the protocol answers, whatever the limits are.
fn rule(row: &'static str, answer: Answer, error: &'static str, play: Play) {
    check(row, None, answer, Some(error), play);
}

fn head(status: &str, fields: &[u8], end: bool) -> Vec<u8> {
    frames::headers(1, &[&frames::response_block(status), fields].concat(), end)
}

fn word(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frames::frame(kind, flag::NONE, stream, &value.to_be_bytes())
}

fn flood(attacker: &mut Attacker, bytes: &[u8]) {
    attacker.flood(MANY, |_| bytes.to_vec());
}

#[test]
fn continuation_flood() {
    check(
        "client: CONTINUATION flood",
        Some(|limits| limits.continuation_frames = u32::MAX),
        Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM),
        Some("CONTINUATION"),
        |attacker| {
            attacker.send(&frames::frame(kind::HEADERS, flag::END_STREAM, 1, &frames::response_block("200")));
            for _ in 0..100 {
                attacker.send(&frames::frame(kind::CONTINUATION, 0, 1, &frames::field("a", "b")));
            }
            attacker.send(&frames::frame(kind::CONTINUATION, flag::END_HEADERS, 1, &[]));
        },
    );
}

#[test]
fn hpack_bomb() {
    fn lift(limits: &mut Limits) {
        limits.field_section_bytes = 8 * 1024 * 1024;
        limits.field_section_expansion = u32::MAX;
    }
    fn bomb(references: usize) -> Vec<u8> {
        let entry = [&[0x40, 1, b'b', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000]].concat();
        head("200", &[entry, vec![0xbe; references]].concat(), true)
    }
    check(
        "client: HPACK bomb",
        Some(lift),
        Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        Some("field section"),
        |attacker| {
            attacker.send(&bomb(64));
        },
    );
    check(
        "client: HPACK bomb of four times the limit",
        Some(lift),
        Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM),
        Some("field section"),
        |attacker| {
            attacker.send(&bomb(1000));
        },
    );
}

#[test]
fn tiny_fields() {
    check(
        "client: many tiny fields",
        Some(|limits| limits.fields = 10_000),
        Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        Some("Limits::fields is 1000"),
        |attacker| {
            attacker.send(&head("200", &frames::field("a", "").repeat(1100), true));
        },
    );
}

#[test]
fn hpack_integers() {
    rule(
        "client: an HPACK integer without end",
        Answer::GoAway(ErrorCode::COMPRESSION_ERROR),
        "RFC 7541 §5.1",
        |attacker| {
            attacker.send(&frames::headers(1, &[&[0xff][..], &[0x80; 20]].concat(), true));
        },
    );
}

#[test]
fn settings_out_of_range() {
    const MAX_FRAME_SIZE: u16 = 5;
    const INITIAL_WINDOW_SIZE: u16 = 4;
    const ENABLE_PUSH: u16 = 2;
    rule(
        "client: MAX_FRAME_SIZE of 0",
        Answer::GoAway(ErrorCode::PROTOCOL_ERROR),
        "MAX_FRAME_SIZE",
        |attacker| {
            attacker.send(&frames::settings(&[(MAX_FRAME_SIZE, 0)]));
        },
    );
    rule(
        "client: MAX_FRAME_SIZE of 2^24",
        Answer::GoAway(ErrorCode::PROTOCOL_ERROR),
        "MAX_FRAME_SIZE",
        |attacker| {
            attacker.send(&frames::settings(&[(MAX_FRAME_SIZE, 1 << 24)]));
        },
    );
    rule(
        "client: a window of 2^31",
        Answer::GoAway(ErrorCode::FLOW_CONTROL_ERROR),
        "INITIAL_WINDOW_SIZE",
        |attacker| {
            attacker.send(&frames::settings(&[(INITIAL_WINDOW_SIZE, 1 << 31)]));
        },
    );
    rule(
        "client: a server that enables push",
        Answer::GoAway(ErrorCode::PROTOCOL_ERROR),
        "ENABLE_PUSH",
        |attacker| {
            attacker.send(&frames::settings(&[(ENABLE_PUSH, 1)]));
        },
    );
}

#[test]
fn settings_flood() {
    glitches("client: SETTINGS flood", |attacker| flood(attacker, &frames::settings(&[(3, 100)])));
    check(
        "client: SETTINGS with many entries",
        Some(|limits| limits.settings_entries = 1000),
        Answer::GoAway(ErrorCode::ENHANCE_YOUR_CALM),
        Some("SETTINGS"),
        |attacker| {
            attacker.send(&frames::settings(&[(0x99, 1); 33]));
        },
    );
}

#[test]
fn empty_frames() {
    glitches("client: empty DATA flood", |attacker| {
        attacker.send(&head("200", &[], false));
        flood(attacker, &frames::data(1, b"", false))
    });
}

#[test]
fn priority_churn() {
    glitches("client: PRIORITY churn", |attacker| {
        flood(attacker, &frames::frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 0, 1]))
    });
}

#[test]
fn window_updates() {
    glitches("client: WINDOW_UPDATE flood", |attacker| flood(attacker, &word(kind::WINDOW_UPDATE, 0, 1)));
    rule(
        "client: WINDOW_UPDATE overflow",
        Answer::GoAway(ErrorCode::FLOW_CONTROL_ERROR),
        "window",
        |attacker| {
            attacker.send(&word(kind::WINDOW_UPDATE, 0, 0x7fff_ffff));
        },
    );
}

#[test]
fn unknown_frames() {
    glitches("client: unknown frames, such as ALTSVC", |attacker| {
        flood(attacker, &frames::frame(0x0a, 0, 0, b"\0\x07example"))
    });
}

#[test]
fn push_promise() {
    rule("client: PUSH_PROMISE", Answer::GoAway(ErrorCode::PROTOCOL_ERROR), "PUSH_PROMISE", |attacker| {
        let promise = [&[0, 0, 0, 2][..], &frames::path_block("GET", "/pushed")].concat();
        attacker.send(&frames::frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &promise));
    });
}

#[test]
fn interim_responses() {
    check(
        "client: interim responses without end",
        Some(|limits| limits.interim_responses = u32::MAX),
        Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        Some("interim"),
        |attacker| attacker.flood(200, |_| head("103", &[], false)),
    );
    check(
        "client: interim responses that are large",
        Some(|limits| limits.field_section_bytes = 8 * 1024 * 1024),
        Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        Some("interim"),
        |attacker| {
            attacker.flood(30, |_| head("103", &frames::field("a", &"b".repeat(100)).repeat(100), false))
        },
    );
}

#[test]
fn frames_too_long() {
    rule(
        "client: a frame longer than announced",
        Answer::GoAway(ErrorCode::FRAME_SIZE_ERROR),
        "§4.2",
        |attacker| {
            attacker.send(&frames::data(1, &[0; 16_385], false));
        },
    );
}

#[test]
fn goaway() {
    rule(
        "client: GOAWAY that leaves the request out",
        Answer::GoAway(ErrorCode::NO_ERROR),
        "sending it again is safe",
        |attacker| {
            attacker.send(&frames::goaway(0, 0));
            attacker.wait_for_the_end();
        },
    );
    rule(
        "client: GOAWAY, and the request is lost",
        Answer::GoAway(ErrorCode::NO_ERROR),
        "only if it is idempotent",
        |attacker| {
            attacker.send(&frames::goaway(1, 2));
            attacker.wait_for_the_end();
        },
    );
}

#[test]
fn content_that_is_cut() {
    rule(
        "client: content shorter than stated",
        Answer::Reset(ErrorCode::PROTOCOL_ERROR),
        "content-length",
        |attacker| {
            attacker.send(&head("200", &frames::content_length(10), false));
            attacker.send(&frames::data(1, b"short", true));
        },
    );
    rule("client: content cut by NO_ERROR", Answer::Served, "reading the content", |attacker| {
        attacker.send(&head("200", &[], false));
        attacker.send(&[frames::data(1, b"some", false), frames::reset(1, 0)].concat());
    });
    rule(
        "client: interim field sections with DATA",
        Answer::Reset(ErrorCode::PROTOCOL_ERROR),
        "§8.1",
        |attacker| {
            attacker.send(&frames::data(1, b"before any head", true));
        },
    );
}
