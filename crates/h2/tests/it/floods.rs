//! One test per attack: legal or half-legal frames in numbers that nobody has a reason for. Each ends the
//! connection with ENHANCE_YOUR_CALM after as many as the limit says, and not before; without the limit it
//! would go on.

use alula_h2::{Config, ConnectionError, ErrorCode, Notice, Violation};
use alula_machine::{Limits, Time};

use crate::support::wire::*;
use crate::support::{End, frame};

const SECOND: u64 = 1_000_000_000;

/// Tokens that come back no faster than nothing, and as many at first as asked for.
fn burst(glitch_burst: u32) -> Limits {
    Limits { glitch_burst, glitch_rate: 0, reset_burst: glitch_burst, reset_rate: 0, ..Limits::default() }
}

fn server_of(limits: Limits) -> End {
    server_with(Config { limits, ..Config::default() })
}

/// Sends what `flood` makes until the connection ends, at most so often; says how often that was.
fn until_calm(end: &mut End, times_max: usize, mut flood: impl FnMut(usize) -> Vec<u8>) -> usize {
    for time in 0..times_max {
        end.receive(&flood(time));
        end.transmit();
        if let Some(error) = end.error {
            assert_eq!(ErrorCode::of(&error), ErrorCode::ENHANCE_YOUR_CALM, "{error}");
            return time;
        }
    }
    times_max
}

/// Checks that a flood ends after `allowed` of it, and that it goes on when the bucket is large.
fn check(allowed: usize, flood: impl Fn(usize) -> Vec<u8>) {
    let prepare = |limits: Limits| {
        let mut end = server_of(limits);
        end.receive(&headers(0, 1, &request("POST", &[])));
        end
    };
    assert_eq!(until_calm(&mut prepare(burst(20)), 1000, &flood), allowed);
    assert_eq!(until_calm(&mut prepare(burst(1_000_000)), 1000, &flood), 1000);
}

fn new_stream(time: usize) -> u32 {
    2 * time as u32 + 3
}

#[test]
fn rapid_reset() {
    check(20, |time| {
        [headers(END, new_stream(time), &get()), u32_frame(RST_STREAM, new_stream(time), 8)].concat()
    });
}

/// Answers the latest request, whose head the server has just been told of.
fn answer_the_latest(server: &mut End) {
    let stream = *server.streams.last().unwrap();
    server.respond(stream, 204, &[], true).unwrap();
}

/// Plays so many rounds of one stream that is lost and some that end well; says how many streams were lost
/// before the connection ended.
fn lost_beside_good(server: &mut End, rounds: usize, good: usize, lose: impl Fn(u32) -> Vec<u8>) -> usize {
    let mut ids = (1..).step_by(2);
    for round in 0..rounds {
        let id = ids.next().unwrap();
        server.receive(&[headers(END, id, &get()), lose(id)].concat());
        if server.error.is_some() {
            return round;
        }
        for id in ids.by_ref().take(good) {
            server.receive(&headers(END, id, &get()));
            answer_the_latest(server);
        }
        server.transmit();
    }
    rounds
}

/// Each finished request gave back the token that the reset beside it had cost: all of 10 000 resets were
/// carried out.
#[test]
fn resets_beside_requests_that_end_well() {
    let by_peer = |id| u32_frame(RST_STREAM, id, 8);
    let by_us = |id| data(END, id, b"x");
    for lose in [by_peer, by_us] {
        for (good, expected) in [(1, 266), (2, 399), (3, 797)] {
            let mut server = server_of(burst(200));
            let lost = lost_beside_good(&mut server, 10_000, good, lose);
            assert_eq!(lost, expected, "{good} good requests beside each");
            assert_eq!(ErrorCode::of(&server.error.unwrap()), ErrorCode::ENHANCE_YOUR_CALM);
        }
        let mut honest = server_of(burst(200));
        assert_eq!(lost_beside_good(&mut honest, 10_000, 4, lose), 10_000, "a fifth may be lost for ever");
    }
}

#[test]
fn resets_in_bursts_between_requests_that_end_well() {
    let mut server = server_of(burst(200));
    let mut ids = (1..).step_by(2);
    let mut lost = 0;
    while server.error.is_none() && lost < 10_000 {
        for id in ids.by_ref().take(300) {
            server.receive(&headers(END, id, &get()));
            answer_the_latest(&mut server);
        }
        server.transmit();
        for id in ids.by_ref().take(190) {
            server.receive(&[headers(END, id, &get()), u32_frame(RST_STREAM, id, 8)].concat());
            lost += usize::from(server.error.is_none());
        }
        server.transmit();
    }
    // 200, and one for four of those that ended well.
    assert_eq!(lost, 200 + 75);
}

