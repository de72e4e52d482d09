//! The floor: as many bytes as a request and its answer have, over bare sockets, batched as the stacks do
//! it.
//!
//! - `floor block|tokio client UNITS CONNECTIONS IN_FLIGHT UP DOWN PORT` asks as a client would, with so many
//!   in flight on each connection.
//! - `floor block|tokio serve UP DOWN` answers, all that one read brought in one write.
//! - `floor drive REQUESTS CONNECTIONS IN_FLIGHT UP DOWN PORT` is to it what h2load is to servers.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::clients::asking::spread;
use crate::measure::{Run, end_with_input, measured, one_thread};

/// Bytes of a request, and of its answer.
#[derive(Clone, Copy)]
struct Bytes {
    up: usize,
    down: usize,
}

impl Bytes {
    fn parse(up: &str, down: &str) -> Option<Self> {
        Some(Self { up: up.parse().ok()?, down: down.parse().ok()? })
    }

    /// So many requests, and room for their answers.
    fn of(self, requests: u64) -> (Vec<u8>, Vec<u8>) {
        (vec![b'r'; self.up * requests as usize], vec![0; self.down * requests as usize])
    }
}

/// As h2load is told.
#[derive(Clone, Copy)]
struct Load {
    requests: u64,
    connections: u64,
    /// On each connection.
    in_flight: u64,
}

impl Load {
    fn parse(requests: u64, connections: &str, in_flight: &str) -> Option<Self> {
        Some(Self { requests, connections: connections.parse().ok()?, in_flight: in_flight.parse().ok()? })
    }
}

pub(crate) fn dispatch(args: &[&str]) -> Option<()> {
    match args {
        [kind, "client", units, connections, in_flight, up, down, port] => {
            let units = units.parse().ok()?;
            let load = Load::parse(units, connections, in_flight)?;
            let (bytes, port) = (Bytes::parse(up, down)?, port.parse().ok()?);
            let client = if *kind == "tokio" { client_tokio } else { client_block };
            let work = format!("client-m{}", load.connections * load.in_flight);
            measured(client(load, bytes, port), &work, units);
        }
        ["tokio", "serve", up, down] => serve_tokio(Bytes::parse(up, down)?),
        ["block", "serve", up, down] => serve_block(Bytes::parse(up, down)?),
        ["drive", requests, connections, in_flight, up, down, port] => {
            let load = Load::parse(requests.parse().ok()?, connections, in_flight)?;
            drive(load, Bytes::parse(up, down)?, port.parse().ok()?);
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

/// Writes on every connection, then reads on every one: as few calls as there can be.
fn client_block(load: Load, bytes: Bytes, port: u16) -> Run {
    let mut sockets: Vec<TcpStream> = (0..load.connections).map(|_| connect(port)).collect();
    let (requests, mut answers) = bytes.of(load.in_flight);
    Box::new(move |count| {
        let mut left = count;
        while left > 0 {
            let before = left;
            for socket in &mut sockets {
                let now = left.min(load.in_flight);
                socket.write_all(&requests[..bytes.up * now as usize]).expect("they are sent");
                left -= now;
            }
            left = before;
            for socket in &mut sockets {
                let now = left.min(load.in_flight);
                socket.read_exact(&mut answers[..bytes.down * now as usize]).expect("their answers");
                left -= now;
            }
        }
    })
}

/// With a task for each connection.
fn client_tokio(load: Load, bytes: Bytes, port: u16) -> Run {
    let runtime = one_thread();
    let mut sockets: Vec<_> = {
        let _inside = runtime.enter();
        (0..load.connections).map(|_| connect_tokio(port)).collect()
    };
    Box::new(move |count| {
        runtime.block_on(spread(&mut sockets, count, |mut socket, share| async move {
            let (requests, mut answers) = bytes.of(load.in_flight);
            let mut left = share;
            while left > 0 {
                let now = left.min(load.in_flight);
                let (up, down) = (bytes.up * now as usize, bytes.down * now as usize);
                socket.write_all(&requests[..up]).await.expect("they are sent");
                socket.read_exact(&mut answers[..down]).await.expect("their answers");
                left -= now;
            }
            socket
        }));
    })
}

fn connect_tokio(port: u16) -> tokio::net::TcpStream {
    let socket = connect(port);
    socket.set_nonblocking(true).expect("a socket");
    tokio::net::TcpStream::from_std(socket).expect("a socket")
}

/// As many connections are answered at a time.
const THREADS: usize = 64;

fn serve_block(bytes: Bytes) {
    end_with_input();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    // Threads that stay, since a thread that ends takes the record of its CPU time with it.
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let (socket, _) = listener.accept().expect("a connection");
                    answer_block(socket, bytes).expect("the client closes in order");
                }
            });
        }
    });
}

fn answer_block(mut socket: TcpStream, bytes: Bytes) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut answers = Answers::new(bytes);
    loop {
        let read = socket.read(&mut answers.input)?;
        if read == 0 {
            return Ok(());
        }
        socket.write_all(answers.to(read))?;
    }
}

fn serve_tokio(bytes: Bytes) {
    one_thread().block_on(async {
        end_with_input();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("it is bound").port());
        loop {
            let (socket, _) = listener.accept().await.expect("a connection");
            tokio::spawn(answer_tokio(socket, bytes));
        }
    });
}

async fn answer_tokio(mut socket: tokio::net::TcpStream, bytes: Bytes) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut answers = Answers::new(bytes);
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
    bytes: Bytes,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Of a request that is not here whole.
    left: usize,
}

impl Answers {
    fn new(bytes: Bytes) -> Self {
        Self { bytes, input: vec![0; 65_536], out: Vec::new(), left: 0 }
    }

    fn to(&mut self, read: usize) -> &[u8] {
        let there = self.left + read;
        self.left = there % self.bytes.up;
        let due = there / self.bytes.up * self.bytes.down;
        if self.out.len() < due {
            self.out.resize(due, b'a');
        }
        &self.out[..due]
    }
}

/// Prints the requests per second.
fn drive(load: Load, bytes: Bytes, port: u16) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..load.connections {
            scope.spawn(|| drive_one(load, bytes, port));
        }
    });
    println!("{}", load.requests as f64 / start.elapsed().as_secs_f64());
}

fn drive_one(load: Load, bytes: Bytes, port: u16) {
    let mut socket = connect(port);
    let (requests, mut answers) = bytes.of(load.in_flight);
    for _ in 0..load.requests / load.connections / load.in_flight {
        socket.write_all(&requests).expect("they are sent");
        socket.read_exact(&mut answers).expect("their answers");
    }
}
