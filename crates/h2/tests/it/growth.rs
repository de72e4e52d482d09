//! Receive windows that grow with what the path carries, on simulated time: a sender that sends as fast as
//! windows and path allow, a path with a rate and a round trip, and a reader that takes what it takes.

use std::collections::VecDeque;

use alula_fields::Head;
use alula_h2::{Config, Connection, Event, Notice, StreamKey};
use alula_machine::{Limits, OutBuf, Time};
use alula_testkit::Rng;

use crate::support::{End, pair_with, ready_pair};

const MILLIS: u64 = 1_000_000;
const MIB: u32 = 1 << 20;

/// Bytes on their way, and when they arrive.
#[derive(Default)]
struct Way {
    queue: VecDeque<(u64, Vec<u8>)>,
    /// When the last byte has left.
    free_at: u64,
}

/// Who receives the content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    Client,
    Server,
}

/// Content on its way over a path: a download, or an upload where a server receives.
struct Path {
    receiver: End,
    sender: End,
    down: Way,
    up: Way,
    /// Half a round trip in nanoseconds, and nanoseconds for a thousand bytes on their way down.
    delay: u64,
    nanos_per_1000: u64,
    stream: StreamKey,
    sending: StreamKey,
    /// The sender answers PINGs before it sends what came with them allows.
    answers_first: bool,
    /// The bytes that the reader gives back at a time.
    piece: u64,
    /// Bytes that were received and are not consumed.
    unread: u64,
    read: u64,
    pings: usize,
}

impl Path {
    fn new(limits: Limits, round_trip: u64, mbit: u64) -> Self {
        Self::of(Role::Client, limits, round_trip, mbit)
    }

    fn of(role: Role, limits: Limits, round_trip: u64, mbit: u64) -> Self {
        let config = |limits: Limits| Config { limits, ..Config::default() };
        let (of_client, of_server) = match role {
            Role::Client => (limits, Limits::default()),
            Role::Server => (Limits::default(), limits),
        };
        let mut pair = pair_with(config(of_client), config(of_server));
        pair.client.consumes = false;
        pair.server.consumes = false;
        pair.settle();
        let is_download = role == Role::Client;
        let requested =
            pair.client.request(if is_download { "GET" } else { "POST" }, "/", is_download).unwrap();
        pair.drive();
        let accepted = pair.accepted();
        if is_download {
            pair.server.respond(accepted, 200, &[], false).unwrap();
            pair.drive();
        }
        let (receiver, stream, sender, sending) = match role {
            Role::Client => (pair.client, requested, pair.server, accepted),
            Role::Server => (pair.server, accepted, pair.client, requested),
        };
        Self {
            receiver,
            sender,
            down: Way::default(),
            up: Way::default(),
            delay: round_trip / 2,
            nanos_per_1000: 8_000_000 / mbit,
            stream,
            sending,
            answers_first: false,
            piece: u64::MAX,
            unread: 0,
            read: 0,
            pings: 0,
        }
    }

    /// Lets a millisecond pass, in which the reader takes at most so much.
    fn tick(&mut self, now: u64, reads: u64) {
        if self.answers_first {
            self.send_control(now);
        }
        self.send(now);
        self.send_control(now);
        while let Some(bytes) = self.down.arrived(now) {
            self.unread += receive(&mut self.receiver, &bytes, now);
        }
        let mut left = self.unread.min(reads);
        loop {
            let taken = left.min(self.piece);
            self.receiver.machine.release_capacity(self.stream, taken as u32).unwrap();
            (self.unread, self.read, left) = (self.unread - taken, self.read + taken, left - taken);
            let bytes = transmit(&mut self.receiver.machine, now);
            self.pings += bytes.windows(9).filter(|head| *head == [0, 0, 8, 6, 0, 0, 0, 0, 0]).count();
            self.up.put(bytes, now + self.delay);
            if left == 0 {
                break;
            }
        }
        while let Some(bytes) = self.up.arrived(now) {
            receive(&mut self.sender, &bytes, now);
        }
        self.receiver.machine.check_invariants();
    }

    /// What the windows allow goes to the path, in frames.
    fn send(&mut self, now: u64) {
        let sender = &mut self.sender;
        while sender.machine.send_capacity(self.sending) > 0 {
            let mut out = OutBuf::new();
            sender.machine.send_data(self.sending, &[0; 16_384], false, &mut out).unwrap();
            let bytes = out.unsent().to_vec();
            self.down.free_at = self.down.free_at.max(now) + bytes.len() as u64 * self.nanos_per_1000 / 1000;
            let arrives = self.down.free_at + self.delay;
            self.down.put(bytes, arrives);
        }
    }

