//! The server of HTTP/2: the machine speaks the protocol, and what it is told to do is chaos.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use alula::{
    FieldSection, Limits, Status,
    fields::{Head, ResponseHead},
    h2::{Config, Connection, ErrorCode, Event, Notice},
    machine::{OutBuf, StreamKey, Time},
};
use alula_testkit::Rng;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::{Instant, timeout_at},
};

use super::{Books, Fate, id_of};
use crate::frames;

/// Fewer than there are clients' tasks, so that these run out.
const STREAMS: u32 = 8;

/// Serves until it is dropped; a connection is served until it ends.
pub async fn serve(listener: TcpListener, books: Arc<Books>, seed: u64) {
    for number in 0.. {
        let Ok((socket, _)) = listener.accept().await else { return };
        let limits = Limits { streams: STREAMS, ..Limits::default() };
        let session = Session {
            socket,
            begun: Instant::now(),
            machine: Connection::server(Config { limits, ..Config::default() }),
            out: OutBuf::new(),
            requests: HashMap::new(),
            due: Vec::new(),
            processed_to: 0,
            last: None,
            is_over: false,
            rng: Rng::new(seed.wrapping_add(number)),
            books: books.clone(),
        };
        // The client is told by what it sees.
        tokio::spawn(async move { drop(session.run().await) });
    }
}

struct Session {
    socket: TcpStream,
    begun: Instant,
    machine: Connection,
    out: OutBuf,
    /// Those that are not whole.
    requests: HashMap<StreamKey, Request>,
    /// Answers that come later.
    due: Vec<(Instant, StreamKey, String)>,
    /// The highest stream that was processed.
    processed_to: u32,
    /// The last stream that is processed, once the server goes away.
    last: Option<u32>,
    is_over: bool,
    rng: Rng,
    books: Arc<Books>,
}

struct Request {
    method: String,
    path: String,
    content: Vec<u8>,
}

