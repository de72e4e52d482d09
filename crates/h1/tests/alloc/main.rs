//! Nothing is allocated per request once the machines are warm. A binary of its own, for its allocator.

use alula_fields::{FieldSection, Head, Status};
use alula_h1::{
    Config, Connection, Event, Hole, Notice, Prepared, RequestHead, ResponseHead, Spelling, StreamKey,
};
use alula_machine::{OutBuf, Time};
use alula_testkit::{Tally, allocations};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

/// A client, a server, and the memory a driver would have for them.
struct Loop {
    client: Connection,
    server: Connection,
    up: OutBuf,
    down: OutBuf,
    request: FieldSection,
    response: FieldSection,
    of_length: FieldSection,
    prepared: Prepared,
    head: Head,
    content: Vec<u8>,
    round: u8,
    heard: usize,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Plain,
    Prepared,
    /// Content of a length, both ways.
    Length,
    /// Chunks and trailers, both ways.
    Chunks,
}

fn ten_fields() -> FieldSection {
    let mut fields = FieldSection::new();
    for (name, value) in [
        ("accept", "*/*"),
        ("accept-encoding", "gzip, br"),
        ("accept-language", "en"),
        ("user-agent", "alula/1.0"),
        ("authorization", "Bearer abcdefghijklmnop"),
        ("cookie", "session=0123456789abcdefghijklmnop"),
        ("x-request-source", "test"),
        ("x-own", "value"),
        ("cache-control", "no-cache"),
        ("referer", "https://a.example/"),
    ] {
        fields.append(name, value).unwrap();
    }
    fields
}

fn head<'a>(method: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method, scheme: "http", authority: "a.example", path: "/path", protocol: None, fields }
}

impl Loop {
    fn new(content: usize) -> Self {
        let (request, mut of_length) = (ten_fields(), ten_fields());
        of_length.append("content-length", content.to_string()).unwrap();
        let holes = [Hole::Path, Hole::Field("x-id")];
        let prepared = Prepared::new(&head("GET", &request), &holes, Spelling::Given).unwrap();
        Self {
            client: Connection::client(Config::default()),
            server: Connection::server(Config::default()),
            up: OutBuf::new(),
            down: OutBuf::new(),
            response: ten_fields(),
            request,
            of_length,
            prepared,
            head: Head::new(),
            content: vec![b'x'; content],
            round: 0,
            heard: 0,
        }
    }

    /// One exchange, to its end.
    fn run(&mut self, how: How) {
        self.ask(how);
        let stream = self.serve();
        self.answer(stream, how);
        self.hear();
        assert_eq!((self.client.in_flight(), self.server.in_flight()), (0, 0));
        assert!(self.client.is_idle() && self.server.is_idle());
    }

    fn ask(&mut self, how: How) {
        self.round = self.round % 90 + 1;
        let id = [b' ' + self.round];
        let Self { client, up, content, request, of_length, .. } = self;
        match how {
            How::Plain => {
                client.send_request(&head("GET", request), true, up).unwrap();
            }
            How::Prepared => {
                client.send_prepared(&self.prepared, &[b"/path", &id], true, up).unwrap();
            }
            How::Length => {
                let stream = client.send_request(&head("POST", of_length), false, up).unwrap();
                client.send_data(stream, content, true, up).unwrap();
            }
            How::Chunks => {
                let stream = client.send_request(&head("POST", request), false, up).unwrap();
                for part in content.chunks(100) {
                    client.send_data(stream, part, false, up).unwrap();
                }
                client.send_trailers(stream, request, up).unwrap();
            }
        }
    }

    /// What the server makes of what came up: the request is whole afterwards.
    fn serve(&mut self) -> StreamKey {
        let mut asked = None;
        let mut input = self.up.unsent();
        while let received = self.server.receive(input, Time::ZERO).unwrap()
            && let Some(event) = received.event
        {
            input = &input[received.consumed..];
            match event {
                Event::Head { stream, .. } => {
                    self.server.take_head(stream, &mut self.head).unwrap();
                    asked = Some(stream);
                }
                Event::Data { bytes, .. } => self.server.release_capacity(bytes.len() as u32),
                Event::Trailers { stream } => {
                    self.server.take_trailers(stream, &mut self.head.fields).unwrap();
                }
                _ => {}
            }
        }
        let left = input.len();
        let used = self.up.len() - left;
        self.up.consume(used);
        asked.unwrap()
    }

