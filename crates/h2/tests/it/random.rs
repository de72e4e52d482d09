//! Random operations on a client and a server, with what must hold after each: windows balance, streams are
//! counted right, every byte arrives once and in order, and refused commands change nothing.

use std::collections::BTreeMap;

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{
    Config, Connection, Event, Notice, Priority, RequestHead, ResponseHead, SendError, Settings, StreamKey,
};
use alula_machine::{Limits, OutBuf, Time};
use alula_testkit::Rng;

/// What a driver knows of one stream.
#[derive(Default)]
struct Flow {
    id: u32,
    to_send: usize,
    has_head_sent: bool,
    has_ended: bool,
    received: usize,
    unreleased: usize,
    is_over: bool,
}

struct Side {
    machine: Connection,
    out: OutBuf,
    flows: BTreeMap<StreamKey, Flow>,
    /// Bytes received on streams whose other half has ended, by identifier.
    received: BTreeMap<u32, usize>,
    /// Bytes sent on streams whose half here has ended, by identifier.
    sent: BTreeMap<u32, usize>,
}

/// The byte at a place of a stream's content: different for each stream.
fn byte(id: u32, at: usize) -> u8 {
    (id as usize * 7 + at) as u8
}

impl Side {
    fn new(machine: Connection) -> Self {
        let (received, sent) = (BTreeMap::new(), BTreeMap::new());
        Self { machine, out: OutBuf::new(), flows: BTreeMap::new(), received, sent }
    }

    fn any(&self, rng: &mut Rng) -> Option<StreamKey> {
        let mut keys: Vec<StreamKey> = self.flows.keys().copied().collect();
        keys.sort_by_key(|key| self.flows[key].id);
        (!keys.is_empty()).then(|| *rng.pick(&keys))
    }

    fn receive(&mut self, mut input: &[u8]) {
        loop {
            let received = self.machine.receive(input, Time::ZERO).expect("both sides keep the rules");
            input = &input[received.consumed..];
            let Some(event) = received.event else { break };
            self.event(event);
        }
        assert!(input.is_empty());
        self.notices();
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => {
                self.machine.take_head(stream, &mut Head::new()).unwrap();
                let id = self.machine.stream_id(stream);
                let flow = self.flows.entry(stream).or_default();
                flow.id = id.unwrap_or(flow.id);
                self.end_if(stream, end);
            }
            Event::Data { stream, bytes, end } => {
                let flow = self.flows.get_mut(&stream).expect("a stream that is not known has no content");
                for byte_here in bytes {
                    assert_eq!(*byte_here, byte(flow.id, flow.received), "stream {}", flow.id);
                    flow.received += 1;
                }
                flow.unreleased += bytes.len();
                self.end_if(stream, end);
            }
            Event::Trailers { stream } => {
                self.machine.take_trailers(stream, &mut FieldSection::new()).unwrap();
                self.end_if(stream, true);
            }
            _ => {}
        }
    }

    fn end_if(&mut self, stream: StreamKey, end: bool) {
        if end {
            let flow = &self.flows[&stream];
            self.received.insert(flow.id, flow.received);
            self.drop_if_over(stream);
        }
    }

    /// A stream that has ended both ways, and of which everything was given back, is gone.
    fn drop_if_over(&mut self, stream: StreamKey) {
        if self.machine.stream_id(stream).is_none() {
            self.flows.remove(&stream);
        }
    }

    fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            match notice {
                Notice::Reset { stream, .. } => {
                    self.flows.get_mut(&stream).expect("only known streams are reset").is_over = true;
                }
                Notice::Writable { stream } => assert!(self.machine.send_capacity(stream) > 0),
                Notice::Closed(error) => panic!("{error}"),
                _ => {}
            }
        }
    }

    fn release(&mut self, rng: &mut Rng, stream: StreamKey) {
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        let bytes = rng.below(flow.unreleased + 1);
        flow.unreleased -= bytes;
        self.machine.release_capacity(stream, bytes as u32).unwrap();
        self.drop_if_over(stream);
    }

    fn send(&mut self, rng: &mut Rng, stream: StreamKey) {
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        if !flow.has_head_sent || flow.has_ended || flow.is_over {
            let before = self.out.len();
            let refused = self.machine.send_data(stream, b"x", false, &mut self.out);
            assert!(refused.is_err(), "{:?}", flow.id);
            assert_eq!(self.out.len(), before);
            return;
        }
        let (end, len) = (rng.one_in(4), rng.below(50_000));
        let data: Vec<u8> = (0..len).map(|at| byte(flow.id, flow.to_send + at)).collect();
        let capacity = self.machine.send_capacity(stream);
        let taken = self.machine.send_data(stream, &data, end, &mut self.out).unwrap();
        assert_eq!(taken, len.min(capacity));
        flow.to_send += taken;
        if end && taken == len {
            flow.has_ended = true;
            self.sent.insert(flow.id, flow.to_send);
        }
        self.drop_if_over(stream);
    }

    fn trailers(&mut self, stream: StreamKey) {
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        if flow.has_head_sent && !flow.has_ended && !flow.is_over {
            self.machine
                .send_trailers(stream, &crate::support::fields(&[("x-sum", "1")]), &mut self.out)
                .unwrap();
            flow.has_ended = true;
            self.sent.insert(flow.id, flow.to_send);
            self.drop_if_over(stream);
        }
    }

    fn give_up(&mut self, stream: StreamKey) {
        self.machine.forget(stream);
        self.flows.remove(&stream);
    }

    /// Lets go of streams that were reset, as somebody must.
    fn tidy(&mut self) {
        let over: Vec<StreamKey> =
            self.flows.iter().filter(|(_, flow)| flow.is_over).map(|(key, _)| *key).collect();
        over.into_iter().for_each(|stream| self.give_up(stream));
    }
}

