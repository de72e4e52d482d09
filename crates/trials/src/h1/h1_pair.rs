//! Operations on a client and a server of HTTP/1.1 with a pipe between them that cuts, and may be damaged. As
//! long as it is not, all that was sent arrives, once and in order, and nobody breaks a rule.

use std::time::Duration;

use alula_fields::{FieldSection, Status};
use alula_h1::{
    Config, Connection, ConnectionError, Hole, Prepared, RequestHead, ResponseHead, SendError, Spelling,
};
use alula_machine::Time;

use super::h1_side::{Ending, Message, Side};
use crate::input::{Input, part_of};

/// Bytes as a configuration, and then as operations.
pub fn h1_pair(data: &[u8]) {
    run(data, true);
}

/// Plays the same with a pipe that is never damaged and no deadline that passes, and returns the number of
/// whole messages and whether a side gave up or went away.
pub fn h1_peers(data: &[u8]) -> (usize, bool) {
    let world = run(data, false);
    let messages = world.client.received.iter().chain(&world.server.received);
    (messages.filter(|message| message.is_whole).count(), world.is_cut || world.is_going)
}

fn run(data: &[u8], has_harm: bool) -> World {
    let mut input = Input::new(data);
    let mut world = World::new(&mut input);
    while !input.is_empty() {
        world.step(&mut input, has_harm);
        world.check_errors();
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
    prepared: Prepared,
    /// What each request was asked with.
    methods: Vec<&'static str>,
    /// A side has cut something; then the last messages may be missing.
    is_cut: bool,
    /// A side takes no more; then the last request may have no answer.
    is_going: bool,
    /// The peer may have been made to say anything.
    is_damaged: bool,
    /// The number of those before the answer that is due.
    interim: usize,
    /// The number of all of them.
    interim_sent: usize,
}

fn head<'a>(method: &'a str, path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method, scheme: "http", authority: "a.example", path, protocol: None, fields }
}

/// A field, and one that states a length if there is one.
fn fields(ending: Ending) -> FieldSection {
    let mut fields = FieldSection::new();
    fields.append("x-own", "value").expect("a good field");
    if let Ending::Length(length) = ending {
        fields.append("content-length", length.to_string()).expect("a good field");
    }
    fields
}

fn any_ending(input: &mut Input<'_>) -> Ending {
    match input.below(4) {
        0 => Ending::Nothing,
        1 => Ending::Chunks,
        2 => Ending::Trailers,
        _ => Ending::Length(1 + input.below(512)),
    }
}

impl World {
    fn new(input: &mut Input<'_>) -> Self {
        let spelling = *input.pick(&[Spelling::Given, Spelling::Canonical, Spelling::Lower]);
        let config = Config { spelling, absolute_targets: input.flag(), ..Config::default() };
        let prepared = Prepared::new(&head("GET", "/", &fields(Ending::Nothing)), &[Hole::Path], spelling);
        Self {
            client: Side::new(Connection::client(config.clone())),
            server: Side::new(Connection::server(config)),
            up: Vec::new(),
            down: Vec::new(),
            now: Time::ZERO,
            prepared: prepared.expect("a good request"),
            methods: Vec::new(),
            is_cut: false,
            is_going: false,
            is_damaged: false,
            interim: 0,
            interim_sent: 0,
        }
    }

    fn step(&mut self, input: &mut Input<'_>, has_harm: bool) {
        match input.below(20) {
            0..3 => self.ask(input),
            3 | 4 => self.client.send(usize::from(input.byte()), input.byte() < 64),
            5..8 => self.answer(input),
            8 | 9 => self.server.send(usize::from(input.byte()), input.byte() < 64),
            10 => self.interim(),
            // Peers that mean no harm seldom end anything, so that they come far.
            11 if has_harm || input.byte() < 16 => self.end(input),
            12 if has_harm => self.pass(input),
            13 if has_harm => self.damage(input),
            _ => self.carry(input.byte(), input.byte()),
        }
        self.client.notices();
        self.server.notices();
    }

    fn ask(&mut self, input: &mut Input<'_>) {
        let choice = input.below(4);
        let (method, ending) = match choice {
            0 | 1 => ("GET", Ending::Nothing),
            2 => ("HEAD", Ending::Nothing),
            _ => ("POST", any_ending(input)),
        };
        let (path, end, side) =
            (format!("/{}", self.methods.len()), ending == Ending::Nothing, &mut self.client);
        let before = (side.out.len(), side.machine.in_flight());
        let asked = match choice {
            0 => side.machine.send_prepared(&self.prepared, &[path.as_bytes()], true, &mut side.out),
            _ => side.machine.send_request(&head(method, &path, &fields(ending)), end, &mut side.out),
        };
        match asked {
            Ok(stream) => {
                self.methods.push(method);
                (side.stream, side.ending, side.has_given_up) = (Some(stream), ending, false);
                side.sent.push(Message::begun(path, end));
            }
            Err(error) => {
                assert_eq!((side.out.len(), side.machine.in_flight()), before, "a refusal changes nothing");
                assert!(
                    matches!(error, SendError::Busy | SendError::GoingAway | SendError::Closed),
                    "{error:?}"
                );
            }
        }
    }

    /// Returns true if a request is here that has no answer.
    fn is_asked(&self) -> bool {
        let side = &self.server;
        let is_open = side.machine.error().is_none() && side.machine.in_flight() == 1;
        is_open && side.received.len() > side.sent.len()
    }

