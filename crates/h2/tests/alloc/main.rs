//! Nothing is allocated per request once the machines are warm. A binary of its own, for its allocator.

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{Config, Connection, Event, Hole, Notice, Prepared, RequestHead, ResponseHead, StreamKey};
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
    prepared: Prepared,
    head: Head,
    trailers: FieldSection,
    content: Vec<u8>,
    /// Requests that have arrived, and how much of each answer is sent.
    waiting: Vec<(StreamKey, usize)>,
    round: u64,
    done: usize,
}

#[derive(Clone, Copy)]
enum How {
    Plain,
    Prepared,
    Upload,
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

fn head<'a>(method: &'a str, path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method, scheme: "https", authority: "a.example", path, protocol: None, fields }
}

impl Loop {
    fn new(content: usize) -> Self {
        let request = ten_fields();
        let prepared =
            Prepared::new(&head("GET", "/", &request), &[Hole::Path, Hole::Field("x-id")]).unwrap();
        Self {
            client: Connection::client(Config::default()),
            server: Connection::server(Config::default()),
            up: OutBuf::new(),
            down: OutBuf::new(),
            response: ten_fields(),
            request,
            prepared,
            head: Head::new(),
            trailers: FieldSection::new(),
            content: vec![b'x'; content],
            waiting: Vec::new(),
            round: 0,
            done: 0,
        }
    }

    /// So many requests at once, to their end.
    fn run(&mut self, in_flight: usize, how: How) {
        self.done = 0;
        for _ in 0..in_flight {
            self.ask(how);
        }
        while self.done < in_flight {
            self.turn();
        }
        assert_eq!((self.client.in_flight(), self.server.in_flight()), (0, 0));
    }

    fn ask(&mut self, how: How) {
        self.round += 1;
        let id = [b'0' + (self.round % 10) as u8, b'0' + (self.round / 10 % 10) as u8];
        match how {
            How::Plain => {
                let head = head("GET", "/path", &self.request);
                self.client.send_request(&head, true, &mut self.up).unwrap();
            }
            How::Prepared => {
                self.client.send_prepared(&self.prepared, &[b"/path", &id], true, &mut self.up).unwrap();
            }
            How::Upload => {
                let head = head("POST", "/path", &self.request);
                let stream = self.client.send_request(&head, false, &mut self.up).unwrap();
                assert_eq!(
                    self.client.send_data(stream, &self.content, true, &mut self.up),
                    Ok(self.content.len())
                );
            }
        }
    }

    fn turn(&mut self) {
        self.client.poll_transmit(Time::ZERO, &mut self.up);
        self.serve();
        self.server.poll_transmit(Time::ZERO, &mut self.down);
        self.read();
        self.up.clear();
        self.down.clear();
    }

    fn serve(&mut self) {
        let mut input = self.up.unsent();
        loop {
            let received = self.server.receive(input, Time::ZERO).unwrap();
            input = &input[received.consumed..];
            match received.event {
                Some(Event::Head { stream, end }) => {
                    self.server.take_head(stream, &mut self.head).unwrap();
                    assert!(self.head.fields.len() >= 10);
                    if end {
                        self.waiting.push((stream, 0));
                    }
                }
                Some(Event::Data { stream, bytes, end }) => {
                    self.server.release_capacity(stream, bytes.len() as u32).unwrap();
                    if end {
                        self.waiting.push((stream, 0));
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        while self.server.poll_notice().is_some() {}
        let (server, content, response, down) =
            (&mut self.server, &self.content, &self.response, &mut self.down);
        self.waiting.retain_mut(|(stream, sent)| {
            if *sent == 0 {
                let head = ResponseHead { status: Status::OK, fields: response };
                // Refused if it was sent in an earlier turn, in which no window was left for content.
                let _ = server.send_response(*stream, &head, false, down);
            }
            *sent += server.send_data(*stream, &content[*sent..], false, down).unwrap();
            if *sent < content.len() {
                return true;
            }
            server.send_trailers(*stream, response, down).unwrap();
            false
        });
    }

    fn read(&mut self) {
        let mut input = self.down.unsent();
        loop {
            let received = self.client.receive(input, Time::ZERO).unwrap();
            input = &input[received.consumed..];
            match received.event {
                Some(Event::Head { stream, .. }) => self.client.take_head(stream, &mut self.head).unwrap(),
                Some(Event::Data { stream, bytes, .. }) => {
                    self.client.release_capacity(stream, bytes.len() as u32).unwrap();
                }
                Some(Event::Trailers { stream }) => {
                    self.client.take_trailers(stream, &mut self.trailers).unwrap();
                    assert_eq!(self.trailers.len(), 10);
                    self.done += 1;
                }
                Some(_) => {}
                None => break,
            }
        }
        while let Some(notice) = self.client.poll_notice() {
            assert!(!matches!(notice, Notice::Reset { .. } | Notice::Closed(_)), "{notice:?}");
        }
    }
}

fn check(how: How, content: usize) {
    for in_flight in [1, 7, 100] {
        let mut warm = Loop::new(content);
        for _ in 0..20 {
            warm.run(in_flight, how);
        }
        let count = allocations(|| (0..50).for_each(|_| warm.run(in_flight, how)));
        assert_eq!(count, 0, "{in_flight} in flight, {content} bytes");
    }
}

#[test]
fn plain_requests_allocate_nothing() {
    check(How::Plain, 0);
    check(How::Plain, 1024);
}

#[test]
fn large_responses_allocate_nothing() {
    check(How::Plain, 100 * 1024);
}

#[test]
fn prepared_requests_allocate_nothing() {
    check(How::Prepared, 0);
}

#[test]
fn uploads_allocate_nothing() {
    check(How::Upload, 512);
}

#[test]
fn resets_allocate_nothing() {
    let mut warm = Loop::new(0);
    let round = |warm: &mut Loop| {
        let head = head("POST", "/path", &warm.request);
        let stream = warm.client.send_request(&head, false, &mut warm.up).unwrap();
        warm.client.forget(stream);
        warm.client.poll_transmit(Time::ZERO, &mut warm.up);
        let mut input = warm.up.unsent();
        while let received = warm.server.receive(input, Time::ZERO).unwrap()
            && received.event.is_some()
        {
            input = &input[received.consumed..];
        }
        while let Some(notice) = warm.server.poll_notice() {
            if let Notice::Reset { stream, .. } = notice {
                warm.server.forget(stream);
            }
        }
        warm.up.clear();
        warm.server.poll_transmit(Time::ZERO, &mut warm.down);
        warm.down.clear();
    };
    (0..50).for_each(|_| round(&mut warm));
    assert_eq!(allocations(|| (0..100).for_each(|_| round(&mut warm))), 0);
    assert_eq!(warm.server.counters().resets_in, 150);
}
