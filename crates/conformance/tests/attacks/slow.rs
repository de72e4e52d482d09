//! Rows of the table of attacks on a server in which the peer is slow, over HTTP/2; those over HTTP/1.1 are
//! in `http1.rs`.

use std::time::Duration;

use alula::h2::ErrorCode;
use alula_conformance::attack::{Answer, Attack, Attacker, MEMORY_MAX, NEVER, SOON};
use alula_conformance::frames::{self, flag, kind};

/// The time between two things that a slow peer sends.
const NOW_AND_THEN: Duration = Duration::from_millis(50);

fn request(stream: u32, path: &str) -> Vec<u8> {
    frames::headers(stream, &frames::path_block("GET", path), true)
}

fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frames::frame(kind::WINDOW_UPDATE, flag::NONE, stream, &bytes.to_be_bytes())
}

/// Content of stated length that stays away.
fn slow_post(attacker: &mut Attacker, path: &str) {
    let stream = attacker.stream();
    let block = [frames::path_block("POST", path), frames::content_length(1000)].concat();
    attacker.send(&[frames::headers(stream, &block, false), frames::data(stream, b"x", false)].concat());
    attacker.wait();
}

#[test]
fn data_dribble() {
    Attack::over_http2("content that dribbles in", Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .check(|attacker| slow_post(attacker, "/echo"));
    Attack::over_http2("content that stays away", Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON))
        .lift(|limits| limits.stall_timeout = NEVER)
        .check(|attacker| slow_post(attacker, "/echo"));
}

/// Content without a stated length that stays away in one way or another.
fn silent_content(row: &'static str, play: fn(&mut Attacker)) {
    Attack::over_http2(row, Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON))
        .lift(|limits| limits.stall_timeout = NEVER)
        .check(play);
}

/// A request for this path, whose content has no stated length.
fn content_to(attacker: &mut Attacker, path: &str) -> u32 {
    let stream = attacker.stream();
    attacker.send(&frames::headers(stream, &frames::path_block("POST", path), false));
    stream
}

#[test]
fn content_without_a_length() {
    silent_content("a head that nothing follows", |attacker| {
        content_to(attacker, "/read");
        attacker.wait();
    });
    silent_content("content without a length that stays away", |attacker| {
        let stream = content_to(attacker, "/read");
        attacker.send(&frames::data(stream, b"hello", false));
        attacker.wait();
    });
    silent_content("content that stays away, after the answer has begun", |attacker| {
        let stream = content_to(attacker, "/echo");
        attacker.send(&frames::data(stream, b"hello", false));
        attacker.wait();
    });
    silent_content("content that stays away before a slow peer is allowed", |attacker| {
        content_to(attacker, "/hopeful");
        attacker.wait();
    });
    silent_content("empty DATA in place of content", |attacker| {
        let stream = content_to(attacker, "/read");
        attacker.dribble(NOW_AND_THEN, || frames::data(stream, b"", false));
    });
    silent_content("padding in place of content", |attacker| {
        let stream = content_to(attacker, "/read");
        let padding = [&[200][..], &[0; 200]].concat();
        attacker.dribble(NOW_AND_THEN, || frames::frame(kind::DATA, flag::PADDED, stream, &padding));
    });
    Attack::over_http2(
        "content without a length that dribbles in",
        Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
    )
    .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
    .lift(|limits| limits.body_rate_min = 0)
    .check(|attacker| {
        let stream = content_to(attacker, "/read");
        attacker.dribble(NOW_AND_THEN, || frames::data(stream, b"x", false));
    });
}

#[test]
fn a_route_may_be_patient() {
    Attack::over_http2("content that dribbles in, where that is allowed", Answer::Status(200))
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, SOON))
        .check(|attacker| slow_post(attacker, "/patient"));
}

#[test]
fn window_stall() {
    Attack::over_http2("a window that stays shut", Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM))
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .check(|attacker| {
            let stream = attacker.stream();
            attacker.send(&request(stream, "/large"));
            attacker.wait();
        });
}

#[test]
fn slow_read() {
    Attack::over_http2("a socket that is not read", Answer::Closed)
        .scene(|limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER))
        .lift(|limits| limits.body_rate_min = 0)
        .memory_max(2 * MEMORY_MAX)
        .check(|attacker| {
            let stream = attacker.stream();
            attacker.stop_reading();
            attacker.send(&window_update(0, 0x7000_0000));
            attacker.send(&request(stream, "/large"));
            attacker.send(&window_update(stream, 0x7000_0000));
            attacker.wait();
        });
}
