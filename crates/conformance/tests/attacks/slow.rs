//! Rows of the table of attacks on a server in which the peer is slow, over HTTP/2; those over HTTP/1.1 are
//! in `http1.rs`.

use std::time::Duration;

use alula::h2::ErrorCode;
use alula_conformance::attack::{Answer, Attack, Attacker};
use alula_conformance::frames::{self, flag, kind};

/// The most that a connection under attack may hold, buffers included: a quarter of what `Limits` allows.
const MEMORY_MAX: i64 = 512 * 1024;
/// Long enough to be no limit.
const NEVER: Duration = Duration::from_secs(3600);
/// Short enough to be waited for.
const SOON: Duration = Duration::from_millis(500);
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
    Attack {
        row: "content that dribbles in",
        scene: |limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER),
        lift: Some(|limits| limits.body_rate_min = 0),
        play: |attacker| slow_post(attacker, "/echo"),
        answer: Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        memory_max: MEMORY_MAX,
    }
    .check();
    Attack {
        row: "content that stays away",
        scene: |limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON),
        lift: Some(|limits| limits.stall_timeout = NEVER),
        play: |attacker| slow_post(attacker, "/echo"),
        answer: Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        memory_max: MEMORY_MAX,
    }
    .check();
}

/// Content without a stated length that stays away in one way or another.
fn silent_content(row: &'static str, play: fn(&mut Attacker)) {
    Attack {
        row,
        scene: |limits| (limits.body_rate_min, limits.stall_timeout) = (0, SOON),
        lift: Some(|limits| limits.stall_timeout = NEVER),
        play,
        answer: Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        memory_max: MEMORY_MAX,
    }
    .check();
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
    Attack {
        row: "content without a length that dribbles in",
        scene: |limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER),
        lift: Some(|limits| limits.body_rate_min = 0),
        play: |attacker| {
            let stream = content_to(attacker, "/read");
            attacker.dribble(NOW_AND_THEN, || frames::data(stream, b"x", false));
        },
        answer: Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        memory_max: MEMORY_MAX,
    }
    .check();
}

#[test]
fn a_route_may_be_patient() {
    Attack {
        row: "content that dribbles in, where that is allowed",
        scene: |limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, SOON),
        lift: None,
        play: |attacker| slow_post(attacker, "/patient"),
        answer: Answer::Status(200),
        memory_max: MEMORY_MAX,
    }
    .check();
}

#[test]
fn window_stall() {
    Attack {
        row: "a window that stays shut",
        scene: |limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER),
        lift: Some(|limits| limits.body_rate_min = 0),
        play: |attacker| {
            let stream = attacker.stream();
            attacker.send(&request(stream, "/large"));
            attacker.wait();
        },
        answer: Answer::Reset(ErrorCode::ENHANCE_YOUR_CALM),
        memory_max: MEMORY_MAX,
    }
    .check();
}

#[test]
fn slow_read() {
    Attack {
        row: "a socket that is not read",
        scene: |limits| (limits.body_rate_grace, limits.stall_timeout) = (SOON, NEVER),
        lift: Some(|limits| limits.body_rate_min = 0),
        play: |attacker| {
            let stream = attacker.stream();
            attacker.stop_reading();
            attacker.send(&window_update(0, 0x7000_0000));
            attacker.send(&request(stream, "/large"));
            attacker.send(&window_update(stream, 0x7000_0000));
            attacker.wait();
        },
        answer: Answer::Closed,
        memory_max: 2 * MEMORY_MAX,
    }
    .check();
}
