//! Connections instead of requests: what opening, using once and closing one costs a server, and what one
//! that is idle holds.
//!
//! The other side is a process of its own, which opens one connection after another. Each asks once and has
//! its whole answer.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use alula::Server;
use alula_hpack::{Encoder, EncoderConfig, Policy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::hpack::decode::block;
use crate::hpack::encode::fields;
use crate::peers::frames::{ACK, END_HEADERS, END_STREAM, HEADERS, Input, PREFACE, SETTINGS, push};
use crate::peers::{self, Peer};
use crate::whole::client::one_thread;
use crate::whole::server::hello;
use crate::workload::{Run, Use, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("server-connection-h1", 1000, "accept over HTTP/1.1, answer one GET, close", || {
        opened("h1", "close")
    })
    .beside("opened, used once, closed"),
    // How often the peer's SETTINGS, its request and its end come in one read each is the system's to say.
    Workload::new("server-connection-h2", 1000, "the same over HTTP/2", || opened("h2", "close"))
        .counted(Use::Told, Use::Held)
        .beside("opened, used once, closed"),
    idle("server-idle-h1", "hold a connection of HTTP/1.1 that was used once", || opened("h1", "hold")),
    idle("server-idle-h2", "the same over HTTP/2", || opened("h2", "hold")),
];

/// The looks after which a connection has given back what it does not need: two of a second each, and some.
const IDLE_AFTER: Duration = Duration::from_millis(2500);

const fn idle(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 400, what, prepare)
        .counted(Use::Nothing, Use::Nothing)
        .resident()
        .beside("used once, idle for 2.5 s")
}

/// Serves in a task; each unit is a connection.
fn opened(version: &'static str, then: &'static str) -> Run {
    let runtime = one_thread();
    let (mut control, peer) = runtime.block_on(async {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let port = server.address().expect("it is bound").port().to_string();
        let control = TcpListener::bind("127.0.0.1:0").expect("a port");
        let control_port = control.local_addr().expect("it is bound").port().to_string();
        tokio::spawn(server.serve(hello));
        let peer = Peer::start(&["connections", version, then, &port, &control_port]);
        let (control, _) = control.accept().expect("the driver connects");
        control.set_nonblocking(true).expect("a TCP socket");
        (tokio::net::TcpStream::from_std(control).expect("a TCP socket"), peer)
    });
    Box::new(move |connections| {
        let _peer = &peer;
        runtime.block_on(async {
            control.write_u64(connections).await.expect("the driver listens");
            control.read_u8().await.expect("all answers came");
            if then == "hold" {
                tokio::time::sleep(IDLE_AFTER).await;
            }
        });
    })
}

/// Does what the control port says: opens so many connections to the server on this port.
pub(crate) fn drive(version: &str, then: &str, port: u16, control: u16) -> io::Result<()> {
    peers::end_with_input();
    let mut held = Vec::new();
    let mut control = TcpStream::connect(("127.0.0.1", control))?;
    let mut number = [0; 8];
    while control.read_exact(&mut number).is_ok() {
        for _ in 0..u64::from_be_bytes(number) {
            let mut socket = connect(version, port)?;
            match then {
                "hold" => held.push(socket),
                _ => close(&mut socket)?,
            }
        }
        control.write_all(&[1])?;
    }
    Ok(())
}

/// Opens so many connections to any server on this port, one after another, and keeps them until the standard
/// input ends if it is to hold them; for figures of other servers.
pub(crate) fn connect_all(version: &str, then: &str, port: u16, count: u64) -> io::Result<()> {
    let mut held = Vec::new();
    for _ in 0..count {
        let mut socket = connect(version, port)?;
        match then {
            "hold" => held.push(socket),
            _ => close(&mut socket)?,
        }
    }
    println!("{count}");
    if then == "hold" {
        io::stdin().read_to_end(&mut Vec::new())?;
    }
    Ok(())
}

/// A connection that has its first answer.
fn connect(version: &str, port: u16) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    match version {
        "h1" => ask_http1(&mut socket)?,
        _ => ask_http2(&mut socket)?,
    }
    Ok(socket)
}

/// Ends our side, and waits until the server has ended its own.
fn close(socket: &mut TcpStream) -> io::Result<()> {
    socket.shutdown(Shutdown::Write)?;
    let mut rest = [0; 256];
    while socket.read(&mut rest)? > 0 {}
    Ok(())
}

fn ask_http1(socket: &mut TcpStream) -> io::Result<()> {
    write!(
        socket,
        "GET /hello HTTP/1.1\r\nhost: localhost\r\nuser-agent: alula-bench/1.0\r\naccept: */*\r\n\r\n"
    )?;
    let (mut input, mut here) = ([0; 1024], 0);
    while !input[..here].ends_with(b"Hello, World!") {
        match socket.read(&mut input[here..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => here += bytes,
        }
    }
    Ok(())
}

fn ask_http2(socket: &mut TcpStream) -> io::Result<()> {
    let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
    let list = [
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "localhost"),
        (":path", "/hello"),
        ("user-agent", "alula-bench/1.0"),
        ("accept", "*/*"),
    ];
    let mut out = PREFACE.to_vec();
    push(&mut out, SETTINGS, 0, 0, &[]);
    push(&mut out, HEADERS, END_HEADERS | END_STREAM, 1, &block(&mut encoder, fields(&list)));
    socket.write_all(&out)?;
    let mut input = Input::with_room(4096);
    let (mut is_answered, mut are_settings_here) = (false, false);
    while !(is_answered && are_settings_here) {
        if let Some(frame) = input.frame() {
            is_answered |= frame.ends_stream();
            are_settings_here |= frame.kind == SETTINGS && frame.flags & ACK == 0;
        } else if !input.read(socket)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    out.clear();
    push(&mut out, SETTINGS, ACK, 0, &[]);
    socket.write_all(&out)
}
