//! Many connections of one kind to a server, and connections from other addresses of this machine.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};

use crate::frames::{self, PREFACE, kind};
use crate::tls;
use crate::wire::{self, Wire};

/// What is spoken on the connections of a crowd, and whether anything was asked.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Inside TLS.
    pub tls: bool,
    /// HTTP/2, else HTTP/1.1.
    pub http2: bool,
    /// One request was answered; else nothing was asked, though TLS and HTTP/2 have begun.
    pub used: bool,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.http2 { "HTTP/2" } else { "HTTP/1.1" };
        let security = if self.tls { "TLS" } else { "clear text" };
        write!(f, "{version}, {security}, {}", if self.used { "used once" } else { "never used" })
    }
}

impl Kind {
    /// A connection of this kind to a port of this machine.
    ///
    /// # Errors
    /// When the server does not take it.
    pub fn connect(self, port: u16) -> io::Result<Box<dyn Wire>> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        self.over(socket)
    }

    /// Makes a connection of this kind of one that was opened.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub fn over(self, socket: TcpStream) -> io::Result<Box<dyn Wire>> {
        wire::prepare(&socket)?;
        let mut wire: Box<dyn Wire> = if self.tls {
            let alpn: &[u8] = if self.http2 { b"h2" } else { b"http/1.1" };
            let mut stream = tls::client_offering(socket, alpn)?;
            stream.conn.complete_io(&mut stream.sock)?;
            Box::new(stream)
        } else {
            Box::new(socket)
        };
        if self.http2 {
            wire.write_all(&[PREFACE, &frames::settings(&[])].concat())?;
        }
        if self.used {
            self.ask(&mut *wire)?;
        }
        Ok(wire)
    }

    /// Asks for `/` and reads the answer.
    fn ask(self, wire: &mut dyn Wire) -> io::Result<()> {
        if self.http2 {
            wire.write_all(&frames::headers(1, &frames::request_block("GET"), true))?;
            let is_end =
                |frame: &frames::Frame| frame.stream == 1 && frame.flags & frames::flag::END_STREAM != 0;
            let end = wire::read_until(wire, |frame| is_end(frame) || frame.kind == kind::GOAWAY)?;
            return end.filter(is_end).map(drop).ok_or_else(|| ErrorKind::UnexpectedEof.into());
        }
        wire.write_all(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            wire.read_exact(&mut byte)?;
            head.extend(byte);
        }
        let is_answered = head.starts_with(b"HTTP/1.1 200 ");
        is_answered.then_some(()).ok_or_else(|| io::Error::other(String::from_utf8_lossy(&head).into_owned()))
    }
}

/// Connects from this address of this machine.
///
/// # Errors
/// When the address is not ours, or nobody listens.
pub fn connect_from(address: Ipv4Addr, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((address, 0)).into())?;
    // A backlog that is full is not waited for.
    socket.set_nonblocking(true)?;
    // The end of it is a reset.
    socket.set_linger(Some(Duration::ZERO))?;
    match socket.connect(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()) {
        Err(error) if !is_in_progress(&error) => Err(error),
        _ => Ok(socket),
    }
}

fn is_in_progress(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
        || error.raw_os_error() == Some(nix::errno::Errno::EINPROGRESS as i32)
}

/// Has the command run with at most so many descriptors.
pub fn limit_descriptors(command: &mut Command, most: u32) {
    begin_with(command, &format!("ulimit -n {most}"));
}

/// Has the command begin with so many descriptors, more of which it may ask for, as in a usual shell.
pub fn begin_with_few_descriptors(command: &mut Command, few: u32) {
    begin_with(command, &format!("ulimit -S -n {few}"));
}

fn begin_with(command: &mut Command, line: &str) {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("{line} && exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args());
    *command = limited;
}

/// Lets this process have as many descriptors as it may, and says how many.
///
/// # Panics
/// When the system does not say.
#[must_use]
pub fn raise_descriptors() -> u64 {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("every system has the limit");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).expect("up to the hard limit all may");
    hard
}

/// Passes bytes on between two sockets until either ends, so much later than they came.
pub fn relay_late(near: TcpStream, far: TcpStream, delay: Duration) {
    let copy = |socket: &TcpStream| socket.try_clone().expect("a descriptor can be had");
    pass_on(copy(&near), copy(&far), delay);
    pass_on(far, near, delay);
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    use std::sync::mpsc;
    use std::time::Instant;

    let (send, sent) = mpsc::channel::<(Instant, Vec<u8>)>();
    // Nothing is ever said here: waiting for it is how the thread lets time pass.
    let (_keep, silence) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        for (due, bytes) in sent {
            let _ = silence.recv_timeout(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
        drop(_keep);
    });
    std::thread::spawn(move || {
        let mut space = [0; 16 * 1024];
        while let Ok(bytes @ 1..) = from.read(&mut space) {
            if send.send((Instant::now() + delay, space[..bytes].to_vec())).is_err() {
                break;
            }
        }
    });
}
