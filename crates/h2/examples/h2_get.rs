//! A client on a blocking socket: the machine needs no runtime.
//!
//! `cargo run -p alula-h2 --example h2_get -- 127.0.0.1:8080 /path` prints the response over clear text, and
//! one line per frame on the standard error output.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program has what the machine does without"
)]

use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use alula_fields::{FieldSection, Head};
use alula_h2::{Config, Connection, Event, Notice, RequestHead, StreamKey};
use alula_machine::{OutBuf, Time};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let path = arguments.next().unwrap_or_else(|| "/".into());
    let client = Client {
        machine: Connection::client(Config { trace: true, ..Config::default() }),
        socket: TcpStream::connect(&address)?,
        out: OutBuf::new(),
        start: Instant::now(),
    };
    client.get(&address, &path)
}

struct Client {
    machine: Connection,
    socket: TcpStream,
    out: OutBuf,
    start: Instant,
}

impl Client {
    fn now(&self) -> Time {
        Time::ZERO.saturating_add(self.start.elapsed())
    }

    fn get(mut self, authority: &str, path: &str) -> Result<(), Error> {
        let mut fields = FieldSection::new();
        fields.append("user-agent", "alula-h2").map_err(Error::other)?;
        let head =
            RequestHead { method: "GET", scheme: "http", authority, path, protocol: None, fields: &fields };
        self.machine.send_request(&head, true, &mut self.out).map_err(Error::other)?;
        let result = self.response();
        // The peer is told why we go, and then gets a moment to go as well.
        let _ = self.write();
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
        result
    }

    /// Reads until the response has ended, and a little longer: whoever tests us may have more to say.
    fn response(&mut self) -> Result<(), Error> {
        let mut input = vec![0; 64 * 1024];
        let mut is_whole = false;
        loop {
            self.write()?;
            if self.machine.is_closed() {
                return self.machine.error().map_or(Ok(()), |error| Err(Error::other(error)));
            }
            self.socket.set_read_timeout(Some(Duration::from_millis(if is_whole { 100 } else { 2000 })))?;
            let len = match self.socket.read(&mut input) {
                Ok(0) | Err(_) if is_whole => return Ok(()),
                Ok(0) => {
                    return Err(Error::other(
                        "the server closed the connection before the end of its response",
                    ));
                }
                Ok(len) => len,
                Err(error) => return Err(error),
            };
            is_whole |= self.receive(&input[..len])?;
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        self.machine.poll_transmit(self.now(), &mut self.out);
        while let Some(frame) = self.machine.poll_trace() {
            eprintln!("{frame}");
        }
        self.socket.write_all(self.out.unsent())?;
        self.out.clear();
        Ok(())
    }

    /// Takes input, and says whether the response has ended in it. An error that ends the connection is seen
    /// by `is_closed`, after the peer has been told.
    fn receive(&mut self, mut input: &[u8]) -> Result<bool, Error> {
        let (now, mut is_whole) = (self.now(), false);
        while let Ok(received) = self.machine.receive(input, now) {
            input = &input[received.consumed..];
            let Some(event) = received.event else { break };
            is_whole |= self.event(event)?;
        }
        while let Some(notice) = self.machine.poll_notice() {
            if let Notice::Reset { stream, reset } = notice {
                eprintln!("the stream was reset: {reset:?}");
                self.machine.forget(stream);
                is_whole = true;
            }
        }
        Ok(is_whole)
    }

    fn event(&mut self, event: Event<'_>) -> Result<bool, Error> {
        match event {
            Event::Head { stream, end } => {
                self.show_head(stream);
                Ok(end)
            }
            Event::Interim { stream } => {
                self.show_head(stream);
                Ok(false)
            }
            Event::Data { stream, bytes, end } => {
                std::io::stdout().write_all(bytes)?;
                let _ = self.machine.release_capacity(stream, bytes.len() as u32);
                Ok(end)
            }
            Event::Trailers { stream } => {
                let _ = self.machine.take_trailers(stream, &mut FieldSection::new());
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn show_head(&mut self, stream: StreamKey) {
        let mut head = Head::new();
        if self.machine.take_head(stream, &mut head).is_ok() {
            eprintln!("{head:?}");
        }
    }
}