/// A search that cancels a request with each key, or a proxy whose clients leave: after 200 at once the
/// connection ended, and with it every call beside them.
#[test]
fn a_client_may_give_up_a_thousand_requests_at_once() {
    let mut server = server_of(Limits::default());
    server.receive(&headers(0, 1, &request("POST", &[])));
    let innocent = server.streams[0];
    let cancel = |id| [headers(END, id, &get()), u32_frame(RST_STREAM, id, 8)].concat();
    for time in 0..1000 {
        server.receive(&cancel(new_stream(time)));
        server.transmit();
    }
    assert_eq!(server.error, None);
    // Other useless frames have the whole of their bucket left.
    assert_eq!(until_calm(&mut server, 199, |_| frame(0x20, 0, 0, &[])), 199);
    server.respond(innocent, 200, &[], true).unwrap();
    server.transmit();
    server.receive(&cancel(new_stream(1000)));
    assert_eq!(ErrorCode::of(&server.error.unwrap()), ErrorCode::ENHANCE_YOUR_CALM);
    let exceeded = server.machine.exceeded().unwrap();
    assert_eq!((exceeded.limit(), exceeded.seen, exceeded.bound), ("reset_burst", 1001, 1000));
}

#[test]
fn resets_of_requests_have_a_bucket_of_their_own() {
    let cancel =
        |time| [headers(END, new_stream(time), &get()), u32_frame(RST_STREAM, new_stream(time), 8)].concat();
    let limits = |reset_burst, reset_rate| Limits { reset_burst, reset_rate, ..burst(5) };
    assert_eq!(until_calm(&mut server_of(limits(300, 0)), 1000, cancel), 300);
    let mut server = server_of(limits(10, 5));
    assert_eq!(until_calm(&mut server, 10, cancel), 10);
    server.set_now(Time::from_nanos(SECOND));
    assert_eq!(until_calm(&mut server, 1000, |time| cancel(10 + time)), 5, "so many come back in a second");
    // What makes us reset stays with the others.
    let made = |time| [headers(END, new_stream(time), &get()), data(END, new_stream(time), b"x")].concat();
    assert_eq!(until_calm(&mut server_of(limits(1000, 0)), 1000, made), 5);
}

/// A stream whose answer was whole has cost nothing in vain.
#[test]
fn a_client_that_sends_no_more_once_it_is_answered_resets_nothing() {
    let mut server = server_of(Limits { glitch_rate: 100, ..burst(1) });
    for time in 0..1000 {
        server.set_now(Time::from_nanos(time * SECOND / 100));
        let id = 2 * time as u32 + 1;
        server.receive(&headers(0, id, &request("POST", &[])));
        answer_the_latest(&mut server);
        server.receive(&u32_frame(RST_STREAM, id, 0));
        server.transmit();
    }
    assert_eq!(server.error, None);
}

/// A server that sheds load by refusing requests is not misbehaving: the connection, with the requests that
/// run on it, stays.
#[test]
fn a_client_bears_any_number_of_refusals() {
    let limits = burst(20);
    let mut client = End::new(alula_h2::Connection::client(Config { limits, ..Config::default() }));
    client.transmit();
    client.receive(&frame(SETTINGS, 0, 0, &[]));
    for time in 0..1000 {
        client.request("GET", "/", true).unwrap();
        client.receive(&u32_frame(RST_STREAM, 2 * time + 1, 7));
        client.transmit();
        client.notices();
    }
    assert_eq!(client.error, None);
}

#[test]
fn made_you_reset() {
    // After ten WINDOW_UPDATEs each costs a token of its own.
    check(15, |time| {
        [headers(END, new_stream(time), &get()), u32_frame(WINDOW_UPDATE, new_stream(time), 0)].concat()
    });
    check(20, |time| [headers(END, new_stream(time), &get()), data(END, new_stream(time), b"x")].concat());
    check(20, |time| headers(END, new_stream(time), &request("GET", &[("content-length", "1")])));
    check(20, |time| frame(PRIORITY, 0, new_stream(time), &new_stream(time).to_be_bytes()));
}

#[test]
fn malformed_requests() {
    check(20, |time| headers(END, new_stream(time), &request("GET", &[("X", "y")])));
}

