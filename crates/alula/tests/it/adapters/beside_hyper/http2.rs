//! A client of HTTP/2 by hand, over a plain socket.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use alula::fields::{FieldSection, Head, RequestHead};
use alula::h2::{Config, Connection, Event, Notice};
use alula::machine::{OutBuf, StreamKey, Time};

use super::answer::Answer;
use super::table::{Content, Request};

pub(crate) fn ask(server: SocketAddr, request: &Request) -> Answer {
    let socket = TcpStream::connect(server).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.set_nodelay(true).unwrap();
    let machine = Connection::client(Config::default());
    let mut client = Client { socket, machine, start: Instant::now(), out: OutBuf::new() };
    client.ask(request)
}

struct Client {
    socket: TcpStream,
    machine: Connection,
    start: Instant,
    out: OutBuf,
}

impl Client {
    fn now(&self) -> Time {
        Time::ZERO.saturating_add(self.start.elapsed())
    }

    fn ask(&mut self, request: &Request) -> Answer {
        let mut answer = Answer::default();
        let stream = self.send_head(request);
        // Not even where the request says that it would wait: hyper does not ask for content over HTTP/2.
        self.send_content(stream, request);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.transmit();
            let bytes = self.socket.read(&mut buffer).unwrap_or_default();
            if bytes == 0 {
                return answer.ends("closed");
            }
            if let Err(end) = self.receive(&buffer[..bytes], request, &mut answer) {
                return answer.ends(end);
            }
        }
    }

    fn send_head(&mut self, request: &Request) -> StreamKey {
        let mut fields = FieldSection::new();
        let own_host = request.values("own-host").into_iter().map(|value| ("host", value));
        own_host.chain(request.others()).for_each(|(name, value)| fields.append(name, value).unwrap());
        if let Content::Stated(text) = &request.content {
            fields.append("content-length", text.len().to_string()).unwrap();
        }
        let head = RequestHead {
            method: &request.method,
            scheme: "http",
            authority: request.values("host").first().copied().unwrap_or_default(),
            path: if request.method == "CONNECT" { "" } else { &request.target },
            protocol: None,
            fields: &fields,
        };
        let has_none = matches!(request.content, Content::None) && request.method != "CONNECT";
        self.machine.send_request(&head, has_none, &mut self.out).expect(&request.name)
    }

    fn transmit(&mut self) {
        self.machine.poll_transmit(self.now(), &mut self.out);
        // The rest of what a server does not want is not taken.
        let _ = self.socket.write_all(self.out.unsent());
        self.out.clear();
    }

    /// Sends content, as far as the server takes it before it has said how much that is: the rest goes when
    /// there is room.
    fn send_content(&mut self, stream: StreamKey, request: &Request) {
        match &request.content {
            Content::None => {}
            Content::Stated(text) => self.send_piece(stream, text, true),
            Content::Pieces(pieces, trailers) => {
                for (at, piece) in pieces.iter().enumerate() {
                    self.send_piece(stream, piece, trailers.is_empty() && at + 1 == pieces.len());
                }
                if !trailers.is_empty() {
                    let fields = trailers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                    let fields = FieldSection::from_pairs(fields).unwrap();
                    self.machine.send_trailers(stream, &fields, &mut self.out).unwrap();
                }
            }
        }
    }

    /// Sends a piece; while the windows have no room for the rest, what comes is read, which is about windows
    /// alone.
    fn send_piece(&mut self, stream: StreamKey, piece: &str, end: bool) {
        let mut sent = 0;
        loop {
            sent += self.machine.send_data(stream, &piece.as_bytes()[sent..], end, &mut self.out).unwrap();
            if sent == piece.len() {
                return;
            }
            self.transmit();
            let mut buffer = [0; 16 * 1024];
            let bytes = self.socket.read(&mut buffer).unwrap();
            let mut input = &buffer[..bytes];
            while let Ok(received) = self.machine.receive(input, self.now()) {
                let is_answer = matches!(received.event, Some(Event::Head { .. }));
                assert!(!is_answer, "an answer came before the content was sent");
                if received.consumed == 0 {
                    break;
                }
                input = &input[received.consumed..];
            }
            while self.machine.poll_notice().is_some() {}
        }
    }

    /// Takes what has come; an error is the end.
    fn receive(&mut self, mut input: &[u8], request: &Request, answer: &mut Answer) -> Result<(), String> {
        loop {
            let now = self.now();
            let received = self.machine.receive(input, now).map_err(|error| format!("{error}"))?;
            input = &input[received.consumed..];
            let Some(event) = received.event else { break };
            let is_last = match event {
                Event::Head { stream, end } => {
                    self.head(stream, answer);
                    end
                }
                Event::Interim { stream } => {
                    self.head(stream, answer);
                    false
                }
                Event::Data { stream, bytes, end } => {
                    answer.add(bytes);
                    // A stream that is over needs none.
                    let _ = self.machine.release_capacity(stream, bytes.len() as u32);
                    end
                }
                Event::Trailers { stream } => {
                    let mut fields = FieldSection::new();
                    self.machine.take_trailers(stream, &mut fields).unwrap();
                    answer.trailers(shown(&fields));
                    true
                }
                _ => false,
            };
            if is_last || (request.method == "CONNECT" && answer.status() == Some(200)) {
                return Err("whole".into());
            }
        }
        while let Some(notice) = self.machine.poll_notice() {
            if let Notice::Reset { reset, .. } = notice {
                return Err(format!("reset {}", reset.code));
            }
        }
        Ok(())
    }

    fn head(&mut self, stream: StreamKey, answer: &mut Answer) {
        let mut head = Head::new();
        self.machine.take_head(stream, &mut head).unwrap();
        answer.head(head.status().unwrap().as_u16(), shown(&head.fields));
    }
}

fn shown(fields: &FieldSection) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    fields.iter().map(|field| (text(field.name_bytes()), text(field.value()))).collect()
}
