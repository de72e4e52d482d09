//! Heads read and written by the HTTP/1.1 machine, without a socket: new ones each time, so that nothing is
//! remembered.

use std::hint::black_box;

use alula::h1::{Config, Connection, Event, RequestHead, ResponseHead};
use alula_fields::{FieldSection, Head, Status};
use alula_machine::{OutBuf, StreamKey, Time};
use alula_testkit::lists::REQUEST;
use alula_testkit::traffic;

/// Does so many units.
type Run = Box<dyn FnMut(u64)>;

/// The number of heads after which the first come again.
pub(crate) const HEADS: usize = 1024;

/// Has a server read these requests.
pub(crate) fn read_requests(requests: Vec<Vec<u8>>) -> Run {
    let (mut server, mut head, mut out) = (Connection::server(Config::default()), Head::new(), OutBuf::new());
    let mut number = 0;
    Box::new(move |count| {
        for _ in 0..count {
            let stream = read_head(&mut server, black_box(&requests[number]), &mut head);
            answer(&mut server, stream, &mut out);
            number = (number + 1) % HEADS;
        }
    })
}

/// Has a client read these answers.
pub(crate) fn read_answers(answers: Vec<Vec<u8>>) -> Run {
    let (mut client, mut head, mut out) = (Connection::client(Config::default()), Head::new(), OutBuf::new());
    let fields = FieldSection::new();
    let mut number = 0;
    Box::new(move |count| {
        for _ in 0..count {
            write_request(&mut client, &fields, &mut out);
            read_head(&mut client, black_box(&answers[number]), &mut head);
            while client.poll_notice().is_some() {}
            number = (number + 1) % HEADS;
        }
    })
}

/// Has a client write requests.
pub(crate) fn write_requests() -> Run {
    let sections: Vec<_> = (0..HEADS).map(section).collect();
    let (mut client, mut head, mut out) = (Connection::client(Config::default()), Head::new(), OutBuf::new());
    let mut number = 0;
    Box::new(move |count| {
        for _ in 0..count {
            write_request(&mut client, black_box(&sections[number]), &mut out);
            read_head(&mut client, b"HTTP/1.1 204 No Content\r\n\r\n", &mut head);
            while client.poll_notice().is_some() {}
            number = (number + 1) % HEADS;
        }
    })
}

/// The fields of a client's request, with ids of their own.
fn section(number: usize) -> FieldSection {
    let ids = traffic::ids(number);
    let vary = |(name, value)| match name {
        "x-request-id" => (name, ids.request.as_str()),
        "x-trace" => (name, ids.trace.as_str()),
        _ => (name, value),
    };
    FieldSection::from_pairs(REQUEST.map(vary)).expect("valid fields")
}

#[inline(never)]
fn read_head(connection: &mut Connection, text: &[u8], head: &mut Head) -> StreamKey {
    let received = connection.receive(text, Time::ZERO).expect("a valid head");
    let Some(Event::Head { stream, end: true }) = received.event else { unreachable!("it is whole") };
    connection.take_head(stream, head).expect("it is the one under way");
    stream
}

#[inline(never)]
fn write_request(client: &mut Connection, fields: &FieldSection, out: &mut OutBuf) {
    let head = RequestHead {
        method: "GET",
        scheme: "http",
        authority: "www.example.com",
        path: "/static/app.js",
        protocol: None,
        fields,
    };
    client.send_request(&head, true, out).expect("it may be sent");
    out.clear();
}

fn answer(server: &mut Connection, stream: StreamKey, out: &mut OutBuf) {
    let fields = FieldSection::new();
    let head = ResponseHead { status: Status::OK, fields: &fields };
    server.send_response(stream, &head, true, out).expect("it may be sent");
    while server.poll_notice().is_some() {}
    out.clear();
}
