//! Receive windows that grow with what the path carries, on simulated time: a server that sends as fast as windows and path
//! allow, a path with a rate and a round trip, and a reader that takes what it takes.

mod support;

use std::collections::VecDeque;

use alula_fields::{Limits, OutBuf, Time};
use alula_h2::{Config, Connection, Event, Notice, StreamKey};
use support::{End, Pair};

const MILLIS: u64 = 1_000_000;
const MIB: u32 = 1 << 20;

/// Octets on their way, and when they arrive.
#[derive(Default)]
struct Way {
    queue: VecDeque<(u64, Vec<u8>)>,
    /// When the last octet has left.
    free_at: u64,
}

/// A download over a path.
struct Path {
    pair: Pair,
    down: Way,
    up: Way,
    /// Half a round trip in nanoseconds, and nanoseconds for a thousand octets on their way down.
    delay: u64,
    nanos_per_1000: u64,
    stream: StreamKey,
    sending: StreamKey,
    /// Octets that were received and are not consumed.
    unread: u64,
    read: u64,
    pings: usize,
}

impl Path {
    fn new(limits: Limits, round_trip: u64, mbit: u64) -> Self {
        let config = |limits: Limits| Config { limits, ..Config::default() };
        let mut pair = Pair::with(config(limits), config(Limits::default()));
        pair.client.consumes = false;
        pair.settle();
        let stream = pair.client.request("GET", "/", true).unwrap();
        pair.drive();
        let sending = pair.accepted();
        pair.server.respond(sending, 200, &[], false).unwrap();
        pair.drive();
        let (down, up) = (Way::default(), Way::default());
        let nanos_per_1000 = 8_000_000 / mbit;
        let delay = round_trip / 2;
        Self { pair, down, up, delay, nanos_per_1000, stream, sending, unread: 0, read: 0, pings: 0 }
    }

    /// Lets a millisecond pass, in which the reader takes at most so much.
    fn tick(&mut self, now: u64, reads: u64) {
        self.send(now);
        while let Some(octets) = self.down.arrived(now) {
            self.unread += receive(&mut self.pair.client, &octets, now);
        }
        let taken = self.unread.min(reads);
        self.pair.client.machine.release_capacity(self.stream, taken as u32).unwrap();
        (self.unread, self.read) = (self.unread - taken, self.read + taken);
        let octets = transmit(&mut self.pair.client.machine, now);
        self.pings += octets.windows(9).filter(|head| *head == [0, 0, 8, 6, 0, 0, 0, 0, 0]).count();
        self.up.put(octets, now + self.delay);
        while let Some(octets) = self.up.arrived(now) {
            receive(&mut self.pair.server, &octets, now);
        }
        self.pair.client.machine.check_invariants();
    }

    /// What the windows allow goes to the path, in frames.
    fn send(&mut self, now: u64) {
        let server = &mut self.pair.server;
        while server.machine.send_capacity(self.sending) > 0 {
            let mut out = OutBuf::new();
            server.machine.send_data(self.sending, &[0; 16_384], false, &mut out).unwrap();
            let octets = out.unsent().to_vec();
            self.down.free_at = self.down.free_at.max(now) + octets.len() as u64 * self.nanos_per_1000 / 1000;
            let arrives = self.down.free_at + self.delay;
            self.down.put(octets, arrives);
        }
        let octets = transmit(&mut server.machine, now);
        let arrives = self.down.free_at.max(now) + self.delay;
        self.down.put(octets, arrives);
    }

    /// Runs so many milliseconds, and gives the octets that were read.
    fn run(&mut self, from: u64, millis: u64, reads: u64) -> u64 {
        let before = self.read;
        (from..from + millis).for_each(|milli| self.tick(milli * MILLIS, reads));
        self.read - before
    }

    /// What the server may still send and what it has sent in vain: the windows of the stream and of the connection.
    fn window(&self) -> u64 {
        let on_the_way: usize = self.down.queue.iter().map(|(_, octets)| octets.len()).sum();
        self.pair.server.machine.send_capacity(self.sending) as u64 + on_the_way as u64 + self.unread
    }
}

impl Way {
    fn put(&mut self, octets: Vec<u8>, at: u64) {
        if !octets.is_empty() {
            self.queue.push_back((at, octets));
        }
    }

    fn arrived(&mut self, now: u64) -> Option<Vec<u8>> {
        let is_here = self.queue.front().is_some_and(|(at, _)| *at <= now);
        if is_here { self.queue.pop_front().map(|(_, octets)| octets) } else { None }
    }
}

fn transmit(machine: &mut Connection, now: u64) -> Vec<u8> {
    let mut out = OutBuf::new();
    machine.poll_transmit(Time::from_nanos(now), &mut out);
    out.unsent().to_vec()
}

/// Feeds an end, and gives the octets of DATA.
fn receive(end: &mut End, mut input: &[u8], now: u64) -> u64 {
    let mut octets = 0;
    loop {
        let received = end.machine.receive(input, Time::from_nanos(now)).unwrap();
        input = &input[received.consumed..];
        match received.event {
            Some(Event::Data { bytes, .. }) => octets += bytes.len() as u64,
            Some(_) => {}
            None => break,
        }
    }
    while let Some(notice) = end.machine.poll_notice() {
        assert!(matches!(notice, Notice::Writable { .. }), "{notice:?}");
    }
    octets
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
    let octets = path.run(1000, 1000, u64::MAX);
    assert!(octets < 3 << 20, "{octets}");
    assert_eq!(path.pings, 0);
}

#[test]
fn by_default_a_stream_grows_as_large_as_the_connection() {
    let mut path = Path::new(Limits::default(), 100 * MILLIS, 1000);
    path.run(0, 2000, u64::MAX);
    let octets = path.run(2000, 1000, u64::MAX);
    assert!((8 << 20..11 << 20).contains(&octets), "a mebibyte in each round trip: {octets}");
    assert!(path.pings <= 4, "{} PINGs", path.pings);
}

/// 1 MB/s: less than the first window carries.
#[test]
fn a_slow_reader_gets_no_larger_windows() {
    let mut path = Path::new(up_to(16 * MIB), 100 * MILLIS, 1000);
    path.run(0, 10_000, 1000);
    assert!(path.window() <= 256 * 1024 + 20_000, "{}", path.window());
    assert!(path.pings <= 10, "{} PINGs in ten seconds", path.pings);
}

/// The path carries 1.2 MB in a round trip: more window would only wait in its queues.
#[test]
fn windows_do_not_grow_far_beyond_what_the_path_carries() {
    let mut path = Path::new(up_to(64 * MIB), 100 * MILLIS, 100);
    path.run(0, 5000, u64::MAX);
    let octets = path.run(5000, 1000, u64::MAX);
    assert!(octets > 12_000_000, "{octets}");
    assert!(path.window() < 6_000_000, "{}", path.window());
}

#[test]
fn an_idle_connection_and_small_messages_are_not_measured() {
    let mut pair = Pair::ready();
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
