//! One request made and written by the HTTP/2 machine, without a socket.

use std::hint::black_box;

use alula_fields::{FieldSection, Head, IntoName, KnownName, OutBuf, Status, Time};
use alula_h2::{Config, Connection, Event, Prepared, RequestHead};

use crate::lists::CREATED;
use crate::workload::{Run, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("created", 2000, "make and write a request with 8 fields, and take its 204", || {
        created(CREATED)
    }),
    Workload::new("created-known", 2000, "the same, fields by constants", || created(known())),
    Workload::new("created-prepared", 2000, "the same, prepared", prepared),
];

/// The names as constants.
fn known() -> [(KnownName, &'static str); 8] {
    CREATED.map(|(name, value)| (KnownName::lookup(name.as_bytes()).expect("a known name"), value))
}

fn created<N: IntoName<'static> + Copy + 'static>(pairs: [(N, &'static str); 8]) -> Run {
    let mut connection = Established::new();
    let mut fields = FieldSection::new();
    Box::new(move |count| {
        for _ in 0..count {
            fields.clear();
            for (name, value) in *black_box(&pairs) {
                fields.append(name, value).expect("a valid field");
            }
            connection.request(&fields);
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
            connection.request_prepared(black_box(&prepared));
            connection.answer();
        }
    })
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
    fn request(&mut self, fields: &FieldSection) {
        self.out.clear();
        self.client.send_request(&head(fields), true, &mut self.out).expect("the machine takes a request");
        black_box(self.out.unsent());
    }

    #[inline(always)]
    fn request_prepared(&mut self, prepared: &Prepared) {
        self.out.clear();
        self.client.send_prepared(prepared, &[], true, &mut self.out).expect("the machine takes a request");
        black_box(self.out.unsent());
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
