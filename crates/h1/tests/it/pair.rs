//! Random operations on a client and a server with a pipe between them that cuts anywhere: what was sent
//! arrives, once and in order; nobody breaks a rule; and in the end both are idle or closed.

use alula_fields::{FieldSection, Head, Status};
use alula_h1::{
    Config, Connection, ConnectionError, Event, Hole, Notice, Prepared, RequestHead, ResponseHead, SendError,
    Spelling, StreamKey,
};
use alula_machine::{OutBuf, Time};
use alula_testkit::Rng;

/// A message as one side sent it, or as the other has it so far.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Message {
    /// The path of a request, the status of a response.
    name: String,
    content: Vec<u8>,
    has_trailers: bool,
    is_whole: bool,
}

/// How a message that is being sent ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Ending {
    /// After so many bytes.
    Length(usize),
    Chunks,
    Trailers,
    #[default]
    Nothing,
}

struct Side {
    machine: Connection,
    out: OutBuf,
    input: Vec<u8>,
    /// The exchange under way, as far as this side knows of it.
    stream: Option<StreamKey>,
    sent: Vec<Message>,
    received: Vec<Message>,
    interim: usize,
    ending: Ending,
    /// This side does not want the rest of what it receives.
    has_given_up: bool,
    given_up: usize,
    has_heard_end: bool,
}

impl Side {
    fn new(machine: Connection) -> Self {
        Self {
            machine,
            out: OutBuf::new(),
            input: Vec::new(),
            stream: None,
            sent: Vec::new(),
            received: Vec::new(),
            interim: 0,
            ending: Ending::Nothing,
            has_given_up: false,
            given_up: 0,
            has_heard_end: false,
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        let mut input = std::mem::take(&mut self.input);
        input.extend_from_slice(bytes);
        let mut used = 0;
        while let Ok(received) = self.machine.receive(&input[used..], Time::ZERO) {
            assert!(received.consumed <= input.len() - used);
            used += received.consumed;
            let has_event = received.event.is_some();
            received.event.into_iter().for_each(|event| self.event(event));
            self.notices();
            if !has_event && received.consumed == 0 {
                break;
            }
        }
        self.input = input[used..].to_vec();
        self.notices();
    }

    fn receive_end(&mut self) {
        if !std::mem::replace(&mut self.has_heard_end, true)
            && let Ok(Some(event)) = self.machine.receive_end(Time::ZERO)
        {
            self.event(event);
        }
        self.notices();
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => self.head(stream, end),
            Event::Interim { stream } => {
                self.machine.take_head(stream, &mut Head::new()).unwrap();
                self.interim += 1;
            }
            Event::Data { bytes, end, .. } => {
                assert!(!self.has_given_up, "nobody wants this");
                self.machine.release_capacity(bytes.len() as u32);
                let message = self.received.last_mut().unwrap();
                message.content.extend_from_slice(bytes);
                message.is_whole = end;
            }
            Event::Trailers { stream } => {
                let mut trailers = FieldSection::new();
                self.machine.take_trailers(stream, &mut trailers).unwrap();
                assert_eq!(trailers.get("x-sum"), Some(&b"1"[..]));
                let message = self.received.last_mut().unwrap();
                (message.has_trailers, message.is_whole) = (true, true);
            }
            _ => {}
        }
    }

    fn head(&mut self, stream: StreamKey, end: bool) {
        let mut head = Head::new();
        self.machine.take_head(stream, &mut head).unwrap();
        let status = head.status().map(|status| status.as_u16().to_string());
        let name = status.or(head.path().map(String::from)).unwrap();
        self.stream = Some(stream);
        self.has_given_up = false;
        self.received.push(Message { name, is_whole: end, ..Message::default() });
    }

    fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            if let Notice::Room = notice {
                assert!(self.machine.is_idle());
            }
        }
        self.machine.check_invariants();
    }

    fn transmit(&mut self) {
        self.machine.poll_transmit(&mut self.out);
    }

    /// Nothing is under way, and the other side has been told.
    fn has_ended(&self) -> bool {
        (self.machine.is_idle() || self.machine.is_closed())
            && self.out.is_empty()
            && !self.machine.wants_write()
    }

    fn is_sending(&self) -> bool {
        self.stream.is_some_and(|stream| self.machine.has_sent_all(stream) == Some(false))
            && self.ending != Ending::Nothing
            && self.machine.error().is_none()
    }

    /// Sends some of what is to be sent, and perhaps its end.
    fn send(&mut self, rng: &mut Rng) {
        if !self.is_sending() {
            return;
        }
        let stream = self.stream.unwrap();
        let len = rng.below(200);
        let bytes: Vec<u8> = match self.ending {
            Ending::Length(left) => rng.bytes(len.min(left)),
            _ => rng.bytes(len),
        };
        let end = match self.ending {
            Ending::Length(left) => left == bytes.len(),
            _ => rng.one_in(4),
        };
        let has_trailers = end && self.ending == Ending::Trailers;
        let sent = self.machine.send_data(stream, &bytes, end && !has_trailers, &mut self.out);
        assert_eq!(sent, Ok(bytes.len()));
        if has_trailers {
            self.machine.send_trailers(stream, &trailers(), &mut self.out).unwrap();
        }
        if let Ending::Length(left) = &mut self.ending {
            *left -= bytes.len();
        }
        let message = self.sent.last_mut().unwrap();
        message.content.extend_from_slice(&bytes);
        (message.has_trailers, message.is_whole) = (has_trailers, end);
        if end {
            self.ending = Ending::Nothing;
        }
        self.notices();
    }
}