    /// Control frames go to the path behind what was sent before.
    fn send_control(&mut self, now: u64) {
        let bytes = transmit(&mut self.sender.machine, now);
        let arrives = self.down.free_at.max(now) + self.delay;
        self.down.put(bytes, arrives);
    }

    /// Runs so many milliseconds, and gives the bytes that were read.
    fn run(&mut self, from: u64, millis: u64, reads: u64) -> u64 {
        let before = self.read;
        (from..from + millis).for_each(|milli| self.tick(milli * MILLIS, reads));
        self.read - before
    }

    /// What the sender may still send and what it has sent in vain: the windows of the stream and of the
    /// connection.
    fn window(&self) -> u64 {
        let on_the_way: usize = self.down.queue.iter().map(|(_, bytes)| bytes.len()).sum();
        self.sender.machine.send_capacity(self.sending) as u64 + on_the_way as u64 + self.unread
    }

    /// Runs until so much was read, and gives the round trips that it took.
    fn round_trips_for(&mut self, bytes: u64) -> u64 {
        let mut milli = 0;
        while self.read < bytes {
            self.tick(milli * MILLIS, u64::MAX);
            milli += 1;
        }
        (milli * MILLIS).div_ceil(2 * self.delay)
    }
}

impl Way {
    fn put(&mut self, bytes: Vec<u8>, at: u64) {
        if !bytes.is_empty() {
            self.queue.push_back((at, bytes));
        }
    }

    fn arrived(&mut self, now: u64) -> Option<Vec<u8>> {
        let is_here = self.queue.front().is_some_and(|(at, _)| *at <= now);
        if is_here { self.queue.pop_front().map(|(_, bytes)| bytes) } else { None }
    }
}

fn transmit(machine: &mut Connection, now: u64) -> Vec<u8> {
    let mut out = OutBuf::new();
    machine.poll_transmit(Time::from_nanos(now), &mut out);
    out.unsent().to_vec()
}

/// Feeds an end, and gives the bytes of DATA.
fn receive(end: &mut End, mut input: &[u8], now: u64) -> u64 {
    let mut sum = 0;
    loop {
        let received = end.machine.receive(input, Time::from_nanos(now)).unwrap();
        input = &input[received.consumed..];
        match received.event {
            Some(Event::Data { bytes, .. }) => sum += bytes.len() as u64,
            Some(Event::Head { stream, .. }) => {
                end.streams.push(stream);
                end.machine.take_head(stream, &mut Head::new()).unwrap();
            }
            Some(_) => {}
            None => break,
        }
    }
    while let Some(notice) = end.machine.poll_notice() {
        assert!(matches!(notice, Notice::Writable { .. }), "{notice:?}");
    }
    sum
}

fn up_to(max: u32) -> Limits {
    Limits { stream_window_max: max, connection_window_max: max, ..Limits::default() }
}

#[test]
fn windows_grow_to_the_limit_on_a_long_fast_path_and_the_throughput_follows() {
    let mut path = Path::new(up_to(16 * MIB), 100 * MILLIS, 1000);
    let slow = path.run(0, 200, u64::MAX);
    path.run(200, 1800, u64::MAX);
    let fast = path.run(2000, 500, u64::MAX);
    // 256 KiB in each round trip at first; in the end nearly all of the 125 MB/s that the path carries.
    assert!(slow < 1_000_000, "{slow}");
    assert!(fast > 57_000_000, "{fast}");
    assert!(path.window() <= u64::from(16 * MIB) + 1_000_000, "{}", path.window());
    assert!(path.pings <= 16, "{} PINGs", path.pings);
}

#[test]
fn windows_that_may_not_grow_stay() {
    let mut path = Path::new(up_to(0), 100 * MILLIS, 1000);
    path.run(0, 1000, u64::MAX);
    let bytes = path.run(1000, 1000, u64::MAX);
    assert!(bytes < 3 << 20, "{bytes}");
    assert_eq!(path.pings, 0);
}

#[test]
fn by_default_a_stream_grows_as_large_as_the_connection() {
    let mut path = Path::new(Limits::default(), 100 * MILLIS, 1000);
    path.run(0, 2000, u64::MAX);
    let bytes = path.run(2000, 1000, u64::MAX);
    assert!((8 << 20..11 << 20).contains(&bytes), "a mebibyte in each round trip: {bytes}");
    assert!(path.pings <= 4, "{} PINGs", path.pings);
}

const ROLES: [Role; 2] = [Role::Client, Role::Server];

