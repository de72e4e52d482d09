//! The processor time of a request at 1, 2 and 8 workers under the same load for each worker: it grows where
//! connections write to memory that they share.
//!
//! The server is a process of its own, with a route of one capture; each worker has four connections of
//! HTTP/2, with eight requests in flight each. Rounds take turns. Run it with `cargo run --profile bench -p
//! alula-bench --example workers`.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
};

use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::get};

const WORKERS: [usize; 3] = [1, 2, 8];
const ROUNDS: usize = 15;
const CONNECTIONS: usize = 4;
const IN_FLIGHT: usize = 8;
/// Requests of one connection in a round.
const REQUESTS: usize = 8_000;

fn main() {
    match std::env::args().nth(1) {
        Some(workers) => serve(workers.parse().expect("a number of workers")),
        None => compare(),
    }
}

fn serve(workers: usize) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_all().build().expect("a runtime");
    let serving = async {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", server.address().expect("an address").port());
        let router = Router::new().route("/{name}", get(answer)).build().expect("routes");
        server.serve(router).await.expect("it serves");
    };
    runtime.block_on(async { tokio::spawn(serving).await }).expect("it ends well");
}

async fn answer(exchange: Exchange) -> Result<Sent, Answer> {
    assert_eq!(exchange.param("name")?, "index.html");
    Ok(exchange.respond(Status::OK).send("Hello, World!").await?)
}

fn compare() {
    let mut servers = WORKERS.map(start);
    let mut figures = [vec![], vec![], vec![]];
    for round in 0..=ROUNDS {
        for (at, workers) in WORKERS.into_iter().enumerate() {
            let cost = cost(&servers[at].0, servers[at].1, workers);
            // The first round warms up.
            figures[at].extend((round > 0).then_some(cost));
        }
    }
    println!("| workers | connections | µs of processor time for a request |");
    println!("| --- | --- | --- |");
    for (workers, figures) in WORKERS.into_iter().zip(&mut figures) {
        figures.sort_by(f64::total_cmp);
        let [least, median, most] = [0, figures.len() / 2, figures.len() - 1].map(|at| figures[at]);
        println!("| {workers} | {} | {median:.2} ({least:.2}–{most:.2}) |", workers * CONNECTIONS);
    }
    for (server, _) in &mut servers {
        let _ = server.kill();
        let _ = server.wait();
    }
}

fn start(workers: usize) -> (Child, u16) {
    let program = std::env::current_exe().expect("this program");
    let mut server =
        Command::new(program).arg(workers.to_string()).stdout(Stdio::piped()).spawn().expect("a server");
    let mut port = String::new();
    let output = server.stdout.take().expect("its output");
    BufReader::new(output).read_line(&mut port).expect("its port");
    (server, port.trim().parse().expect("a port"))
}

/// Microseconds of the server's processor time for each request.
fn cost(server: &Child, port: u16, workers: usize) -> f64 {
    let before = nanoseconds(server.id());
    thread::scope(|scope| {
        (0..workers * CONNECTIONS).for_each(|_| _ = scope.spawn(|| ask(port)));
    });
    let requests = workers * CONNECTIONS * REQUESTS;
    (nanoseconds(server.id()) - before) as f64 / 1e3 / requests as f64
}

/// The time for which all threads of a process have run so far.
fn nanoseconds(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).expect("Linux");
    let of_thread = |thread: fs::DirEntry| {
        let statistics = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        statistics.split(' ').next()?.parse::<u64>().ok()
    };
    threads.filter_map(|thread| of_thread(thread.ok()?)).sum()
}

/// Asks on a connection of its own, so many requests at a time, in frames that were written before.
fn ask(port: u16) {
    const PREFACE: &[u8] =
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x40\0\0\0";
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    socket.set_nodelay(true).expect("a socket");
    let mut out = PREFACE.to_vec();
    let mut asked = 0;
    let mut request = |out: &mut Vec<u8>| {
        // GET of `/index.html`, in indexes of HPACK's static table, and the authority `a`.
        out.extend_from_slice(b"\0\0\x06\x01\x05");
        out.extend_from_slice(&(2 * asked + 1_u32).to_be_bytes());
        out.extend_from_slice(b"\x82\x86\x85\x01\x01a");
        asked += 1;
    };
    (0..IN_FLIGHT).for_each(|_| request(&mut out));
    let (mut sent, mut answered, mut input) = (IN_FLIGHT, 0, Vec::new());
    while answered < REQUESTS {
        socket.write_all(&out).expect("it is taken");
        out.clear();
        let ended = read(&mut socket, &mut input);
        answered += ended;
        let more = ended.min(REQUESTS - sent);
        (0..more).for_each(|_| request(&mut out));
        sent += more;
    }
}

/// Reads once, and counts the streams that have ended.
fn read(socket: &mut TcpStream, input: &mut Vec<u8>) -> usize {
    let mut bytes = [0; 16 * 1024];
    let read = socket.read(&mut bytes).expect("bytes come");
    assert!(read > 0, "the server has closed");
    input.extend_from_slice(&bytes[..read]);
    let (mut ended, mut used) = (0, 0);
    while let [a, b, c, kind, flags, ..] = input[used..] {
        let end = used + 9 + u32::from_be_bytes([0, a, b, c]) as usize;
        if end > input.len() {
            break;
        }
        ended += usize::from(kind <= 1 && flags & 1 != 0);
        used = end;
    }
    input.drain(..used);
    ended
}
