//! Operations on a client and a server with a pipe between them that cuts, and may be damaged. As long as it
//! is not, all that was sent arrives, once and in order, and nobody breaks a rule.

use std::time::Duration;

use alula_fields::{FieldSection, Status};
use alula_h2::{
    Config, Connection, ErrorCode, Hole, Prepared, Priority, RequestHead, ResponseHead, SendError, StreamKey,
};
use alula_hpack::{EncoderConfig, Huffman, Policy};
use alula_machine::{Limits, Time};

use super::frames::any_frame;
use super::side::{Flow, Side};
use crate::input::{Input, part_of};

/// Bytes as a configuration, and then as operations.
pub fn h2_pair(data: &[u8]) {
    run(data, true);
}

/// Plays the same with a pipe that is never damaged, no deadline that passes and nobody who goes away, by a
/// server that sends in the order of priorities; returns the number of requests.
pub fn h2_peers(data: &[u8]) -> u32 {
    run(data, false).requests
}

fn run(data: &[u8], has_harm: bool) -> World {
    let mut input = Input::new(data);
    let mut world = World::new(&mut input, has_harm);
    while !input.is_empty() {
        world.step(&mut input);
        world.client.machine.check_invariants();
        world.server.machine.check_invariants();
    }
    world.finish();
    world
}

struct World {
    client: Side,
    server: Side,
    up: Vec<u8>,
    down: Vec<u8>,
    now: Time,
    requests: u32,
    prepared: Prepared,
    has_harm: bool,
}

impl World {
    fn new(input: &mut Input<'_>, has_harm: bool) -> Self {
        let empty = FieldSection::new();
        let prepared = Prepared::new(&request("/", &empty), &[Hole::Path, Hole::Field("x-round")]);
        Self {
            client: Side::new(Connection::client(config(input, !has_harm))),
            server: Side::new(Connection::server(config(input, !has_harm))),
            up: Vec::new(),
            down: Vec::new(),
            now: Time::ZERO,
            requests: 0,
            prepared: prepared.expect("a good request"),
            has_harm,
        }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let operation = input.below(20);
        match operation {
            0 | 1 => self.request(input),
            2 | 3 => self.respond(input),
            4..=6 => {
                let (len, end) = (usize::from(input.byte()) * 64, input.byte() < 64);
                self.on_any(input, |side, stream| side.send(stream, len, end));
            }
            7 | 8 => {
                let bytes = usize::from(input.u16());
                self.on_any(input, |side, stream| side.release(stream, bytes));
            }
            9 => self.on_any(input, Side::send_trailers),
            10 => self.on_any(input, Side::give_up),
            11 => self.settings(input),
            12 if self.has_harm => self.pass(input),
            13 if self.has_harm => self.end(input),
            14 if self.has_harm => self.damage(input),
            12 => self.reprioritise(input),
            13 => self.end_turn(input),
            _ => self.carry(input.byte(), input.byte()),
        }
    }

    fn side(&mut self, input: &mut Input<'_>) -> &mut Side {
        if input.flag() { &mut self.client } else { &mut self.server }
    }

    fn on_any(&mut self, input: &mut Input<'_>, act: impl FnOnce(&mut Side, StreamKey)) {
        let side = self.side(input);
        if let Some(stream) = side.any(input) {
            act(side, stream);
            side.notices();
        }
    }