fn trailers() -> FieldSection {
    let mut fields = FieldSection::new();
    fields.append("x-sum", "1").unwrap();
    fields
}

/// Fields that state a length, if there is one.
fn fields(ending: Ending) -> FieldSection {
    let mut fields = FieldSection::new();
    fields.append("x-own", "value").unwrap();
    if let Ending::Length(length) = ending {
        fields.append("content-length", length.to_string()).unwrap();
    }
    fields
}

fn head<'a>(method: &'a str, path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method, scheme: "http", authority: "a.example", path, protocol: None, fields }
}

fn any_ending(rng: &mut Rng) -> Ending {
    match rng.below(4) {
        0 => Ending::Length(rng.range(1..400)),
        1 => Ending::Chunks,
        2 => Ending::Trailers,
        _ => Ending::Nothing,
    }
}

struct World {
    client: Side,
    server: Side,
    up: Vec<u8>,
    down: Vec<u8>,
    prepared: Prepared,
    /// What each request was asked with.
    methods: Vec<&'static str>,
    /// A side has said that it takes no more, or has cut something.
    is_going: bool,
    is_cut: bool,
    interim: usize,
    /// How many of them came before the answer that is due.
    interim_here: usize,
}

impl World {
    fn new() -> Self {
        let empty = FieldSection::new();
        let holes = [Hole::Path, Hole::Field("x-id")];
        Self {
            client: Side::new(Connection::client(Config::default())),
            server: Side::new(Connection::server(Config::default())),
            up: Vec::new(),
            down: Vec::new(),
            prepared: Prepared::new(&head("GET", "/", &empty), &holes, Spelling::Given).unwrap(),
            methods: Vec::new(),
            is_going: false,
            is_cut: false,
            interim: 0,
            interim_here: 0,
        }
    }

    fn step(&mut self, rng: &mut Rng) {
        match rng.below(20) {
            0..4 => self.ask(rng),
            4..6 => self.client.send(rng),
            6..9 => self.answer(rng),
            9..11 => self.server.send(rng),
            11 => self.interim(),
            12 if rng.one_in(20) => self.give_up(rng),
            13 if rng.one_in(40) => self.go_away(rng),
            _ => self.carry(rng),
        }
    }

    fn ask(&mut self, rng: &mut Rng) {
        let side = &mut self.client;
        let before = (side.out.len(), side.machine.in_flight());
        let path = format!("/{}", self.methods.len());
        let (method, ending) = match rng.below(4) {
            0 => ("GET", Ending::Nothing),
            1 => ("HEAD", Ending::Nothing),
            _ => ("POST", any_ending(rng)),
        };
        let end = ending == Ending::Nothing;
        let is_prepared = method == "GET" && rng.one_in(2);
        let asked = if is_prepared {
            side.machine.send_prepared(&self.prepared, &[path.as_bytes(), b"17"], true, &mut side.out)
        } else {
            side.machine.send_request(&head(method, &path, &fields(ending)), end, &mut side.out)
        };
        match asked {
            Ok(stream) => {
                self.methods.push(method);
                side.stream = Some(stream);
                side.has_given_up = false;
                side.ending = ending;
                side.sent.push(Message { name: path, is_whole: end, ..Message::default() });
            }
            Err(error) => {
                assert_eq!((side.out.len(), side.machine.in_flight()), before, "a refusal changes nothing");
                let is_known = matches!(error, SendError::Busy | SendError::GoingAway | SendError::Closed);
                assert!(is_known, "{error:?}");
            }
        }
    }

    /// Returns true if a request is here that has no answer.
    fn is_asked(&self) -> bool {
        self.server.received.len() > self.server.sent.len()
            && self.server.machine.error().is_none()
            && self.server.machine.in_flight() == 1
    }

    fn answer(&mut self, rng: &mut Rng) {
        if !self.is_asked() {
            return;
        }
        let number = self.server.sent.len();
        let (method, side) = (self.methods[number], &mut self.server);
        let ending = if method == "HEAD" { Ending::Nothing } else { any_ending(rng) };
        let end = ending == Ending::Nothing;
        let status = 200 + (number % 3) as u16;
        let (status, stream) = (Status::new(status).unwrap(), side.stream.unwrap());
        let fields = fields(ending);
        side.machine
            .send_response(stream, &ResponseHead { status, fields: &fields }, end, &mut side.out)
            .unwrap();
        self.interim_here = 0;
        side.ending = ending;
        side.sent.push(Message { name: status.as_u16().to_string(), is_whole: end, ..Message::default() });
        side.notices();
    }