    fn answer(&mut self, input: &mut Input<'_>) {
        if !self.is_asked() {
            return;
        }
        let (number, side) = (self.server.sent.len(), &mut self.server);
        let has_none = self.is_damaged || self.methods[number] == "HEAD";
        let ending = if has_none { Ending::Nothing } else { any_ending(input) };
        let (end, status) = (ending == Ending::Nothing, Status::new(200 + (number % 3) as u16));
        let (status, stream) = (status.expect("three digits"), side.stream.expect("a request"));
        let answer = ResponseHead { status, fields: &fields(ending) };
        let sent = side.machine.send_response(stream, &answer, end, &mut side.out);
        assert_eq!(sent, Ok(()), "a request can be answered");
        self.interim = 0;
        side.ending = ending;
        side.sent.push(Message::begun(status.as_u16().to_string(), end));
    }

    /// As many interim responses as a client takes.
    fn interim(&mut self) {
        if self.is_asked() && self.interim < 16 {
            let (fields, side) = (FieldSection::new(), &mut self.server);
            let head = ResponseHead { status: Status::new(103).expect("three digits"), fields: &fields };
            let sent = side.machine.send_interim(side.stream.expect("a request"), &head, &mut side.out);
            assert_eq!(sent, Ok(()), "a request can be told about");
            self.interim += 1;
            self.interim_sent += 1;
        }
    }

    /// Gives up what is under way, goes away, or closes.
    fn end(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let side = if input.flag() { &mut self.client } else { &mut self.server };
        match choice {
            0..16 => {
                side.machine.close();
                self.is_cut = true;
            }
            16..48 => {
                side.machine.goaway();
                self.is_going = true;
            }
            48..128 => {
                let Some(stream) = side.stream.filter(|_| side.machine.in_flight() == 1) else { return };
                side.machine.reset(stream);
                side.has_given_up = true;
                self.is_cut = true;
            }
            _ => {}
        }
    }

    fn pass(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(Duration::from_millis(u64::from(input.byte()) * 16));
        for side in [&mut self.client, &mut self.server] {
            // A deadline that has passed is no damage to the pipe, but a server may say 408 then.
            self.is_damaged |= side.machine.poll_timeout().is_some_and(|due| due <= self.now);
            side.machine.handle_timeout(self.now);
        }
    }

    /// Changes what is in the pipe: flips a bit, loses bytes, or doubles some.
    fn damage(&mut self, input: &mut Input<'_>) {
        let wire = if input.flag() { &mut self.up } else { &mut self.down };
        let kind = input.byte();
        // Most of the time the pipe is good, or most trials would be about nothing else.
        if kind < 192 {
            return;
        }
        let at = input.below(wire.len() + 1);
        match kind % 3 {
            0 => wire.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (kind & 7)),
            1 => drop(wire.drain(at..)),
            _ => wire.extend_from_within(at..wire.len().min(at + 64)),
        }
        self.is_damaged = true;
    }

    /// Moves some bytes each way: so many in 160.
    fn carry(&mut self, up: u8, down: u8) {
        let Self { client, server, now, .. } = self;
        carry_some(up, client, server, &mut self.up, *now);
        carry_some(down, server, client, &mut self.down, *now);
    }

    /// Nobody breaks a rule, or is cut off, as long as nobody cuts.
    fn check_errors(&self) {
        for error in [&self.client, &self.server].into_iter().filter_map(|side| side.machine.error()) {
            let is_known = match error {
                ConnectionError::PeerClosed => true,
                ConnectionError::Unanswered { .. } => self.is_cut || self.is_going,
                _ => self.is_cut,
            };
            assert!(self.is_damaged || is_known, "{error:?}");
        }
    }

    /// Ends everything, and checks that it adds up.
    fn finish(&mut self) {
        for _ in 0..8 * (self.methods.len() + 2) {
            self.carry(255, 255);
            self.client.send(0, true);
            self.server.send(0, true);
            self.answer(&mut Input::new(&[]));
            self.check_errors();
        }
        if self.is_damaged {
            return;
        }
        assert!(self.client.has_ended() && self.server.has_ended(), "something goes on");
        for (from, to) in [(&self.client, &self.server), (&self.server, &self.client)] {
            self.check_messages(&from.sent, &to.received);
        }
        let is_whole = !self.is_cut && !self.is_going;
        assert!(!is_whole || self.client.interim == self.interim_sent, "interim responses");
    }

    fn check_messages(&self, sent: &[Message], received: &[Message]) {
        assert!(received.len() <= sent.len() && sent.len() <= self.methods.len(), "nothing is doubled");
        let may_miss = self.is_cut || self.is_going;
        assert!(received.len() + usize::from(may_miss) >= sent.len(), "nothing is lost");
        for (sent, received) in sent.iter().zip(received) {
            assert_eq!(received.name, sent.name);
            assert!(sent.content.starts_with(&received.content), "{}", sent.name);
            assert!(received == sent || may_miss && !received.is_whole, "{}", sent.name);
        }
    }
}

/// Moves some of what `from` has for `to`, and then the end of `from`.
fn carry_some(part: u8, from: &mut Side, to: &mut Side, pipe: &mut Vec<u8>, now: Time) {
    from.machine.poll_transmit(&mut from.out);
    pipe.extend_from_slice(from.out.unsent());
    from.out.clear();
    let bytes: Vec<u8> = pipe.drain(..part_of(pipe.len(), part)).collect();
    to.receive(&bytes, now);
    if pipe.is_empty() && from.machine.is_closed() {
        to.receive_end(now);
    }
}