struct World {
    rng: Rng,
    client: Side,
    server: Side,
    up: Vec<u8>,
    down: Vec<u8>,
    requests: usize,
    says_priorities: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        // Small limits are met more often; no end of tokens, since nobody here means harm.
        let limits = Limits {
            streams: 10,
            stream_window: 20_000,
            connection_window: 70_000,
            glitch_burst: 1_000_000,
            queued_acks: 10_000,
            ..Limits::default()
        };
        let config = Config { limits, schedule: true, ..Config::default() };
        Self {
            rng: Rng::new(seed),
            client: Side::new(Connection::client(config.clone())),
            server: Side::new(Connection::server(config)),
            up: Vec::new(),
            down: Vec::new(),
            requests: 0,
            says_priorities: seed % 2 == 1,
        }
    }

    fn step(&mut self) {
        match self.rng.below(16) {
            0 | 1 => self.request(),
            2 | 3 => self.respond(),
            4..=6 => self.on_any(|side, rng, stream| side.send(rng, stream)),
            7 | 8 => self.on_any(|side, rng, stream| side.release(rng, stream)),
            9 => self.on_any(|side, _, stream| side.trailers(stream)),
            10 if self.rng.one_in(4) => self.on_any(|side, _, stream| side.give_up(stream)),
            11 if self.rng.one_in(10) => self.settings(),
            12 => self.reprioritise(),
            13 => self.end_turn(),
            _ => self.carry(),
        }
        self.client.machine.check_invariants();
        self.server.machine.check_invariants();
    }

    fn request(&mut self) {
        let mut fields =
            crate::support::fields(&[("x-own", "value"), ("x-round", &self.requests.to_string())]);
        if self.says_priorities && self.rng.one_in(2) {
            fields.append("priority", *self.rng.pick(&["u=0", "u=2, i", "i", "u=7"])).unwrap();
        }
        let (scheme, authority, path) = ("https", "a.example", "/");
        let head = RequestHead { method: "POST", scheme, authority, path, protocol: None, fields: &fields };
        let before = (self.client.machine.in_flight(), self.client.out.len());
        match self.client.machine.send_request(&head, false, &mut self.client.out) {
            Ok(stream) => {
                let id = self.client.machine.stream_id(stream).unwrap();
                assert_eq!(id as usize, 2 * self.requests + 1, "no identifier is lost or used twice");
                self.requests += 1;
                self.client.flows.insert(stream, Flow { id, has_head_sent: true, ..Flow::default() });
            }
            Err(error) => {
                assert_eq!(error, SendError::StreamLimit);
                assert_eq!((self.client.machine.in_flight(), self.client.out.len()), before);
            }
        }
    }

    fn respond(&mut self) {
        let Some(stream) = self.server.any(&mut self.rng) else { return };
        let fields = FieldSection::new();
        let head = ResponseHead { status: Status::OK, fields: &fields };
        let side = &mut self.server;
        let flow = side.flows.get_mut(&stream).unwrap();
        let answer = side.machine.send_response(stream, &head, false, &mut side.out);
        assert_eq!(answer.is_ok(), !flow.has_head_sent && !flow.is_over, "{answer:?}");
        flow.has_head_sent |= answer.is_ok();
    }

    fn on_any(&mut self, act: impl FnOnce(&mut Side, &mut Rng, StreamKey)) {
        let side = if self.rng.one_in(2) { &mut self.client } else { &mut self.server };
        if let Some(stream) = side.any(&mut self.rng) {
            act(side, &mut self.rng, stream);
            side.notices();
        }
    }

    fn reprioritise(&mut self) {
        let priority = Priority { urgency: self.rng.below(8) as u8, incremental: self.rng.one_in(2) };
        if let Some(stream) = self.client.any(&mut self.rng).filter(|_| self.says_priorities) {
            let _ = self.client.machine.reprioritise(stream, priority);
        }
    }

    /// A driver that has no room, or has some again, and whose streams have had their chance.
    fn end_turn(&mut self) {
        let side = &mut self.server;
        if self.rng.one_in(3)
            && let Some(stream) = side.any(&mut self.rng)
            && side.flows[&stream].has_head_sent
            && !side.flows[&stream].has_ended
        {
            side.machine.await_room(stream);
        }
        side.machine.give_room(self.rng.below(100_000) as u32);
        side.machine.end_turn();
        side.notices();
    }

    fn settings(&mut self) {
        let side = if self.rng.one_in(2) { &mut self.client } else { &mut self.server };
        let stream_window = self.rng.below(40_000) as u32;
        let changed = Settings { stream_window, ..*side.machine.sent_settings() };
        side.machine.update_settings(changed).unwrap();
    }

    /// Moves some bytes each way, cut anywhere.
    fn carry(&mut self) {
        let Self { rng, client, server, up, down, .. } = self;
        carry_some(rng, client, server, up);
        carry_some(rng, server, client, down);
    }

    /// Ends everything, and checks that it adds up.
    fn finish(&mut self) {
        for _ in 0..10_000 {
            self.carry();
            for side in [&mut self.client, &mut self.server] {
                side.tidy();
                for stream in side.flows.keys().copied().collect::<Vec<_>>() {
                    let flow = side.flows.get_mut(&stream).unwrap();
                    let held = std::mem::take(&mut flow.unreleased);
                    side.machine.release_capacity(stream, held as u32).unwrap();
                    if !side.machine.is_client() && !flow.has_head_sent && !flow.is_over {
                        let fields = FieldSection::new();
                        let head = ResponseHead { status: Status::OK, fields: &fields };
                        side.machine.send_response(stream, &head, false, &mut side.out).unwrap();
                        flow.has_head_sent = true;
                    }
                    side.trailers(stream);
                    side.drop_if_over(stream);
                }
            }
            let is_quiet = self.up.is_empty() && self.down.is_empty();
            if is_quiet && self.client.flows.is_empty() && self.server.flows.is_empty() {
                break;
            }
        }
        self.carry();
        assert_eq!((self.client.flows.len(), self.server.flows.len()), (0, 0));
        for (from, to) in [(&self.client, &self.server), (&self.server, &self.client)] {
            assert_eq!(to.machine.in_flight(), 0);
            for (id, bytes) in &to.received {
                assert_eq!(from.sent.get(id), Some(bytes), "stream {id}");
            }
        }
    }
}