#[test]
fn ping_flood() {
    let mut idle = server_of(burst(20));
    assert_eq!(until_calm(&mut idle, 1000, |_| frame(PING, 0, 0, &[0; 8])), 20);
    // While streams are open pings are answered, as long as the answers are read.
    let mut busy = server_of(burst(20));
    busy.receive(&headers(0, 1, &request("POST", &[])));
    assert_eq!(until_calm(&mut busy, 1000, |_| frame(PING, 0, 0, &[0; 8])), 1000);
    busy.receive(&frame(PING, 0, 0, &[0; 8]).repeat(64));
    assert_eq!(busy.error, None);
    busy.receive(&frame(PING, 0, 0, &[0; 8]));
    assert_eq!(ErrorCode::of(&busy.error.unwrap()), ErrorCode::ENHANCE_YOUR_CALM, "65 answers wait");
}

#[test]
fn settings_flood() {
    check(20, |time| setting(4, time as u32));
}

#[test]
fn acknowledgments_of_nothing() {
    check(20, |_| frame(SETTINGS, ACK, 0, &[]));
    check(20, |_| frame(PING, ACK, 0, &[0; 8]));
}

#[test]
fn empty_data_flood() {
    check(20, |_| data(0, 1, b""));
    check(20, |_| padded(0, 1, DATA, 200, b"", 200));
}

#[test]
fn tiny_data_flood() {
    // What nobody takes runs dry: 256 bytes of cost for one of content, from a budget of 25 600.
    let mut slow = server_of(burst(0));
    slow.receive(&headers(0, 1, &request("POST", &[])));
    slow.consumes = false;
    assert_eq!(until_calm(&mut slow, 1000, |_| data(0, 1, b"x")), 100);
    // What the application takes as it comes is a stream of small messages.
    let mut live = server_of(burst(0));
    live.receive(&headers(0, 1, &request("POST", &[])));
    assert_eq!(until_calm(&mut live, 1000, |_| data(0, 1, b"x")), 1000);
}

#[test]
fn priority_flood() {
    check(20, |time| frame(PRIORITY, 0, new_stream(time), &[0; 5]));
}

#[test]
fn window_update_flood() {
    // Ten are on the house, and ten more for each DATA frame of ours.
    check(30, |_| u32_frame(WINDOW_UPDATE, 1, 1));
}

#[test]
fn unknown_frame_flood() {
    check(20, |time| frame(0x11 + (time % 200) as u8, 0, 1, b"anything"));
}

#[test]
fn stream_flood() {
    let mut server = server_of(Limits { streams: 10, ..burst(20) });
    let count = until_calm(&mut server, 1000, |time| headers(END, 2 * time as u32 + 1, &get()));
    // Ten are taken; each refusal then costs two: one for the reset, one since the limit is known.
    assert_eq!(count, 10 + 10);
    assert_eq!(server.machine.counters().refused, 11);
}

/// A server of ten streams that were all reset, whose handlers have not stopped yet.
fn with_stopping_handlers(limits: Limits) -> End {
    let mut server = server_of(Limits { streams: 10, ..limits });
    server.lets_go = false;
    for time in 0..10 {
        server.receive(&headers(END, 2 * time + 1, &get()));
    }
    (0..10).for_each(|time| server.receive(&u32_frame(RST_STREAM, 2 * time + 1, 8)));
    server.transmit();
    server
}

/// A client that has reset all of its requests may open others. That their handlers have not stopped is none
/// of its doing, but after 100 refusals the connection ended.
#[test]
fn refusals_while_handlers_still_stop_cost_the_client_nothing() {
    let mut server = with_stopping_handlers(burst(10));
    let refused: Vec<u32> = (10..110).map(|time| 2 * time + 1).collect();
    for id in &refused {
        server.receive(&headers(END, *id, &get()));
        assert_eq!(server.error, None, "stream {id}");
        assert_eq!(answers(&server.transmit()), [format!("RST_STREAM {id} REFUSED_STREAM")]);
    }
    let counters = *server.machine.counters();
    assert_eq!((counters.refused, counters.glitches, counters.stream_errors), (100, 0, 0));
    assert!(!server.log.iter().any(|line| line.contains("Breach")), "{:?}", server.log);
    for stream in server.streams.clone() {
        server.machine.forget(stream);
    }
    server.receive(&headers(END, 221, &get()));
    assert_eq!(server.streams.len(), 11, "there is a place again");
}