/// 16 MiB allowed, 30 ms, and windows as they are by default: at first 256 KiB, in one burst. The answer to a
/// PING came before any of the content that was allowed with it, so that nothing was measured and no window
/// ever grew.
#[test]
fn windows_that_arrive_in_one_burst_grow() {
    for role in ROLES {
        for answers_first in [true, false] {
            for mbit in [100_000_000, 10_000, 2_500] {
                for piece in [u64::MAX, 131_072, 100_000, 16_384, 1000] {
                    let mut path = Path::of(role, up_to(16 * MIB), 30 * MILLIS, mbit);
                    (path.answers_first, path.piece) = (answers_first, piece);
                    let trips = path.round_trips_for(4 << 20);
                    assert!(trips <= 8, "{trips} for {role:?}, {answers_first}, {mbit} Mbit/s, by {piece}");
                    assert!(path.pings <= 8, "{} PINGs", path.pings);
                }
            }
        }
    }
}

/// Readers whose pieces are never alike, on paths whose round trips are none of a whole number of
/// milliseconds.
#[test]
fn windows_grow_in_every_run() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let role = ROLES[rng.below(2)];
        let round_trip = 20 * MILLIS + rng.below(20_000_000) as u64;
        let mut path = Path::of(role, up_to(16 * MIB), round_trip, 1500 + rng.below(10_000) as u64);
        path.answers_first = rng.below(2) == 0;
        let mut milli = 0;
        while path.read < 4 << 20 {
            path.piece = 1 + rng.below(300_000) as u64;
            path.tick(milli * MILLIS, u64::MAX);
            milli += 1;
        }
        let trips = (milli * MILLIS).div_ceil(round_trip);
        assert!(trips <= 8, "seed {seed}: {trips} round trips, {role:?}");
    }
}

/// A second download on a connection whose first one has shown what the path carries needs fewer round trips.
#[test]
fn what_one_stream_has_shown_holds_for_the_next() {
    let mut path = Path::new(up_to(16 * MIB), 30 * MILLIS, 10_000);
    path.answers_first = true;
    path.run(0, 300, u64::MAX);
    path.sender.data_out(path.sending, b"", true).unwrap();
    path.run(300, 60, u64::MAX);
    path.stream = path.receiver.request("GET", "/", true).unwrap();
    let head = std::mem::take(&mut path.receiver.out);
    receive(&mut path.sender, head.unsent(), 360 * MILLIS);
    path.sending = *path.sender.streams.last().unwrap();
    path.sender.respond(path.sending, 200, &[], false).unwrap();
    let head = std::mem::take(&mut path.sender.out);
    receive(&mut path.receiver, head.unsent(), 360 * MILLIS);
    let bytes = path.run(360, 90, u64::MAX);
    assert!(bytes >= 2 << 20, "{bytes} in three round trips");
}

/// 1 MB/s: less than the first window carries.
#[test]
fn a_slow_reader_gets_no_larger_windows() {
    for role in ROLES {
        for answers_first in [false, true] {
            let mut path = Path::of(role, up_to(16 * MIB), 100 * MILLIS, 1000);
            path.answers_first = answers_first;
            path.run(0, 10_000, 1000);
            assert!(path.window() <= 256 * 1024 + 20_000, "{}", path.window());
            assert!(path.pings <= 10, "{} PINGs in ten seconds", path.pings);
        }
    }
}

/// It takes all that there is in one go, and then nothing for a second: more window would only wait for it.
#[test]
fn a_reader_that_comes_now_and_then_gets_no_larger_windows() {
    for role in ROLES {
        let mut path = Path::of(role, up_to(16 * MIB), 30 * MILLIS, 10_000);
        for milli in 0..20_000 {
            path.tick(milli * MILLIS, if milli % 1000 == 0 { u64::MAX } else { 0 });
        }
        assert!(path.window() <= 256 * 1024 + 20_000, "{}", path.window());
    }
}

/// The path carries 1.2 MB in a round trip: more window would only wait in its queues.
#[test]
fn windows_do_not_grow_far_beyond_what_the_path_carries() {
    let mut path = Path::new(up_to(64 * MIB), 100 * MILLIS, 100);
    path.run(0, 5000, u64::MAX);
    let bytes = path.run(5000, 1000, u64::MAX);
    assert!(bytes > 12_000_000, "{bytes}");
    assert!(path.window() < 6_000_000, "{}", path.window());
}

#[test]
fn an_idle_connection_and_small_messages_are_not_measured() {
    let mut pair = ready_pair();
    for _ in 0..1000 {
        pair.client.request("GET", "/", true).unwrap();
        pair.drive();
        let stream = pair.accepted();
        pair.server.respond(stream, 200, &[], false).unwrap();
        pair.server.data_out(stream, &[0; 100], true).unwrap();
        pair.drive();
    }
    let pings = pair.client.machine.counters().frames_out[6];
    assert_eq!(pings, 0);
}