impl Session {
    async fn run(mut self) -> io::Result<()> {
        let mut input = Vec::new();
        let mut bytes = vec![0; 16 * 1024];
        loop {
            self.flush().await?;
            if self.is_over || (self.last.is_some() && self.requests.is_empty() && self.due.is_empty()) {
                return Ok(());
            }
            let far = Instant::now() + Duration::from_secs(60);
            let next = self.due.iter().map(|(at, ..)| *at).min().unwrap_or(far);
            match timeout_at(next, self.socket.read(&mut bytes)).await {
                Err(_) => self.answer_due(),
                Ok(read) => match read? {
                    0 => return Ok(()),
                    read => input.extend_from_slice(&bytes[..read]),
                },
            }
            let taken = self.feed(&input)?;
            input.drain(..taken);
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.machine.poll_transmit(self.now(), &mut self.out);
        self.socket.write_all(self.out.unsent()).await?;
        self.out.clear();
        Ok(())
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// Takes what has come; says how much that was.
    fn feed(&mut self, input: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while !self.is_over {
            let now = self.now();
            let received = self.machine.receive(&input[taken..], now).map_err(io::Error::other)?;
            taken += received.consumed;
            match received.event {
                Some(Event::Head { stream, end }) => self.begin(stream, end),
                Some(Event::Data { stream, bytes, end }) => self.go_on(stream, bytes, end),
                Some(_) => {}
                None => break,
            }
            self.hear();
        }
        Ok(taken)
    }

    /// Forgets what the client has reset.
    fn hear(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            if let Notice::Reset { stream, .. } = notice {
                self.requests.remove(&stream);
                self.due.retain(|(_, due, _)| *due != stream);
                self.machine.forget(stream);
            }
        }
    }

    fn begin(&mut self, stream: StreamKey, end: bool) {
        let mut head = Head::default();
        if self.machine.take_head(stream, &mut head).is_err() || self.is_ignored(stream) {
            return;
        }
        let [method, path] = [head.method(), head.path()].map(|text| text.unwrap_or_default().to_owned());
        self.requests.insert(stream, Request { method, path, content: Vec::new() });
        match end {
            true => self.decide(stream),
            // Some do not want to hear the content.
            false if self.rng.one_in(50) => self.refuse(stream),
            false => {}
        }
    }

    fn go_on(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        // A stream that is gone owes nothing.
        let _ = self.machine.release_capacity(stream, bytes.len() as u32);
        let Some(request) = self.requests.get_mut(&stream) else { return };
        request.content.extend_from_slice(bytes);
        if end {
            self.decide(stream);
        }
    }

    /// Returns true if the client was told that this stream is not processed.
    fn is_ignored(&self, stream: StreamKey) -> bool {
        let id = self.machine.stream_id(stream);
        self.last.zip(id).is_some_and(|(last, id)| id > last)
    }

    fn decide(&mut self, stream: StreamKey) {
        let Some(id) = self.machine.stream_id(stream) else { return };
        match self.books.draw(&mut self.rng) {
            Fate::Answered => _ = self.process(stream).map(|text| self.answer(stream, &text, text.len())),
            Fate::Late => {
                let later = Instant::now() + Duration::from_millis(self.rng.below(8) as u64);
                let text = self.process(stream);
                self.due.extend(text.map(|text| (later, stream, text)));
            }
            Fate::Refused => self.refuse(stream),
            Fate::Reset => {
                self.process(stream);
                let codes = [ErrorCode::INTERNAL_ERROR, ErrorCode::CANCEL, ErrorCode::NO_ERROR];
                self.machine.reset(stream, *self.rng.pick(&codes));
            }
            Fate::Farewell => self.say_farewell(stream, id),
            Fate::Broken => {
                self.process(stream);
                self.is_over = true;
            }
            Fate::Halved => {
                _ = self.process(stream).map(|text| self.answer(stream, &text, 100));
                self.machine.reset(stream, ErrorCode::INTERNAL_ERROR);
            }
            Fate::Stalled => _ = self.process(stream),
            Fate::Closed => {
                _ = self.process(stream).map(|text| self.answer(stream, &text, text.len()));
                self.is_over = true;
            }
        }
    }

    /// Processes a request that is whole: the text that answers it.
    fn process(&mut self, stream: StreamKey) -> Option<String> {
        let Request { method, path, content } = self.requests.remove(&stream)?;
        let id = if content.is_empty() { path.trim_start_matches('/').to_owned() } else { id_of(&content) };
        self.books.process(&method, &id);
        self.processed_to = self.processed_to.max(self.machine.stream_id(stream)?);
        Some(id)
    }

    fn refuse(&mut self, stream: StreamKey) {
        self.requests.remove(&stream);
        self.machine.reset(stream, ErrorCode::REFUSED_STREAM);
    }

    /// Goes away: this stream and those above it are not processed, unless one of these was.
    fn say_farewell(&mut self, stream: StreamKey, id: u32) {
        if id <= self.processed_to {
            _ = self.process(stream).map(|text| self.answer(stream, &text, text.len()));
        }
        let last = self.processed_to;
        self.last = Some(last);
        let machine = &self.machine;
        self.requests.retain(|stream, _| machine.stream_id(*stream).is_some_and(|id| id <= last));
        self.machine.poll_transmit(self.now(), &mut self.out);
        self.out.extend(&frames::goaway(last, 0));
    }

    /// Sends so many bytes of an answer, of which the text is all that there is.
    fn answer(&mut self, stream: StreamKey, text: &str, bytes: usize) {
        let mut fields = FieldSection::new();
        fields.append("content-length", bytes.to_string()).expect("a length is a value");
        let head = ResponseHead { status: Status::OK, fields: &fields };
        let is_whole = bytes == text.len();
        // Whoever has reset the stream meanwhile hears nothing.
        if self.machine.send_response(stream, &head, false, &mut self.out).is_ok() {
            let _ = self.machine.send_data(stream, text.as_bytes(), is_whole, &mut self.out);
        }
    }

    fn answer_due(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.due).into_iter().partition(|(at, ..)| *at <= now);
        self.due = later;
        let due: Vec<_> = due;
        due.iter().for_each(|(_, stream, text)| self.answer(*stream, text, text.len()));
    }
}