    /// The path of a request is the identifier of its stream.
    fn request(&mut self, input: &mut Input<'_>) {
        let (choice, side) = (input.byte(), &mut self.client);
        let round = input.byte() % 16;
        let id = 2 * self.requests + 1;
        let path = format!("/{id}");
        let before = (side.machine.in_flight(), side.out.len());
        let sent = if choice & 1 == 0 {
            let mut fields = FieldSection::new();
            fields.append("x-round", round.to_string()).expect("a good field");
            if !self.has_harm {
                let priority = *input.pick(&["u=3", "u=0", "u=2, i", "i", "u=7"]);
                fields.append("priority", priority).expect("a good field");
            }
            side.machine.send_request(&request(&path, &fields), false, &mut side.out)
        } else {
            let values = [path.as_bytes(), &[b'a' + round]];
            side.machine.send_prepared(&self.prepared, &values, false, &mut side.out)
        };
        match sent {
            Ok(stream) => {
                let own = side.machine.stream_id(stream);
                assert_eq!(own, Some(id), "no identifier is lost or used twice");
                self.requests += 1;
                side.flows.insert(stream, Flow::asked(id));
            }
            Err(error) => {
                assert_eq!((side.machine.in_flight(), side.out.len()), before);
                assert!(self.has_harm || error == SendError::StreamLimit, "{error:?}");
            }
        }
    }

    fn respond(&mut self, input: &mut Input<'_>) {
        let (status, side) = (if input.byte() < 64 { 103 } else { 200 }, &mut self.server);
        let Some(stream) = side.any(input) else { return };
        let fields = FieldSection::new();
        let head = ResponseHead { status: Status::new(status).expect("three digits"), fields: &fields };
        let flow = side.flows.get_mut(&stream).expect("a stream that is known");
        let answer = match head.status.is_interim() {
            true => side.machine.send_interim(stream, &head, &mut side.out),
            false => side.machine.send_response(stream, &head, false, &mut side.out),
        };
        let may_answer = !flow.has_head_sent && !flow.is_over;
        assert!(side.is_damaged || answer.is_ok() == may_answer, "{answer:?}");
        flow.has_head_sent |= answer.is_ok() && !head.status.is_interim();
    }

    fn reprioritise(&mut self, input: &mut Input<'_>) {
        let priority = Priority { urgency: input.byte() % 8, incremental: input.flag() };
        if let Some(stream) = self.client.any(input) {
            let _ = self.client.machine.reprioritise(stream, priority);
        }
    }

    /// A server that has no room, or has some again, and whose streams have had their chance.
    fn end_turn(&mut self, input: &mut Input<'_>) {
        let side = &mut self.server;
        if input.flag()
            && let Some(stream) = side.any(input)
            && side.flows[&stream].is_sending()
        {
            side.machine.await_room(stream);
        }
        side.machine.give_room(u32::from(input.u16()));
        side.machine.end_turn();
        side.notices();
    }

    fn settings(&mut self, input: &mut Input<'_>) {
        let side = self.side(input);
        let mut settings = *side.machine.sent_settings();
        match input.below(4) {
            0 => settings.stream_window = u32::from(input.u16()),
            1 => settings.table_bytes = u32::from(input.u16() % 5000),
            2 => settings.frame_bytes_max = 16_384 + u32::from(input.u16()),
            _ => settings.streams_max = Some(1 + u32::from(input.byte() % 12)),
        }
        let told = side.machine.update_settings(settings);
        assert!(side.is_damaged || told.is_ok(), "{told:?}");
    }

    fn pass(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(Duration::from_millis(u64::from(input.byte()) * 4));
        for side in [&mut self.client, &mut self.server] {
            // A deadline that has passed is no damage to the pipe, but the end of what must arrive.
            side.is_damaged |= side.machine.poll_timeout().is_some_and(|due| due <= self.now);
            side.machine.handle_timeout(self.now);
        }
        self.spread();
    }

    /// Goes away, or closes at once, which ends what must arrive.
    fn end(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let side = self.side(input);
        match choice {
            0..8 => {
                side.is_damaged = true;
                side.machine.close(ErrorCode::NO_ERROR);
            }
            8..32 => side.machine.goaway(choice & 1 == 1),
            _ => drop(side.machine.ping([choice; 8])),
        }
        self.spread();
    }

    fn spread(&mut self) {
        let is_damaged = self.client.is_damaged || self.server.is_damaged;
        (self.client.is_damaged, self.server.is_damaged) = (is_damaged, is_damaged);
        self.client.notices();
        self.server.notices();
    }

