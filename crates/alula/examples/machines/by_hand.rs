//! The machine of HTTP/1.1 without a runtime: bytes go in and events come out, here over a plain socket of
//! the standard library.
//!
//! `cargo run -p alula --example by_hand -- 127.0.0.1:8080 /path` shows the answer. `by_hand_http2` is its twin.

use std::{
    error::Error,
    io::{Read, Write},
    net::TcpStream,
    time::Instant,
};

use alula::{
    fields::{FieldSection, Head, RequestHead},
    h1::{Config, Connection, Event},
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

    let (mut buffer, mut filled) = (vec![0; 16 * 1024], 0);
    loop {
        // 1. What the machine has to say goes out.
        machine.poll_transmit(&mut out);
        socket.write_all(out.unsent())?;
        out.clear();
        // 2. What has come goes in, behind what the machine has left.
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let bytes = socket.read(&mut buffer[filled..])?;
        filled += bytes;
        let mut at = 0;
        loop {
            let received = machine.receive(&buffer[at..filled], now())?;
            at += received.consumed;
            // 3. Events are dealt with one at a time; they borrow from the buffer.
            match received.event {
                Some(event) if show(event, &mut machine)? => return Ok(()),
                Some(_) => {}
                None => break,
            }
        }
        buffer.copy_within(at..filled, 0);
        filled -= at;
        // 4. The end of the connection may be that of the content.
        if bytes == 0 {
            if let Some(event) = machine.receive_end(now())? {
                show(event, &mut machine)?;
            }
            return Ok(());
        }
    }
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
        Event::Data { bytes, end, .. } => {
            std::io::stdout().write_all(bytes)?;
            // Who does not give bytes back has the peer wait.
            machine.release_capacity(bytes.len() as u32);
            Ok(end)
        }
        Event::Trailers { .. } => Ok(true),
        _ => Ok(false),
    }
}
