//! The floor: as many octets as a request and its answer have, over bare sockets, batched as the stacks do it.
//!
//! `floor block|tokio client UNITS UP DOWN PORT` asks as a client would; `floor block|tokio serve UP DOWN` answers, all that one
//! read brought in one write; `floor drive REQUESTS CONNECTIONS IN_FLIGHT UP DOWN PORT` is to it what h2load is to servers.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::measure::{Run, end_with_input, measured, one_thread};

/// Octets of a request, and of its answer.
#[derive(Clone, Copy)]
struct Octets {
    up: usize,
    down: usize,
}

impl Octets {
    fn parse(up: &str, down: &str) -> Option<Self> {
        Some(Self { up: up.parse().ok()?, down: down.parse().ok()? })
    }
}

pub(crate) fn dispatch(args: &[&str]) -> Option<()> {
    match args {
        [kind, "client", units, up, down, port] => {
            let (octets, port) = (Octets::parse(up, down)?, port.parse().ok()?);
            let run = if *kind == "tokio" { client_tokio(octets, port) } else { client_block(octets, port) };
            measured(run, "client", units.parse().ok()?);
        }
        ["tokio", "serve", up, down] => serve_tokio(Octets::parse(up, down)?),
        ["block", "serve", up, down] => serve_block(Octets::parse(up, down)?),
        ["drive", requests, connections, in_flight, up, down, port] => {
            let load = Load {
                requests: requests.parse().ok()?,
                connections: connections.parse().ok()?,
                in_flight: in_flight.parse().ok()?,
            };
            drive(load, Octets::parse(up, down)?, port.parse().ok()?);
        }
        _ => return None,
    }
    Some(())
}

fn connect(port: u16) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    socket.set_nodelay(true).expect("a TCP socket");
    socket
}

fn client_block(octets: Octets, port: u16) -> Run {
    let mut socket = connect(port);
    let (request, mut answer) = (vec![b'r'; octets.up], vec![0; octets.down]);
    Box::new(move |count| {
        for _ in 0..count {
            socket.write_all(&request).expect("it is sent");
            socket.read_exact(&mut answer).expect("an answer");
        }
    })
}

fn client_tokio(octets: Octets, port: u16) -> Run {
    let (runtime, socket) = (one_thread(), connect(port));
    let (request, mut answer) = (vec![b'r'; octets.up], vec![0; octets.down]);
    socket.set_nonblocking(true).expect("a socket");
    let mut socket = {
        let _inside = runtime.enter();
        tokio::net::TcpStream::from_std(socket).expect("a socket")
    };
    Box::new(move |count| {
        runtime.block_on(async {
            for _ in 0..count {
                socket.write_all(&request).await.expect("it is sent");
                socket.read_exact(&mut answer).await.expect("an answer");
            }
        });
    })
}

/// As many connections are answered at a time.
const THREADS: usize = 16;

fn serve_block(octets: Octets) {
    end_with_input();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    // Threads that stay, since a thread that ends takes the record of its CPU time with it.
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let (socket, _) = listener.accept().expect("a connection");
                    answer_block(socket, octets).expect("the client closes in order");
                }
            });
        }
    });
}

fn answer_block(mut socket: TcpStream, octets: Octets) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut answers = Answers::new(octets);
    loop {
        let read = socket.read(&mut answers.input)?;
        if read == 0 {
            return Ok(());
        }
        socket.write_all(answers.to(read))?;
    }
}

fn serve_tokio(octets: Octets) {
    one_thread().block_on(async {
        end_with_input();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("it is bound").port());
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            tokio::spawn(answer_tokio(socket, octets));
        }
    });
}

async fn answer_tokio(mut socket: tokio::net::TcpStream, octets: Octets) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut answers = Answers::new(octets);
    loop {
        let read = socket.read(&mut answers.input).await?;
        if read == 0 {
            return Ok(());
        }
        socket.write_all(answers.to(read)).await?;
    }
}

/// Which answers are due: one for each whole request.
struct Answers {
    octets: Octets,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Of a request that is not here whole.
    left: usize,
}

impl Answers {
    fn new(octets: Octets) -> Self {
        Self { octets, input: vec![0; 65_536], out: Vec::new(), left: 0 }
    }

    fn to(&mut self, read: usize) -> &[u8] {
        let there = self.left + read;
        self.left = there % self.octets.up;
        let due = there / self.octets.up * self.octets.down;
        if self.out.len() < due {
            self.out.resize(due, b'a');
        }
        &self.out[..due]
    }
}

/// As h2load is told.
#[derive(Clone, Copy)]
struct Load {
    requests: usize,
    connections: usize,
    in_flight: usize,
}

/// Prints the requests per second.
fn drive(load: Load, octets: Octets, port: u16) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..load.connections {
            scope.spawn(|| drive_one(load, octets, port));
        }
    });
    println!("{}", load.requests as f64 / start.elapsed().as_secs_f64());
}

fn drive_one(load: Load, octets: Octets, port: u16) {
    let mut socket = connect(port);
    let (requests, mut answers) =
        (vec![b'r'; octets.up * load.in_flight], vec![0; octets.down * load.in_flight]);
    for _ in 0..load.requests / load.connections / load.in_flight {
        socket.write_all(&requests).expect("they are sent");
        socket.read_exact(&mut answers).expect("their answers");
    }
}