    fn interim(&mut self) {
        // As many as the other side takes.
        if self.is_asked() && self.interim_here < 16 {
            let (fields, side) = (FieldSection::new(), &mut self.server);
            let head = ResponseHead { status: Status::new(103).unwrap(), fields: &fields };
            side.machine.send_interim(side.stream.unwrap(), &head, &mut side.out).unwrap();
            self.interim += 1;
            self.interim_here += 1;
        }
    }

    fn give_up(&mut self, rng: &mut Rng) {
        let side = if rng.one_in(2) { &mut self.client } else { &mut self.server };
        let Some(stream) = side.stream.filter(|_| side.machine.in_flight() == 1) else { return };
        side.machine.reset(stream);
        side.has_given_up = true;
        side.given_up += 1;
        self.is_cut |= side.machine.error().is_some();
        // A server that hangs up leaves the client to find out.
        self.is_cut |= side.machine.is_closed();
        side.notices();
    }

    fn go_away(&mut self, rng: &mut Rng) {
        let side = if rng.one_in(2) { &mut self.client } else { &mut self.server };
        side.machine.goaway();
        side.notices();
        self.is_going = true;
    }

    /// Moves some bytes each way.
    fn carry(&mut self, rng: &mut Rng) {
        let Self { client, server, up, down, .. } = self;
        carry_some(client, server, up, rng);
        carry_some(server, client, down, rng);
        for side in [&self.client, &self.server] {
            let is_alright = match side.machine.error() {
                None | Some(ConnectionError::PeerClosed) => true,
                Some(ConnectionError::GivenUp) => self.is_cut || side.has_given_up,
                Some(ConnectionError::Unanswered { .. }) => self.is_cut || self.is_going,
                Some(_) => self.is_cut,
            };
            assert!(
                is_alright,
                "{:?} {:?} {} {}",
                self.client.machine.error(),
                self.server.machine.error(),
                self.client.has_given_up,
                self.server.has_given_up
            );
            self.is_cut |= side.has_given_up && side.machine.error().is_some();
        }
    }

    /// Ends everything, and checks that it adds up.
    fn finish(&mut self, rng: &mut Rng) {
        for _ in 0..5000 {
            let is_quiet = self.up.is_empty() && self.down.is_empty() && !self.is_asked();
            if is_quiet && [&self.client, &self.server].iter().all(|side| side.has_ended()) {
                break;
            }
            self.carry(rng);
            self.client.send(rng);
            self.server.send(rng);
            if rng.one_in(8) {
                self.answer(rng);
            }
        }
        for side in [&self.client, &self.server] {
            assert!(side.has_ended(), "something goes on");
        }
        self.check_messages();
    }

    fn check_messages(&self) {
        let exchanges = self.methods.len();
        for (from, to) in [(&self.client, &self.server), (&self.server, &self.client)] {
            assert!(
                to.received.len() <= from.sent.len() && from.sent.len() <= exchanges,
                "nothing is doubled"
            );
            let last = from.sent.len().saturating_sub(1);
            for (at, sent) in from.sent.iter().enumerate() {
                let Some(received) = to.received.get(at) else {
                    assert!(at == last && (self.is_cut || self.is_going), "message {at} is lost");
                    continue;
                };
                assert_eq!(received.name, sent.name);
                assert!(sent.content.starts_with(&received.content), "message {at}");
                // What was given up may be less.
                if received.is_whole {
                    assert_eq!(received, sent, "message {at}");
                }
            }
        }
        if !self.is_cut && !self.is_going && !self.client.machine.is_closed() {
            assert_eq!((self.client.received.len(), self.server.received.len()), (exchanges, exchanges));
            assert_eq!(self.client.interim, self.interim, "interim responses");
            for side in [&self.client, &self.server] {
                let parts = side.received.iter().filter(|message| !message.is_whole).count();
                assert!(parts <= side.given_up, "{parts} messages are not whole");
            }
        }
    }
}

/// Moves some of what `from` has for `to`, and then the end of `from`.
fn carry_some(from: &mut Side, to: &mut Side, pipe: &mut Vec<u8>, rng: &mut Rng) {
    from.transmit();
    pipe.extend_from_slice(from.out.unsent());
    from.out.clear();
    let some = if rng.one_in(3) { pipe.len() } else { rng.below(pipe.len() + 1) };
    let bytes: Vec<u8> = pipe.drain(..some).collect();
    to.receive(&bytes);
    if pipe.is_empty() && from.machine.is_closed() {
        to.receive_end();
    }
}

#[test]
fn nothing_is_lost_or_doubled() {
    let (mut exchanges, mut cut, mut going, mut whole) = (0, 0, 0, 0);
    for seed in 0..2500 {
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        for _ in 0..rng.range(20..600) {
            world.step(&mut rng);
        }
        world.finish(&mut rng);
        exchanges += world.client.received.len();
        whole += world.client.received.iter().chain(&world.server.received).filter(|it| it.is_whole).count();
        cut += usize::from(world.is_cut);
        going += usize::from(world.is_going);
    }
    println!(
        "{exchanges} exchanges, {whole} whole messages; {cut} of 2500 connections cut, {going} gone away"
    );
    assert!(exchanges > 10_000 && whole > 20_000 && cut > 200 && going > 200);
}