fn carry_some(rng: &mut Rng, from: &mut Side, to: &mut Side, wire: &mut Vec<u8>) {
    from.machine.poll_transmit(Time::ZERO, &mut from.out);
    wire.extend_from_slice(from.out.unsent());
    from.out.clear();
    let len = if rng.one_in(2) { wire.len() } else { rng.below(wire.len() + 1) };
    let bytes: Vec<u8> = wire.drain(..len).collect();
    to.receive(&bytes);
    if rng.one_in(3) {
        to.tidy();
    }
}

#[test]
fn everything_adds_up_whatever_happens() {
    let mut completed = 0;
    for seed in 0..60 {
        let mut world = World::new(seed);
        for _ in 0..600 {
            world.step();
        }
        world.finish();
        completed += world.client.machine.counters().completed;
        assert!(world.requests > 10, "seed {seed}");
    }
    assert!(completed > 500, "{completed}");
}

#[test]
fn random_bytes_never_panic_and_never_leave_a_machine_open_for_ever() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let mut machine = match rng.one_in(2) {
            true => Connection::client(Config::default()),
            false => Connection::server(Config::default()),
        };
        let mut input = if machine.is_client() { Vec::new() } else { crate::support::wire::MAGIC.to_vec() };
        input.extend(crate::support::frame(4, 0, 0, &[]));
        // Frames that are well-formed as such, with anything in them.
        for _ in 0..rng.below(60) {
            let len = if rng.one_in(3) { *rng.pick(&[0, 4, 5, 6, 8, 12]) } else { rng.below(40) };
            let kind =
                if rng.one_in(9) { crate::support::wire::PRIORITY_UPDATE } else { rng.below(11) as u8 };
            let (flags, stream) = (rng.byte(), rng.below(9) as u32);
            let payload = match kind {
                1 | 9 if rng.one_in(2) => crate::support::wire::get(),
                _ => rng.bytes(len),
            };
            input.extend(crate::support::frame(kind, flags, stream, &payload));
        }
        let mut rest = &input[..];
        while let Ok(received) = machine.receive(rest, Time::ZERO) {
            rest = &rest[received.consumed..];
            while machine.poll_notice().is_some() {}
            machine.check_invariants();
            if received.event.is_none() {
                break;
            }
        }
        let mut out = OutBuf::new();
        machine.poll_transmit(Time::ZERO, &mut out);
        crate::support::frames(out.unsent());
        assert!(machine.error().is_some() || rest.is_empty());
    }
}
