//! Priorities (RFC 9218): what a server makes of them when there is not enough for all.

use alula_h2::{Config, Connection, Notice, Priority, SendError, StreamKey};
use alula_machine::{Limits, Time};
use alula_testkit::Rng;

use crate::support::wire::{END, HEADERS, MAGIC, priority_update, request, u32_frame};
use crate::support::{End, frame, frames, pair_with};

const WINDOW_UPDATE: u8 = 8;

/// A server that schedules, whose client has asked for these, each with the value of `priority` if it has
/// one, and has windows of 1 MiB for each stream. Every response has begun, wants to send `bytes`, and waits
/// for the connection's window.
struct Scene {
    server: End,
    streams: Vec<StreamKey>,
    left: Vec<usize>,
}

impl Scene {
    fn new(priorities: &[Option<&str>], bytes: usize) -> Self {
        Self::with(&[], priorities, bytes)
    }

    fn with(before: &[Vec<u8>], priorities: &[Option<&str>], bytes: usize) -> Self {
        let mut server = End::new(Connection::server(Config { schedule: true, ..Config::default() }));
        let settings = frame(4, 0, 0, &[0, 4, 0, 0x10, 0, 0]);
        server.receive(&[MAGIC, &settings, &frame(4, 1, 0, &[])].concat());
        server.receive(&before.concat());
        for (priority, id) in priorities.iter().zip((1..).step_by(2)) {
            let field = priority.map(|value| ("priority", value));
            server.receive(&frame(HEADERS, END | 4, id, &request("GET", field.as_slice())));
        }
        let streams = server.streams.clone();
        let mut scene = Self { server, left: vec![bytes; streams.len()], streams };
        for at in 0..scene.streams.len() {
            scene.server.respond(scene.streams[at], 200, &[], false).unwrap();
        }
        // The initial window goes to the first.
        scene.server.data_out(scene.streams[0], &[0; 65_535], false).unwrap();
        for at in 0..scene.streams.len() {
            scene.send(at);
        }
        scene.server.transmit();
        assert_eq!(scene.server.machine.poll_notice(), None);
        scene
    }

    fn send(&mut self, at: usize) {
        let bytes = vec![0; self.left[at]];
        let taken = self.server.data_out(self.streams[at], &bytes, false).unwrap();
        self.left[at] -= taken;
    }

    /// The client gives so much; whoever is told sends what it has. Gives the streams that sent, with their
    /// bytes.
    fn give(&mut self, bytes: u32) -> Vec<(u32, usize)> {
        self.server.machine.receive(&u32_frame(WINDOW_UPDATE, 0, bytes), Time::ZERO).unwrap();
        let mut sent = Vec::new();
        loop {
            let mut told = Vec::new();
            while let Some(notice) = self.server.machine.poll_notice() {
                let Notice::Writable { stream } = notice else { panic!("{notice:?}") };
                told.push(self.streams.iter().position(|other| *other == stream).unwrap());
            }
            if told.is_empty() {
                break;
            }
            // In another order than they were told: what was promised counts.
            for at in told.into_iter().rev() {
                self.send(at);
            }
            self.server.machine.end_turn();
            self.server.machine.check_invariants();
            let bytes = self.server.transmit();
            let mut of_round: Vec<(u32, usize)> =
                frames(&bytes).iter().map(|(_, _, id, payload)| (*id, payload.len())).collect();
            of_round.sort();
            for (id, bytes) in of_round {
                match sent.iter_mut().find(|(other, _)| *other == id) {
                    Some((_, sum)) => *sum += bytes,
                    None => sent.push((id, bytes)),
                }
            }
        }
        sent
    }
}

#[test]
fn the_most_urgent_goes_first() {
    let mut scene = Scene::new(&[Some("u=5"), Some("u=1"), None, Some("u=1")], 40_000);
    assert_eq!(scene.give(30_000), [(3, 30_000)]);
    assert_eq!(scene.give(20_000), [(3, 10_000), (7, 10_000)]);
    assert_eq!(scene.give(40_000), [(7, 30_000), (5, 10_000)]);
    assert_eq!(scene.give(35_000), [(5, 30_000), (1, 5_000)]);
}