    /// Changes what is in the pipe: flips a bit, loses bytes, or puts a frame there.
    fn damage(&mut self, input: &mut Input<'_>) {
        let is_up = input.flag();
        let wire = if is_up { &mut self.up } else { &mut self.down };
        let kind = input.byte();
        // Most of the time the pipe is good, or most trials would be about nothing else.
        if kind < 192 {
            return;
        }
        let at = input.below(wire.len() + 1);
        match kind % 3 {
            0 => wire.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (kind & 7)),
            1 => drop(wire.drain(at..)),
            _ => any_frame(input, is_up, wire),
        }
        self.client.is_damaged = true;
        self.spread();
    }

    /// Moves some bytes each way: so many in 160.
    fn carry(&mut self, up: u8, down: u8) {
        let Self { client, server, now, .. } = self;
        carry_some(up, client, server, &mut self.up, *now);
        carry_some(down, server, client, &mut self.down, *now);
    }

    /// Ends everything, and checks that it adds up.
    fn finish(&mut self) {
        for _ in 0..300 {
            self.carry(255, 255);
            if self.client.is_damaged {
                return;
            }
            self.client.tidy();
            self.server.tidy();
            self.end_all();
            let is_quiet = self.up.is_empty() && self.down.is_empty();
            if is_quiet && self.client.flows.is_empty() && self.server.flows.is_empty() {
                break;
            }
        }
        self.carry(255, 255);
        assert_eq!((self.client.flows.len(), self.server.flows.len()), (0, 0));
        for (from, to) in [(&self.client, &self.server), (&self.server, &self.client)] {
            assert_eq!(to.machine.in_flight(), 0);
            for (id, bytes) in &to.received {
                assert_eq!(from.sent.get(id), Some(bytes), "stream {id}");
            }
        }
    }

    /// Gives everything back, answers everything and ends it.
    fn end_all(&mut self) {
        for side in [&mut self.client, &mut self.server] {
            for stream in side.flows.keys().copied().collect::<Vec<_>>() {
                side.release(stream, usize::MAX);
                let Some(flow) = side.flows.get_mut(&stream) else { continue };
                if !flow.has_head_sent {
                    let head = ResponseHead { status: Status::OK, fields: &FieldSection::new() };
                    let answer = side.machine.send_response(stream, &head, false, &mut side.out);
                    flow.has_head_sent |= answer.is_ok();
                }
                side.send_trailers(stream);
            }
        }
    }
}

fn request<'a>(path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method: "POST", scheme: "https", authority: "a.example", path, protocol: None, fields }
}

/// Small limits are met more often; no end of tokens, since nobody here means harm.
fn config(input: &mut Input<'_>, schedule: bool) -> Config {
    let limits = Limits {
        streams: 10,
        stream_window: 20_000,
        connection_window: 70_000,
        table_bytes: 400,
        glitch_burst: 1_000_000,
        queued_acks: 10_000,
        interim_responses: 10_000,
        frame_budget_bytes: u32::MAX,
        ..Limits::default()
    };
    let policy = *input.pick(&[Policy::Repeat, Policy::Static, Policy::Always, Policy::Never]);
    let huffman = *input.pick(&[Huffman::Shorter, Huffman::Never, Huffman::Always]);
    let encoder = EncoderConfig { policy, huffman, table_bytes_max: u32::MAX };
    Config { limits, encoder, schedule, ..Config::default() }
}

fn carry_some(part: u8, from: &mut Side, to: &mut Side, wire: &mut Vec<u8>, now: Time) {
    from.machine.poll_transmit(now, &mut from.out);
    wire.extend_from_slice(from.out.unsent());
    from.out.clear();
    let bytes: Vec<u8> = wire.drain(..part_of(wire.len(), part)).collect();
    to.receive(&bytes, now);
    if part & 1 == 1 {
        to.tidy();
    }
}
