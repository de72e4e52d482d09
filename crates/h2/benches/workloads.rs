//! One workload so many times, for counting instructions: `workloads NAME TIMES`. Without a name all of them
//! run once.
//!
//! Count with callgrind at N and at 2N; the difference divided by N is one request. The other side is a
//! recording whose stream identifiers are changed in place, which costs some twenty instructions.

use std::hint::black_box;

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{Config, Connection, Event, Hole, Prepared, RequestHead, ResponseHead};
use alula_machine::{Limits, OutBuf, Time};

/// A workload: how it is called, and what runs it so many times.
type Workload = (&'static str, fn(usize));

const WORKLOADS: [Workload; 9] = [
    ("request", |times| client(times, Ask::Plain, None)),
    ("request-prepared", |times| client(times, Ask::Prepared, None)),
    ("client", |times| client(times, Ask::Plain, Some(b""))),
    ("client-prepared", |times| client(times, Ask::Prepared, Some(b""))),
    ("client-13", |times| client(times, Ask::Plain, Some(b"Hello, world!"))),
    ("client-changing", |times| client(times, Ask::Changing, Some(b"Hello, world!"))),
    ("server", |times| server(times, &REQUEST, b"")),
    ("server-13", |times| server(times, &REQUEST, b"Hello, world!")),
    ("server-post", server_post),
];

const REQUEST: [(&str, &str); 8] = [
    ("user-agent", "alula-bench/1.0"),
    ("accept", "application/json, text/plain, */*"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-language", "en-US,en;q=0.5"),
    ("cache-control", "no-cache"),
    ("cookie", "session=7f3c9a1e5b2d4860a9c1; theme=dark"),
    ("referer", "http://example.com/products"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

const RESPONSE: [(&str, &str); 9] = [
    ("content-type", "application/json"),
    ("date", "Fri, 20 Nov 2026 12:00:00 GMT"),
    ("server", "fixed"),
    ("cache-control", "public, max-age=3600"),
    ("etag", "\"5f3c9a1e-400\""),
    ("last-modified", "Mon, 16 Nov 2026 08:30:00 GMT"),
    ("vary", "accept-encoding"),
    ("x-content-type-options", "nosniff"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let name = arguments.next();
    let times = arguments.next().map_or(2000, |times| times.parse().expect("a number of times"));
    for (known, run) in WORKLOADS {
        if name.as_deref().is_none_or(|name| name == known) {
            run(times);
            println!("{known}");
        }
    }
}

#[derive(Clone, Copy)]
enum Ask {
    Plain,
    Prepared,
    /// Another path each time.
    Changing,
}

fn fields(pairs: &[(&str, &str)]) -> FieldSection {
    let mut fields = FieldSection::new();
    pairs.iter().for_each(|(name, value)| fields.append(*name, value).unwrap());
    fields
}

fn head<'a>(method: &'a str, path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method, scheme: "https", authority: "www.example.com", path, protocol: None, fields }
}

/// A client and a server that have exchanged the same request often enough, and what they sent the last time.
struct Warm {
    client: Connection,
    server: Connection,
    up: Vec<u8>,
    down: Vec<u8>,
    id: u32,
}

fn warm(method: &str, request: &FieldSection, response: &FieldSection, content: &[u8]) -> Warm {
    // Recordings give no credit, so there must be enough of it.
    let limits = Limits { connection_window: 0x7fff_ffff, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let (mut client, mut server) = (Connection::client(config.clone()), Connection::server(config));
    let (mut up, mut down) = (OutBuf::new(), OutBuf::new());
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let upload = method == "POST";
        let stream = client.send_request(&head(method, "/", request), !upload, &mut up).unwrap();
        if upload {
            client.send_data(stream, content, true, &mut up).unwrap();
        }
        client.poll_transmit(Time::ZERO, &mut up);
        sent = up.unsent().to_vec();
        up.clear();
        drain(&mut server, &sent, |server, stream| answer(server, stream, response, content, &mut down));
        server.poll_transmit(Time::ZERO, &mut down);
        received = down.unsent().to_vec();
        down.clear();
        drain(&mut client, &received, |_, _| ());
        assert_eq!(client.in_flight(), 0, "round {round}");
    }
    Warm { client, server, up: sent, down: received, id: 21 }
}

fn answer(
    server: &mut Connection,
    stream: alula_h2::StreamKey,
    fields: &FieldSection,
    content: &[u8],
    out: &mut OutBuf,
) {
    let head = ResponseHead { status: Status::OK, fields };
    server.send_response(stream, &head, content.is_empty(), out).unwrap();
    if !content.is_empty() {
        server.send_data(stream, content, true, out).unwrap();
    }
}

/// Feeds all of the input; `ended` is called when a message has ended.
fn drain(
    machine: &mut Connection,
    mut input: &[u8],
    mut ended: impl FnMut(&mut Connection, alula_h2::StreamKey),
) {
    let mut head = Head::new();
    loop {
        let received = machine.receive(input, Time::ZERO).unwrap();
        input = &input[received.consumed..];
        let Some(event) = received.event else { break };
        take(machine, event, &mut head, &mut ended);
    }
    while machine.poll_notice().is_some() {}
}

#[inline(always)]
fn take(
    machine: &mut Connection,
    event: Event<'_>,
    head: &mut Head,
    ended: &mut impl FnMut(&mut Connection, alula_h2::StreamKey),
) {
    match event {
        Event::Head { stream, end } => {
            machine.take_head(stream, head).unwrap();
            black_box(&*head);
            if end {
                ended(machine, stream);
            }
        }
        Event::Data { stream, bytes, end } => {
            machine.release_capacity(stream, black_box(bytes).len() as u32).unwrap();
            if end {
                ended(machine, stream);
            }
        }
        _ => {}
    }
}

/// Gives every frame of a recording this stream.
fn retarget(frames: &mut [u8], id: u32) {
    let mut at = 0;
    while at < frames.len() {
        let length = u32::from_be_bytes([0, frames[at], frames[at + 1], frames[at + 2]]) as usize;
        frames[at + 5..at + 9].copy_from_slice(&id.to_be_bytes());
        at += 9 + length;
    }
}

/// Requests of a client, and with `content` the responses to them.
fn client(times: usize, ask: Ask, content: Option<&[u8]>) {
    let (request, response) = (fields(&REQUEST), fields(&RESPONSE));
    let mut warm = warm("GET", &request, &response, content.unwrap_or_default());
    let prepared = Prepared::new(&head("GET", "/", &request), &[]).unwrap();
    let changing = Prepared::new(&head("GET", "/", &request), &[Hole::Path]).unwrap();
    let (mut out, mut path, mut head_in) = (OutBuf::with_capacity(4096), *b"/item/0000", Head::new());
    for round in 0..times {
        let stream = match ask {
            Ask::Plain => warm.client.send_request(&head("GET", "/", &request), true, &mut out).unwrap(),
            Ask::Prepared => warm.client.send_prepared(&prepared, &[], true, &mut out).unwrap(),
            Ask::Changing => {
                path[9] = b'0' + (round % 10) as u8;
                path[8] = b'0' + (round / 10 % 10) as u8;
                path[7] = b'0' + (round / 100 % 10) as u8;
                warm.client.send_prepared(&changing, &[&path], true, &mut out).unwrap()
            }
        };
        warm.client.poll_transmit(Time::ZERO, &mut out);
        black_box(out.unsent());
        out.clear();
        if content.is_none() {
            // The answer is not what is measured; giving up costs some hundred instructions.
            warm.client.forget(stream);
            continue;
        }
        retarget(&mut warm.down, warm.id);
        warm.id += 2;
        let mut input = &warm.down[..];
        loop {
            let received = warm.client.receive(input, Time::ZERO).unwrap();
            input = &input[received.consumed..];
            let Some(event) = received.event else { break };
            take(&mut warm.client, event, &mut head_in, &mut |_, _| ());
        }
        while warm.client.poll_notice().is_some() {}
    }
    assert_eq!(warm.client.in_flight(), 0);
}

/// Requests to a server, and its responses.
fn server(times: usize, pairs: &[(&str, &str)], content: &[u8]) {
    serve(times, warm("GET", &fields(pairs), &fields(&RESPONSE), content), content);
}

/// Requests with a kilobyte of content, which is sent back.
fn server_post(times: usize) {
    let content = [b'x'; 1024];
    serve(times, warm("POST", &fields(&REQUEST), &fields(&RESPONSE), &content), &content);
}

fn serve(times: usize, mut warm: Warm, content: &[u8]) {
    let (response, mut out, mut head) = (fields(&RESPONSE), OutBuf::with_capacity(4096), Head::new());
    for _ in 0..times {
        retarget(&mut warm.up, warm.id);
        warm.id += 2;
        let mut input = &warm.up[..];
        loop {
            let received = warm.server.receive(input, Time::ZERO).unwrap();
            input = &input[received.consumed..];
            let Some(event) = received.event else { break };
            take(&mut warm.server, event, &mut head, &mut |server, stream| {
                answer(server, stream, &response, content, &mut out);
            });
        }
        while warm.server.poll_notice().is_some() {}
        warm.server.poll_transmit(Time::ZERO, &mut out);
        black_box(out.unsent());
        out.clear();
    }
    assert_eq!(warm.server.in_flight(), 0);
}