#[test]
fn those_that_share_take_turns() {
    let mut scene = Scene::new(&[Some("i"), Some("i"), None, Some("u=4")], 100_000);
    assert_eq!(scene.give(3 * 16_384), [(1, 16_384), (3, 16_384), (5, 16_384)]);
    // They sent in the other order.
    assert_eq!(scene.give(16_384), [(5, 16_384)]);
    assert_eq!(scene.give(16_384), [(3, 16_384)]);
    assert_eq!(scene.give(2 * 16_384), [(1, 16_384), (5, 16_384)]);
}

/// What one of them does not want, the other gets before anybody less urgent.
#[test]
fn those_that_share_leave_nothing_to_the_less_urgent() {
    let mut scene = Scene::new(&[Some("i"), Some("i"), Some("u=4")], 50_000);
    scene.left[1] = 1_000;
    scene.send(1);
    assert_eq!(scene.give(51_000), [(1, 50_000), (3, 1_000)]);
    assert_eq!(scene.give(1), [(5, 1)]);
}

#[test]
fn those_that_come_one_after_the_other_go_before_those_that_share() {
    let mut scene = Scene::new(&[Some("u=2, i"), Some("u=2"), Some("u=2")], 20_000);
    assert_eq!(scene.give(30_000), [(3, 20_000), (5, 10_000)]);
    assert_eq!(scene.give(30_000), [(5, 10_000), (1, 20_000)]);
}

#[test]
fn a_stream_that_comes_later_and_is_more_urgent_goes_first() {
    let mut scene = Scene::new(&[Some("u=5")], 100_000);
    scene.server.receive(&frame(HEADERS, END | 4, 3, &request("GET", &[("priority", "u=0")])));
    let urgent = *scene.server.streams.last().unwrap();
    scene.server.respond(urgent, 200, &[], false).unwrap();
    let update = u32_frame(WINDOW_UPDATE, 0, 50_000);
    scene.server.machine.receive(&update, Time::ZERO).unwrap();
    assert!(matches!(scene.server.machine.poll_notice(), Some(Notice::Writable { .. })));
    // It was never told, and takes what was promised to the other.
    assert_eq!(scene.server.data_out(urgent, &[0; 40_000], true), Ok(40_000));
    scene.server.transmit();
    scene.send(0);
    assert_eq!(scene.left[0], 90_000);
}

#[test]
fn who_does_not_come_holds_nobody_up() {
    let mut scene = Scene::new(&[Some("u=0"), Some("u=7")], 40_000);
    let machine = &mut scene.server.machine;
    machine.receive(&u32_frame(WINDOW_UPDATE, 0, 30_000), Time::ZERO).unwrap();
    assert_eq!(machine.poll_notice(), Some(Notice::Writable { stream: scene.streams[0] }));
    assert_eq!(machine.poll_notice(), None, "all of it is promised");
    assert_eq!(machine.send_capacity(scene.streams[1]), 0);
    machine.end_turn();
    assert_eq!(machine.poll_notice(), Some(Notice::Writable { stream: scene.streams[1] }));
    scene.send(1);
    assert_eq!(scene.left, [40_000, 10_000]);
}

#[test]
fn what_was_promised_to_a_stream_that_is_reset_is_free_again() {
    let mut scene = Scene::new(&[Some("u=0"), Some("u=7")], 40_000);
    let machine = &mut scene.server.machine;
    machine.receive(&u32_frame(WINDOW_UPDATE, 0, 30_000), Time::ZERO).unwrap();
    assert_eq!(machine.poll_notice(), Some(Notice::Writable { stream: scene.streams[0] }));
    machine.receive(&u32_frame(3, 1, 8), Time::ZERO).unwrap();
    machine.check_invariants();
    assert!(matches!(machine.poll_notice(), Some(Notice::Reset { .. })));
    assert_eq!(machine.poll_notice(), Some(Notice::Writable { stream: scene.streams[1] }));
}

#[test]
fn an_update_changes_the_order_and_one_that_came_before_the_request_counts_more_than_its_field() {
    let before = [priority_update(3, "u=0"), priority_update(99, "u=1")];
    let mut scene = Scene::with(&before, &[Some("u=1"), Some("u=7")], 40_000);
    let said =
        |scene: &Scene, at: usize| scene.server.machine.priority(scene.streams[at]).map(|it| it.urgency);
    assert_eq!((said(&scene, 0), said(&scene, 1)), (Some(1), Some(0)));
    assert_eq!(scene.give(10_000), [(3, 10_000)]);
    scene.server.receive(&priority_update(3, "u=6"));
    assert_eq!(scene.give(10_000), [(1, 10_000)]);
    scene.server.receive(&priority_update(3, ""));
    assert_eq!(said(&scene, 1), Some(3));
}