    fn answer(&mut self, stream: StreamKey, how: How) {
        let Self { server, down, content, response, of_length, .. } = self;
        let fields = if matches!(how, How::Chunks) { &*response } else { &*of_length };
        let head = ResponseHead { status: Status::OK, fields };
        server.send_response(stream, &head, false, down).unwrap();
        match how {
            How::Chunks => {
                for part in content.chunks(1000) {
                    server.send_data(stream, part, false, down).unwrap();
                }
                server.send_trailers(stream, response, down).unwrap();
            }
            _ => {
                server.send_data(stream, content, true, down).unwrap();
            }
        }
        while let Some(notice) = server.poll_notice() {
            assert_eq!(notice, Notice::Room);
        }
    }

    /// What the client makes of what came down.
    fn hear(&mut self) {
        self.heard = 0;
        let mut input = self.down.unsent();
        while let received = self.client.receive(input, Time::ZERO).unwrap()
            && let Some(event) = received.event
        {
            input = &input[received.consumed..];
            match event {
                Event::Head { stream, .. } => self.client.take_head(stream, &mut self.head).unwrap(),
                Event::Data { bytes, .. } => {
                    self.heard += bytes.len();
                    self.client.release_capacity(bytes.len() as u32);
                }
                Event::Trailers { stream } => {
                    self.client.take_trailers(stream, &mut self.head.fields).unwrap();
                    assert_eq!(self.head.fields.len(), 10);
                }
                _ => {}
            }
        }
        assert_eq!((input.len(), self.heard), (0, self.content.len()));
        self.down.clear();
        while let Some(notice) = self.client.poll_notice() {
            assert_eq!(notice, Notice::Room);
        }
    }
}

/// Exchanges after which nothing is allocated any more.
fn check(how: How, content: usize) {
    let mut warm = Loop::new(content);
    (0..5).for_each(|_| warm.run(how));
    let count = allocations(|| (0..100).for_each(|_| warm.run(how)));
    assert_eq!(count, 0, "{how:?}, {content} bytes");
}

#[test]
fn plain_requests_allocate_nothing() {
    check(How::Plain, 0);
    check(How::Plain, 1024);
    check(How::Plain, 100 * 1024);
}

#[test]
fn prepared_requests_allocate_nothing() {
    check(How::Prepared, 1024);
}

#[test]
fn content_of_a_length_allocates_nothing() {
    check(How::Length, 512);
    check(How::Length, 100 * 1024);
}

#[test]
fn chunks_and_trailers_allocate_nothing() {
    check(How::Chunks, 0);
    check(How::Chunks, 4096);
}

/// Requests that come at once are answered one by one; a client of ours does not send them, a peer does.
#[test]
fn pipelined_requests_allocate_nothing() {
    let mut warm = Loop::new(16);
    warm.ask(How::Plain);
    let one = warm.up.unsent().to_vec();
    let ten = one.repeat(10);
    warm.up.clear();
    let mut round = || {
        warm.up.extend(&ten);
        for _ in 0..10 {
            let stream = warm.serve();
            warm.answer(stream, How::Plain);
        }
        assert_eq!(warm.up.len(), 0);
        assert!(warm.server.is_idle());
        warm.down.clear();
    };
    (0..5).for_each(|_| round());
    assert_eq!(allocations(|| (0..20).for_each(|_| round())), 0);
}

/// Content that nobody wants is read and dropped.
#[test]
fn early_answers_allocate_nothing() {
    let mut warm = Loop::new(4096);
    let mut round = || {
        warm.ask(How::Chunks);
        let (head, content) = warm.up.unsent().split_at(600);
        let received = warm.server.receive(head, Time::ZERO).unwrap();
        let Some(Event::Head { stream, .. }) = received.event else { panic!("a request") };
        let fields = FieldSection::new();
        let answer = ResponseHead { status: Status::OK, fields: &fields };
        warm.server.send_response(stream, &answer, true, &mut warm.down).unwrap();
        warm.server.reset(stream);
        let mut input = &warm.up.unsent()[received.consumed..];
        assert!(input.len() > content.len());
        while let consumed = warm.server.receive(input, Time::ZERO).unwrap().consumed
            && consumed > 0
        {
            input = &input[consumed..];
        }
        assert!(input.is_empty() && warm.server.is_idle());
        while warm.server.poll_notice().is_some() {}
        warm.up.clear();
        warm.content.clear();
        warm.hear();
        warm.content.resize(4096, b'x');
    };
    (0..5).for_each(|_| round());
    assert_eq!(allocations(|| (0..20).for_each(|_| round())), 0);
}
