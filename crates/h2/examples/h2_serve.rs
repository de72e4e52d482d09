//! A server on blocking sockets, one thread per connection: the machine needs no runtime.
//!
//! It reads each request to its end, then sends its content back, or a greeting. Run it with `cargo run -p
//! alula-h2 --example h2_serve -- 127.0.0.1:8080` and talk to it with any client that speaks HTTP/2 over
//! clear text, such as `curl --http2-prior-knowledge http://127.0.0.1:8080/`.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program has what the machine does without"
)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{Config, Connection, Event, Notice, ResponseHead, StreamKey};
use alula_machine::{OutBuf, Time};

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}", listener.local_addr()?);
    for socket in listener.incoming() {
        let socket = socket?;
        // A peer that vanishes ends its own thread and concerns nobody else.
        std::thread::spawn(move || Server::new().run(socket));
    }
    Ok(())
}

struct Server {
    machine: Connection,
    out: OutBuf,
    start: Instant,
    /// What is left to send on each stream; `None` until the request has ended.
    answers: BTreeMap<StreamKey, Answer>,
}

#[derive(Default)]
struct Answer {
    content: Vec<u8>,
    sent: usize,
    is_whole: bool,
}

impl Server {
    fn new() -> Self {
        Self {
            machine: Connection::server(Config::default()),
            out: OutBuf::new(),
            start: Instant::now(),
            answers: BTreeMap::new(),
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.saturating_add(self.start.elapsed())
    }

    fn run(&mut self, mut socket: TcpStream) -> std::io::Result<()> {
        socket.set_nodelay(true)?;
        let mut input = vec![0; 64 * 1024];
        loop {
            self.write(&mut socket)?;
            if self.machine.is_closed() {
                // Sends FIN and waits for the peer's, so that it reads our last words before a reset could
                // drop them.
                socket.shutdown(Shutdown::Write)?;
                socket.set_read_timeout(Some(Duration::from_secs(1)))?;
                while socket.read(&mut input).is_ok_and(|len| len > 0) {}
                return Ok(());
            }
            let due = self.machine.poll_timeout().map(|due| due.saturating_since(self.now()));
            socket.set_read_timeout(due.map(|due| due.max(Duration::from_millis(1))))?;
            match socket.read(&mut input) {
                Ok(0) => return Ok(()),
                Ok(len) => self.receive(&input[..len]),
                Err(error) if is_timeout(&error) => self.machine.handle_timeout(self.now()),
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&mut self, socket: &mut TcpStream) -> std::io::Result<()> {
        self.machine.poll_transmit(self.now(), &mut self.out);
        socket.write_all(self.out.unsent())?;
        self.out.clear();
        Ok(())
    }

    fn receive(&mut self, mut input: &[u8]) {
        let now = self.now();
        loop {
            let Ok(received) = self.machine.receive(input, now) else { return };
            input = &input[received.consumed..];
            match received.event {
                Some(event) => self.event(event),
                None => break,
            }
        }
        self.notices();
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => {
                let mut head = Head::new();
                let _ = self.machine.take_head(stream, &mut head);
                self.answers.insert(stream, Answer::default());
                self.end_if(end, stream);
            }
            Event::Data { stream, bytes, end } => {
                if let Some(answer) = self.answers.get_mut(&stream) {
                    answer.content.extend_from_slice(bytes);
                }
                let _ = self.machine.release_capacity(stream, bytes.len() as u32);
                self.end_if(end, stream);
            }
            Event::Trailers { stream } => {
                let _ = self.machine.take_trailers(stream, &mut FieldSection::new());
                self.end_if(true, stream);
            }
            Event::HeadTooLarge { stream, .. } => {
                self.respond(stream, Status::REQUEST_HEADER_FIELDS_TOO_LARGE)
            }
            _ => {}
        }
    }

    fn notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            match notice {
                Notice::Reset { stream, .. } => {
                    self.answers.remove(&stream);
                    self.machine.forget(stream);
                }
                Notice::Writable { stream } => self.send(stream),
                _ => {}
            }
        }
    }

    fn end_if(&mut self, end: bool, stream: StreamKey) {
        let Some(answer) = self.answers.get_mut(&stream) else { return };
        if end {
            answer.is_whole = true;
            if answer.content.is_empty() {
                answer.content = b"Hello, world!\n".to_vec();
            }
            self.respond(stream, Status::OK);
        }
    }

    fn respond(&mut self, stream: StreamKey, status: Status) {
        let mut fields = FieldSection::new();
        let _ = fields.append("server", "alula-h2");
        let head = ResponseHead { status, fields: &fields };
        if self.machine.send_response(stream, &head, false, &mut self.out).is_ok() {
            self.send(stream);
        }
    }

    fn send(&mut self, stream: StreamKey) {
        let answer = self.answers.entry(stream).or_default();
        if let Ok(sent) = self.machine.send_data(stream, &answer.content[answer.sent..], true, &mut self.out)
        {
            answer.sent += sent;
            if answer.sent == answer.content.len() {
                self.answers.remove(&stream);
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}