#[test]
fn the_room_of_the_driver_is_given_out_likewise() {
    let mut scene = Scene::new(&[Some("u=5"), Some("u=1"), Some("u=3")], 40_000);
    let mut machine = scene.server.machine;
    machine.receive(&u32_frame(WINDOW_UPDATE, 0, 1 << 20), Time::ZERO).unwrap();
    while machine.poll_notice().is_some() {}
    for stream in &scene.streams {
        assert!(machine.await_room(*stream));
    }
    machine.end_turn();
    assert_eq!((machine.poll_notice(), machine.awaits_room()), (None, true));
    // It is not the peer that they wait for.
    assert_eq!(
        (machine.send_capacity(scene.streams[0]), machine.is_without_window(scene.streams[0])),
        (0, false)
    );
    let out = &mut scene.server.out;
    for (room, expected) in [(30_000, vec![1]), (30_000, vec![1, 2]), (60_000, vec![2, 0])] {
        machine.give_room(room);
        let mut told = Vec::new();
        while let Some(Notice::Writable { stream }) = machine.poll_notice() {
            assert_eq!(machine.poll_notice(), None, "one at a time");
            let at = scene.streams.iter().position(|other| *other == stream).unwrap();
            let taken = machine.send_data(stream, &vec![0; scene.left[at]], false, out).unwrap();
            scene.left[at] -= taken;
            told.push(at);
            machine.end_turn();
            machine.check_invariants();
        }
        assert_eq!(told, expected, "{room}");
    }
    assert_eq!(scene.left, [0, 0, 0]);
    machine.give_room(1);
    assert!(!machine.awaits_room(), "nobody waits any more");
}

#[test]
fn without_a_word_about_priorities_all_are_told_at_once() {
    let mut scene = Scene::new(&[None, None], 40_000);
    let machine = &mut scene.server.machine;
    assert!(!machine.await_room(scene.streams[0]));
    machine.receive(&u32_frame(WINDOW_UPDATE, 0, 1), Time::ZERO).unwrap();
    let told = [machine.poll_notice(), machine.poll_notice(), machine.poll_notice()];
    let all = [Some(scene.streams[0]), Some(scene.streams[1]), None];
    assert_eq!(told, all.map(|stream| stream.map(|stream| Notice::Writable { stream })));
}

#[test]
fn a_client_reprioritises() {
    let mut pair = pair_with(Config::default(), Config { schedule: true, ..Config::default() });
    pair.settle();
    let stream = pair.client.request_with("GET", "/", &[("priority", "u=1")], true).unwrap();
    pair.drive();
    let accepted = pair.accepted();
    assert_eq!(pair.server.machine.priority(accepted), Priority::parse(b"u=1"));
    let later = Priority { urgency: 6, incremental: true };
    pair.client.machine.reprioritise(stream, later).unwrap();
    pair.drive();
    assert_eq!(pair.server.machine.priority(accepted), Some(later));
    let plain = Priority { incremental: false, ..later };
    pair.client.machine.reprioritise(stream, plain).unwrap();
    pair.drive();
    assert_eq!(pair.server.machine.priority(accepted), Some(plain));
    assert!(pair.client.machine.peer_settings().no_rfc7540_priorities);

    let wrong = Priority { urgency: 8, incremental: false };
    assert_eq!(pair.client.machine.reprioritise(stream, wrong), Err(SendError::Setting));
    assert_eq!(pair.server.machine.reprioritise(accepted, later), Err(SendError::WrongRole));
    pair.server.respond(accepted, 204, &[], true).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.reprioritise(stream, later), Err(SendError::UnknownStream));
    assert!(pair.client.transmit().is_empty());
}

#[test]
fn a_flood_of_updates_ends_the_connection() {
    let limits = Limits { glitch_burst: 10, ..Limits::default() };
    let mut server = crate::support::wire::server_with(Config { limits, ..Config::default() });
    for id in (1..=199).step_by(2) {
        server.receive(&priority_update(id, "u=1"));
    }
    assert_eq!(server.error, None, "one for each stream it may open");
    for _ in 0..11 {
        server.receive(&priority_update(7, "u=2"));
    }
    assert!(server.error.unwrap().to_string().contains("too many useless"));
}

