//! A client that behaves: a request every 100 ms, each on a new connection or all on one, on raw sockets.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::frames::{self, flag, kind};

/// From one request to the next.
const PAUSE: Duration = Duration::from_millis(100);

/// More than this no request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The way in which it asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    is_http1: bool,
    is_kept: bool,
}

/// The fate of its requests.
#[derive(Debug)]
pub(super) struct Served {
    manner: Manner,
    answered: usize,
    /// The first of those that were not, and how many there were.
    failed: Option<(io::Error, usize)>,
    slowest: Duration,
}

pub(super) struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Served>,
}

impl Manner {
    const fn new(is_http1: bool, is_kept: bool) -> Self {
        Self { is_http1, is_kept }
    }

    pub(super) const ALL: [Self; 4] =
        [Self::new(true, false), Self::new(true, true), Self::new(false, false), Self::new(false, true)];

    fn connect(self, port: u16) -> io::Result<Connection> {
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.set_nodelay(true)?;
        if !self.is_http1 {
            socket.write_all(&[frames::PREFACE, &frames::settings(&[])].concat())?;
        }
        Ok(Connection { is_http1: self.is_http1, next_stream: 1, input: BufReader::new(socket) })
    }
}

impl Bystander {
    /// Begins at once.
    pub(super) fn start(manner: Manner, port: u16) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let stop = Arc::clone(&stop);
            move || behave(manner, port, &stop)
        });
        Self { stop, thread }
    }

    /// Stops after the request that is under way.
    pub(super) fn stop(self) -> Served {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("it only asks and counts")
    }
}

#[expect(clippy::disallowed_methods, reason = "a client that asks now and then")]
fn behave(manner: Manner, port: u16, stop: &AtomicBool) -> Served {
    let mut served = Served { manner, answered: 0, failed: None, slowest: Duration::ZERO };
    let mut kept = None;
    while !stop.load(Ordering::Acquire) {
        let start = Instant::now();
        match ask(manner, port, &mut kept) {
            Ok(()) => served.answered += 1,
            Err(error) => served.failed.get_or_insert((error, 0)).1 += 1,
        }
        served.slowest = served.slowest.max(start.elapsed());
        thread::sleep(PAUSE.saturating_sub(start.elapsed()));
    }
    served
}

/// On the connection that is kept, if one is: a second one is made only after a failure.
fn ask(manner: Manner, port: u16, kept: &mut Option<Connection>) -> io::Result<()> {
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => manner.connect(port)?,
    };
    connection.ask()?;
    *kept = manner.is_kept.then_some(connection);
    Ok(())
}

struct Connection {
    is_http1: bool,
    next_stream: u32,
    input: BufReader<TcpStream>,
}

impl Connection {
    /// Asks for `/` and reads the whole answer, which must be one of 200.
    fn ask(&mut self) -> io::Result<()> {
        if self.is_http1 { self.ask_http1() } else { self.ask_http2() }
    }

    fn ask_http1(&mut self) -> io::Result<()> {
        self.input.get_mut().write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200 ") {
            return Err(io::Error::other(format!("answered {line:?}")));
        }
        let mut length = 0;
        loop {
            line.clear();
            self.input.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        self.input.read_exact(&mut vec![0; length])
    }

    fn ask_http2(&mut self) -> io::Result<()> {
        let stream = self.next_stream;
        self.next_stream += 2;
        self.write(&frames::headers(stream, &frames::request_block("GET"), true))?;
        loop {
            let frame = frames::read(&mut self.input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            let ends = frame.flags & flag::END_STREAM != 0;
            match frame.kind {
                kind::SETTINGS if frame.flags & flag::ACK == 0 => self.write(&frames::settings_ack())?,
                kind::PING if frame.flags & flag::ACK == 0 => {
                    self.write(&frames::frame(kind::PING, flag::ACK, 0, &frame.payload))?;
                }
                // Index 8 of the static table is `:status: 200` (RFC 7541 appendix A).
                kind::HEADERS if frame.stream == stream && frame.payload.first() != Some(&0x88) => {
                    return Err(io::Error::other("not answered 200"));
                }
                kind::HEADERS | kind::DATA if frame.stream == stream && ends => return self.give_back(),
                kind::RST_STREAM | kind::GOAWAY => return Err(io::Error::other(format!("{frame:?}"))),
                _ => {}
            }
        }
    }

    /// Opens the connection's window again by more than an answer here has.
    fn give_back(&mut self) -> io::Result<()> {
        self.write(&frames::frame(kind::WINDOW_UPDATE, flag::NONE, 0, &1024_u32.to_be_bytes()))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.get_mut().write_all(bytes)
    }
}

impl Served {
    /// Returns true if there were requests and all were answered.
    pub(super) fn is_whole(&self) -> bool {
        self.failed.is_none() && self.answered > 0
    }
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.manner.is_http1 { "HTTP/1.1" } else { "HTTP/2" };
        let connection = if self.manner.is_kept { "one kept connection" } else { "a new connection each" };
        let failed = self.failed.as_ref().map_or(0, |(_, count)| *count);
        let (all, slowest) = (self.answered + failed, super::milliseconds(self.slowest));
        write!(f, "{version}, {connection}: {} of {all} answered, slowest {slowest}", self.answered)?;
        match &self.failed {
            Some((error, _)) => write!(f, "; not answered: {error}"),
            None => Ok(()),
        }
    }
}