/// Likewise where the application has not taken what came of requests that are over.
#[test]
fn refusals_while_requests_that_ended_are_held_cost_the_client_nothing() {
    let mut server = server_of(Limits { streams: 10, ..burst(10) });
    server.consumes = false;
    for time in 0..100 {
        let id = 2 * time + 1;
        server.receive(&[headers(0, id, &request("POST", &[])), data(END, id, b"x")].concat());
        if time < 20 {
            answer_the_latest(&mut server);
        }
        server.transmit();
    }
    let counters = server.machine.counters();
    assert_eq!((server.error, counters.refused, counters.glitches), (None, 80, 0));
}

/// A client that has not seen how many streams it may have open can open any number (RFC 9113 §6.5.2):
/// after 200 of more than that its connection ended.
#[test]
fn refusals_before_the_limit_is_known_cost_the_client_nothing() {
    let limits = Limits { streams: 10, ..burst(10) };
    let mut server = End::new(alula_h2::Connection::server(Config { limits, ..Config::default() }));
    server.receive(&[MAGIC, &frame(SETTINGS, 0, 0, &[])].concat());
    (0..300).for_each(|time| server.receive(&headers(END, 2 * time + 1, &get())));
    let counters = *server.machine.counters();
    assert_eq!((server.error, counters.refused, counters.glitches), (None, 290, 0));
    // Now it knows.
    server.receive(&frame(SETTINGS, ACK, 0, &[]));
    assert_eq!(until_calm(&mut server, 1000, |time| headers(END, 601 + 2 * time as u32, &get())), 5);
}

/// The reset of a request may be on its way while we refuse that.
#[test]
fn resets_that_cross_ours_are_resets_and_no_useless_frames() {
    let cancel =
        |time| [headers(END, new_stream(time), &get()), u32_frame(RST_STREAM, new_stream(time), 8)].concat();
    let limits = |resets: u32| Limits { reset_burst: 10 + resets, ..burst(5) };
    let mut server = with_stopping_handlers(limits(300));
    assert_eq!(until_calm(&mut server, 1000, |time| cancel(9 + time)), 300);
    let exceeded = server.machine.exceeded().unwrap();
    assert_eq!((exceeded.limit(), exceeded.seen, exceeded.bound), ("reset_burst", 311, 310));

    let mut client =
        End::new(alula_h2::Connection::client(Config { limits: limits(290), ..Config::default() }));
    client.transmit();
    client.receive(&frame(SETTINGS, 0, 0, &[]));
    for time in 0..300 {
        let stream = client.request("GET", "/", true).unwrap();
        client.machine.reset(stream, ErrorCode::CANCEL);
        client.receive(&u32_frame(RST_STREAM, 2 * time + 1, 8));
        client.transmit();
        assert_eq!(client.error, None, "{time}");
    }
}

#[test]
fn tokens_come_back_with_time_and_with_good_requests() {
    let limits = Limits { glitch_burst: 10, glitch_rate: 5, ..Limits::default() };
    let mut server = server_of(limits);
    assert_eq!(until_calm(&mut server, 10, |_| frame(0x20, 0, 0, &[])), 10);
    server.set_now(Time::from_nanos(SECOND));
    assert_eq!(until_calm(&mut server, 5, |_| frame(0x20, 0, 0, &[])), 5);
    server.receive(&headers(END, 1, &get()));
    server.respond(server.streams[0], 204, &[], true).unwrap();
    assert_eq!(until_calm(&mut server, 10, |_| frame(0x20, 0, 0, &[])), 1);
}

#[test]
fn interim_responses_and_continuations() {
    // Their rows are in `messages` and `rules`; here is that the limits are what stops them.
    let limits = Limits { interim_responses: 100, continuation_frames: 100, ..Limits::default() };
    let mut client = End::new(alula_h2::Connection::client(Config { limits, ..Config::default() }));
    client.request("GET", "/", true).unwrap();
    client.transmit();
    client.receive(&frame(SETTINGS, 0, 0, &[]));
    client.receive(&headers(0, 1, &response("103", &[])).repeat(100));
    let mut block = frame(HEADERS, END, 1, &response("200", &[]));
    block.extend(frame(CONTINUATION, 0, 1, &self::block(&[("x", "y")])).repeat(99));
    block.extend(frame(CONTINUATION, END_HEADERS, 1, &[]));
    client.receive(&block);
    assert_eq!(client.error, None);
    assert_eq!(client.take_log().len(), 102);
}

