//! The machine of HTTP/2 without a runtime: bytes go in and events come out, here over a plain socket of the
//! standard library.
//!
//! `cargo run -p alula --example by_hand_http2 -- 127.0.0.1:8080 /path` shows the answer, in clear text and prior knowledge.

use std::{
    error::Error,
    io::{Read, Write},
    net::TcpStream,
    time::Instant,
};

use alula::{
    fields::{FieldSection, Head, RequestHead},
    h2::{Config, Connection, Event, Notice},
    machine::{OutBuf, Time},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let authority = arguments.next().ok_or("which address?")?;
    let path = arguments.next().unwrap_or_else(|| "/".into());
    let mut socket = TcpStream::connect(&authority)?;
    // The machine has no clock: it is told what time it is, from any beginning.
    let start = Instant::now();
    let now = || Time::ZERO.saturating_add(start.elapsed());

    let mut machine = Connection::client(Config::default());
    let mut out = OutBuf::new();
    let fields = FieldSection::from_pairs([("user-agent", "by-hand")])?;
    let head = RequestHead {
        method: "GET",
        scheme: "http",
        authority: &authority,
        path: &path,
        protocol: None,
        fields: &fields,
    };
    machine.send_request(&head, true, &mut out)?;

    let mut buffer = vec![0; 64 * 1024];
    let mut is_whole = false;
    while !is_whole {
        // 1. What the machine has to say goes out: the request, then answers to SETTINGS and PING, and window updates.
        machine.poll_transmit(now(), &mut out);
        socket.write_all(out.unsent())?;
        out.clear();
        // 2. What has come goes in. The machine keeps what is not whole, so that the buffer is free again.
        let bytes = socket.read(&mut buffer)?;
        if bytes == 0 {
            return Err("the server closed the connection before the end of its response".into());
        }
        let mut input = &buffer[..bytes];
        loop {
            let received = machine.receive(input, now())?;
            input = &input[received.consumed..];
            // 3. Events are dealt with one at a time; they borrow from the buffer.
            let Some(event) = received.event else { break };
            is_whole |= show(event, &mut machine)?;
        }
        // 4. What else has happened.
        while let Some(notice) = machine.poll_notice() {
            if let Notice::Reset { reset, .. } = notice {
                return Err(format!("the stream was reset: {reset:?}").into());
            }
        }
    }
    Ok(())
}

/// Shows what has come. True once that was all.
fn show(event: Event<'_>, machine: &mut Connection) -> Result<bool, Box<dyn Error>> {
    match event {
        Event::Head { stream, end } => {
            let mut head = Head::new();
            machine.take_head(stream, &mut head)?;
            eprintln!("{head:?}");
            Ok(end)
        }
        Event::Data { stream, bytes, end } => {
            std::io::stdout().write_all(bytes)?;
            // Who does not give bytes back has the peer wait.
            machine.release_capacity(stream, bytes.len() as u32)?;
            Ok(end)
        }
        Event::Trailers { .. } => Ok(true),
        _ => Ok(false),
    }
}