/// Whatever is asked for, and whoever does not come when it is told: everything is sent in the end.
#[test]
fn everybody_has_a_turn_in_the_end() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let values: Vec<Option<&str>> = (0..1 + rng.below(12))
            .map(|_| *rng.pick(&[None, Some("i"), Some("u=0"), Some("u=0, i"), Some("u=6"), Some("u=6, i")]))
            .collect();
        let mut scene = Scene::new(&values, 0);
        scene.left.iter_mut().for_each(|left| *left = 1 + rng.below(200_000));
        (0..scene.left.len()).for_each(|at| scene.send(at));
        let mut turns = 0;
        while scene.left.iter().any(|left| *left > 0) {
            turns += 1;
            assert!(turns < 10_000, "seed {seed}: {:?} are left of {values:?}", scene.left);
            let update = u32_frame(WINDOW_UPDATE, 0, 1 + rng.below(60_000) as u32);
            scene.server.machine.receive(&update, Time::ZERO).unwrap();
            scene.server.machine.give_room(rng.below(60_000) as u32);
            let mut late = Vec::new();
            while let Some(Notice::Writable { stream }) = scene.server.machine.poll_notice() {
                let at = scene.streams.iter().position(|other| *other == stream).unwrap();
                match rng.below(5) {
                    0 => late.push(at),
                    1 if scene.server.machine.await_room(stream) => {}
                    _ => scene.send(at),
                }
            }
            scene.server.machine.end_turn();
            late.into_iter().for_each(|at| scene.send(at));
            scene.server.machine.check_invariants();
            scene.server.transmit();
        }
    }
}

/// Blocks that come again are known whole, with what they say about priorities.
#[test]
fn a_request_that_comes_again_has_its_priority_again() {
    let mut pair = pair_with(Config::default(), Config { schedule: true, ..Config::default() });
    pair.settle();
    for _ in 0..10 {
        pair.client.request_with("GET", "/", &[("priority", "u=2, i")], true).unwrap();
        pair.drive();
        let accepted = pair.accepted();
        assert_eq!(pair.server.machine.priority(accepted), Priority::parse(b"u=2, i"));
        pair.server.respond(accepted, 204, &[], true).unwrap();
        pair.drive();
    }
    assert!(pair.server.machine.counters().memo_hits > 0);
}

/// What is kept is bounded by the streams a client may open, and goes when a stream above opens.
#[test]
fn what_was_said_of_streams_that_are_passed_over_is_forgotten() {
    let limits = Limits { streams: 2, ..Limits::default() };
    let mut server = crate::support::wire::server_with(Config { limits, ..Config::default() });
    for id in (1..200).step_by(4) {
        server.receive(&[priority_update(id, "u=1"), priority_update(id + 2, "u=2")].concat());
        server.receive(&frame(HEADERS, END | 4, id + 2, &request("GET", &[])));
        let stream = *server.streams.last().unwrap();
        assert_eq!(server.machine.priority(stream).map(|it| it.urgency), Some(2), "stream {id}");
        server.respond(stream, 200, &[], true).unwrap();
        server.transmit();
    }
    assert_eq!(server.error, None);
}

#[test]
fn a_stream_that_asked_for_room_is_told_of_it() {
    for asks in [false, true] {
        // The connection's window is used up by the first.
        let mut scene = Scene::new(&[None], 100_000);
        scene.server.receive(&frame(HEADERS, END | 4, 3, &request("GET", &[])));
        let other = *scene.server.streams.last().unwrap();
        scene.server.respond(other, 200, &[], false).unwrap();
        let machine = &mut scene.server.machine;
        if asks {
            assert_eq!(machine.await_capacity(other), 0);
        }
        machine.check_invariants();
        machine.receive(&u32_frame(WINDOW_UPDATE, 0, 50_000), Time::ZERO).unwrap();
        let told = std::iter::from_fn(|| machine.poll_notice());
        let is_told = told.filter(|notice| *notice == Notice::Writable { stream: other }).count();
        assert_eq!(is_told, usize::from(asks));
        machine.end_turn();
        assert!(machine.await_capacity(other) >= 50_000, "nobody has used it");
    }
}