/// They were told of last first.
#[test]
fn breaches_are_told_in_their_order() {
    let mut server = server_of(burst(20));
    for id in [1, 3] {
        server.machine.receive(&headers(END, id, &get()), Time::ZERO).unwrap();
    }
    let frames = [u32_frame(WINDOW_UPDATE, 1, 0), data(END, 3, b"x"), frame(PRIORITY, 0, 5, b"")].concat();
    let mut input = &frames[..];
    while !input.is_empty() {
        let received = server.machine.receive(input, Time::ZERO).unwrap();
        input = &input[received.consumed..];
    }
    let told: Vec<Violation> = std::iter::from_fn(|| server.machine.poll_notice())
        .filter_map(|notice| if let Notice::Breach(rule) = notice { Some(rule) } else { None })
        .collect();
    let rules = [Violation::ZERO_STREAM_INCREMENT, Violation::FRAME_AFTER_END, Violation::PRIORITY_LENGTH];
    assert_eq!(told, rules);
}

#[test]
fn a_flood_of_late_frames_costs_the_sender_only() {
    // DATA that was on its way when we gave the stream up is not held against the peer, and its window comes
    // back.
    let mut server = server_of(burst(0));
    server.receive(&headers(0, 1, &request("POST", &[])));
    server.machine.reset(server.streams[0], ErrorCode::CANCEL);
    for _ in 0..200 {
        server.receive(&data(0, 1, &[0; 16_384]));
        server.transmit();
    }
    assert_eq!(server.error, None::<ConnectionError>);
    assert_eq!(server.machine.counters().late_frames, 200);
}

#[test]
fn a_flood_of_late_frames_with_next_to_nothing_runs_dry() {
    for late in [data(0, 1, b"x"), data(0, 1, b""), headers(END, 1, &block(&[("x", "y")]))] {
        let mut server = server_of(burst(0));
        server.receive(&headers(0, 1, &request("POST", &[])));
        server.machine.reset(server.streams[0], ErrorCode::CANCEL);
        let count = until_calm(&mut server, 1000, |_| late.clone());
        // 256 bytes of cost for at most one of content, from a budget of 25 600.
        assert_eq!(count, 100, "{late:?}");
    }
}

/// A server with large limits that takes smaller heads for now.
fn bounded(bytes: u32) -> End {
    const LIMIT: u32 = 1 << 20;
    let limits = Limits { field_section_bytes: LIMIT, fields: 10_000, ..Limits::default() };
    let mut server = server_of(limits);
    server.machine.bound_heads(bytes);
    server
}

/// A request whose one field, of 4,000 bytes, is named again so often by one byte each.
fn repeated(times: usize) -> Vec<u8> {
    // Literals with indexing (RFC 7541 §6.2.1), and then the newest index of the dynamic table.
    let literal = [&b"\x40\x01x\x7f\xa1\x1e"[..], &[b'a'; 4_000]].concat();
    [&get()[..], &literal, &vec![0xbe; times]].concat()
}

#[test]
fn repeats_beyond_a_bound_are_not_built() {
    const BOUND: u32 = 64 << 10;
    let large = repeated(50);
    let mut free = bounded(u32::MAX);
    free.receive(&headers(END, 1, &large));
    assert!(free.log.last().unwrap().starts_with("head"), "{:?}", free.log.last());

    let mut server = bounded(BOUND);
    let before = server.machine.memory_bytes();
    server.receive(&headers(END, 1, &large));
    assert_eq!(server.error, None);
    let exceeded = server.machine.exceeded().expect("a limit");
    assert_eq!((exceeded.limit(), exceeded.bound), ("first_head_bytes", u64::from(BOUND)));
    // A section grows by doubling.
    let grown = server.machine.memory_bytes() - before;
    assert!(grown <= 2 * BOUND as usize + 8 * 1024, "{grown}");
    server.machine.bound_heads(u32::MAX);
    server.receive(&headers(END, 3, &large));
    assert_eq!(server.streams.len(), 2, "{:?}", server.log);
}

#[test]
fn a_string_beyond_a_bound_is_not_awaited() {
    const BOUND: u32 = 16 << 10;
    let piece = [b'a'; 16_000];
    let begin = [&get()[..], b"\x40\x01x\x7f\xff\xff\x3f", &piece[..]].concat();
    for (bound, is_calmed) in [(BOUND, true), (u32::MAX, false)] {
        let mut server = bounded(bound);
        server.receive(&frame(HEADERS, END, 1, &begin[..16_000]));
        for _ in 0..6 {
            server.receive(&frame(CONTINUATION, 0, 1, &piece));
        }
        assert_eq!(server.error.is_some(), is_calmed, "{bound}: {:?}", server.error);
    }
}
