//! Heads made, written and read by the machines, without a socket.

use std::hint::black_box;

use alula_fields::{FieldSection, Head, IntoName, KnownName, Status};
use alula_h2::{Config, Connection, Event, Prepared, RequestHead};
use alula_machine::{OutBuf, Time};
use alula_testkit::lists::CREATED;
use alula_testkit::traffic::{self, Traffic};

use crate::memory::heads;
use crate::peers::http1;
use crate::workload::{Run, Workload};

/// All of them: requests by the HTTP/2 machine, for which nghttp2 is given names as text and h2 constants,
/// then heads by the HTTP/1.1 machine.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("created-alone", 2000, "make and write a request with 8 fields", || {
        created(CREATED, write_plain)
    })
    .within("write_plain"),
    Workload::new("created-alone-known", 2000, "the same, fields by constants", || {
        created(known(), write_known)
    })
    .within("write_known")
    .beside("names known"),
    Workload::new("created-alone-prepared", 2000, "the same, prepared", prepared).within("write_prepared"),
    Workload::new("created", 2000, "make and write a request with 8 fields, and take its 204", || {
        created(CREATED, write_plain)
    })
    .beside("names as text"),
    Workload::new("created-known", 2000, "the same, fields by constants", || created(known(), write_known))
        .beside("names known"),
    Workload::new("created-prepared", 2000, "the same, prepared", prepared),
    Workload::new("h1-read-proxied", 1000, "read the head of a proxy's request over HTTP/1.1", || {
        heads::read_requests(texts(proxied))
    })
    .within("read_head"),
    Workload::new(
        "h1-read-answers",
        1000,
        "read the head of an answer with 10 fields over HTTP/1.1, new each time",
        || heads::read_answers(texts(answer)),
    )
    .within("read_head"),
    Workload::new(
        "h1-write-varied",
        1000,
        "write a request with 10 fields over HTTP/1.1, ids new each time",
        heads::write_requests,
    )
    .within("write_request"),
];

/// The texts of heads, each made of its number.
fn texts(text: fn(usize) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..heads::HEADS).map(text).collect()
}

fn proxied(number: usize) -> Vec<u8> {
    http1::head(Traffic::Proxied, number, "127.0.0.1:55883").into_bytes()
}

fn answer(number: usize) -> Vec<u8> {
    http1::answer(&traffic::answer(number), 0)
}

/// Name and value by text, or the name by a constant.
type Texts = [(&'static str, &'static str); 8];
type Constants = [(KnownName, &'static str); 8];

/// The names as constants.
fn known() -> Constants {
    CREATED.map(|(name, value)| (KnownName::lookup(name.as_bytes()).expect("a known name"), value))
}

fn created<P: 'static>(pairs: P, write: fn(&mut Established, &mut FieldSection, &P)) -> Run {
    let mut connection = Established::new();
    let mut fields = FieldSection::new();
    Box::new(move |count| {
        for _ in 0..count {
            write(&mut connection, &mut fields, black_box(&pairs));
            connection.answer();
        }
    })
}

fn prepared() -> Run {
    let mut connection = Established::new();
    let mut fields = FieldSection::new();
    fields.extend_pairs(CREATED).expect("valid fields");
    let prepared = Prepared::new(&head(&fields), &[]).expect("a valid request");
    Box::new(move |count| {
        for _ in 0..count {
            write_prepared(&mut connection, black_box(&prepared));
            connection.answer();
        }
    })
}

#[inline(never)]
fn write_plain(connection: &mut Established, fields: &mut FieldSection, pairs: &Texts) {
    write(connection, fields, pairs);
}

#[inline(never)]
fn write_known(connection: &mut Established, fields: &mut FieldSection, pairs: &Constants) {
    write(connection, fields, pairs);
}

#[inline(always)]
fn write<N: IntoName<'static> + Copy>(
    connection: &mut Established,
    fields: &mut FieldSection,
    pairs: &[(N, &'static str); 8],
) {
    fields.clear();
    for (name, value) in *pairs {
        fields.append(name, value).expect("a valid field");
    }
    connection.out.clear();
    let sent = connection.client.send_request(&head(fields), true, &mut connection.out);
    sent.expect("the machine takes a request");
    black_box(connection.out.unsent());
}

#[inline(never)]
fn write_prepared(connection: &mut Established, prepared: &Prepared) {
    connection.out.clear();
    let sent = connection.client.send_prepared(prepared, &[], true, &mut connection.out);
    sent.expect("the machine takes a request");
    black_box(connection.out.unsent());
}

fn head(fields: &FieldSection) -> RequestHead<'_> {
    let (method, scheme, authority, path) = black_box(("GET", "http", "example.com", "/static/app"));
    RequestHead { method, scheme, authority, path, protocol: None, fields }
}

/// A client's machine, and a peer that answers 204.
struct Established {
    client: Connection,
    out: OutBuf,
    head: Head,
    /// HEADERS with END_STREAM and END_HEADERS: `:status: 204` by its index. The stream is filled in.
    answer: [u8; 10],
    stream: u32,
}

impl Established {
    fn new() -> Self {
        let (mut client, mut out) = (Connection::client(Config::default()), OutBuf::with_capacity(4096));
        client.poll_transmit(Time::ZERO, &mut out);
        let settings_and_ack = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0];
        let mut input = &settings_and_ack[..];
        while !input.is_empty() {
            input = &input[client.receive(input, Time::ZERO).expect("valid frames").consumed..];
        }
        client.poll_transmit(Time::ZERO, &mut out);
        Self { client, out, head: Head::new(), answer: [0, 0, 1, 1, 5, 0, 0, 0, 0, 0x89], stream: 1 }
    }

    #[inline(always)]
    fn answer(&mut self) {
        self.answer[5..9].copy_from_slice(&self.stream.to_be_bytes());
        self.stream += 2;
        let mut input = black_box(&self.answer[..]);
        loop {
            let received = self.client.receive(input, Time::ZERO).expect("a valid frame");
            input = &input[received.consumed..];
            match received.event {
                Some(Event::Head { stream, .. }) => {
                    self.client.take_head(stream, &mut self.head).expect("a head")
                }
                Some(_) => {}
                None => break,
            }
        }
        while let Some(notice) = self.client.poll_notice() {
            black_box(notice);
        }
        assert_eq!(self.head.status(), Some(Status::NO_CONTENT));
        self.client.poll_transmit(Time::ZERO, &mut self.out);
    }
}
