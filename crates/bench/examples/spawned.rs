//! Handlers that compute, in tasks of their own (`Route::spawned`), beside hyper, which gives each request of HTTP/2 a task.
//!
//! Both servers run on two threads of one runtime each, in this process, and take turns: sixteen requests in flight on one connection,
//! each of which computes for 50 microseconds; then a PING while a handler computes for 100 milliseconds. The peer is a loop over frames
//! that were written before. Run it with `cargo run --profile bench -p alula-bench --example spawned`.

use std::{
    convert::Infallible,
    hint::black_box,
    io::{Read, Write},
    net::TcpStream,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::get};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpListener, runtime::Runtime};

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(800);
const IN_FLIGHT: u32 = 16;
const SHORT: Duration = Duration::from_micros(50);
const LONG: Duration = Duration::from_millis(100);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

fn main() {
    calibrate();
    let servers = [("Alula", serve_alula()), ("hyper", serve_hyper())];
    let mut figures = [[vec![], vec![]], [vec![], vec![]]];
    for round in 0..=ROUNDS {
        for (server, (_, port)) in servers.iter().enumerate() {
            let measured = [throughput(*port), ping(*port)];
            // The first round warms up.
            for (figures, figure) in figures[server].iter_mut().zip(measured).filter(|_| round > 0) {
                figures.push(figure);
            }
        }
    }
    println!(
        "| server | requests/s of 50 µs, 16 in flight | ms until a PING is acknowledged beside 100 ms |"
    );
    println!("| --- | --- | --- |");
    for ((name, _), [requests, ping]) in servers.iter().zip(&mut figures) {
        println!("| {name} | {} | {} |", spread(requests, 0), spread(ping, 2));
    }
}

/// The median, the least and the most.
fn spread(figures: &mut [f64], digits: usize) -> String {
    figures.sort_by(f64::total_cmp);
    let [least, median, most] = [0, figures.len() / 2, figures.len() - 1].map(|at| figures[at]);
    format!("{median:.digits$} ({least:.digits$}–{most:.digits$})")
}

/// Steps of computing in a second, on a core of its own.
static STEPS: OnceLock<f64> = OnceLock::new();

fn calibrate() {
    const TRIED: u64 = 20_000_000;
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        steps(TRIED);
        begun.elapsed().as_secs_f64()
    });
    let shortest = times.min_by(f64::total_cmp).expect("it was measured");
    STEPS.set(TRIED as f64 / shortest).expect("it is measured once");
}

fn steps(count: u64) -> u64 {
    (0..count).fold(1, |sum, step| black_box(sum * 31 + step % 7) & 0xffff)
}

/// Handlers that have begun to compute for long.
static LONG_BEGUN: AtomicU32 = AtomicU32::new(0);

/// Computes as much as takes so long when nothing else runs.
fn compute(time: Duration) {
    LONG_BEGUN.fetch_add(u32::from(time == LONG), Relaxed);
    let count = STEPS.get().expect("it was measured") * time.as_secs_f64();
    black_box(steps(count as u64));
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn serve_alula() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        let serving = async move {
            let server = Server::bind("127.0.0.1:0").await.expect("a port");
            tell.send(server.address().expect("an address").port()).expect("it is waited for");
            let short = async |exchange: Exchange| answer(exchange, SHORT).await;
            let long = async |exchange: Exchange| answer(exchange, LONG).await;
            let router =
                Router::new().route("/", get(short).spawned()).route("/index.html", get(long).spawned());
            server.serve(router.build().expect("routes")).await.expect("it serves");
        };
        // On a worker, as connections are.
        runtime().block_on(async { tokio::spawn(serving).await })
    });
    port.recv().expect("it listens")
}

async fn answer(exchange: Exchange, time: Duration) -> Result<Sent, Answer> {
    compute(time);
    Ok(exchange.respond(Status::OK).send("done").await?)
}

fn serve_hyper() -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        let serving = async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            tell.send(listener.local_addr().expect("an address").port()).expect("it is waited for");
            loop {
                let (socket, _) = listener.accept().await.expect("a connection");
                socket.set_nodelay(true).expect("a socket");
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(server.serve_connection(TokioIo::new(socket), service_fn(respond)));
            }
        };
        // On a worker, as connections are.
        runtime().block_on(async { tokio::spawn(serving).await })
    });
    port.recv().expect("it listens")
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full<&'static [u8]>>, Infallible> {
    compute(if request.uri().path() == "/" { SHORT } else { LONG });
    Ok(Response::new(Full::new(b"done")))
}

/// Requests answered in a second.
fn throughput(port: u16) -> f64 {
    let mut peer = Peer::connect(port);
    let (begun, mut answered) = (Instant::now(), 0_u64);
    for _ in 0..IN_FLIGHT {
        peer.request(false);
    }
    peer.flush();
    while begun.elapsed() < ROUND {
        let ended = peer.read(|kind, flags| matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0);
        answered += u64::from(ended);
        (0..ended).for_each(|_| peer.request(false));
        peer.flush();
    }
    answered as f64 / begun.elapsed().as_secs_f64()
}

/// Milliseconds until a PING is acknowledged that is sent while a handler computes.
fn ping(port: u16) -> f64 {
    let mut peer = Peer::connect(port);
    let before = LONG_BEGUN.load(Relaxed);
    peer.request(true);
    peer.flush();
    while LONG_BEGUN.load(Relaxed) == before {
        thread::yield_now();
    }
    let begun = Instant::now();
    peer.frame(PING, 0, 0, &[0; 8]);
    peer.flush();
    while peer.read(|kind, flags| kind == PING && flags & ACK != 0) == 0 {}
    begun.elapsed().as_secs_f64() * 1e3
}

/// A connection of HTTP/2, as far as it takes.
struct Peer {
    socket: TcpStream,
    next: u32,
    out: Vec<u8>,
    input: Vec<u8>,
}

impl Peer {
    fn connect(port: u16) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        socket.set_nodelay(true).expect("a socket");
        let mut peer = Self { socket, next: 1, out: PREFACE.to_vec(), input: Vec::new() };
        peer.frame(SETTINGS, 0, 0, &[]);
        peer.frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes());
        peer.flush();
        while peer.read(|kind, flags| kind == SETTINGS && flags & ACK == 0) == 0 {}
        peer.frame(SETTINGS, ACK, 0, &[]);
        peer
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.out.extend_from_slice(&[kind, flags]);
        self.out.extend_from_slice(&stream.to_be_bytes());
        self.out.extend_from_slice(payload);
    }

    /// GET of `/`, or of `/index.html`, in indexes of HPACK's static table, and the authority `a`.
    fn request(&mut self, is_long: bool) {
        let block = [0x82, 0x86, if is_long { 0x85 } else { 0x84 }, 0x01, 0x01, b'a'];
        self.frame(HEADERS, END_STREAM | END_HEADERS, self.next, &block);
        self.next += 2;
    }

    fn flush(&mut self) {
        self.socket.write_all(&self.out).expect("it is taken");
        self.out.clear();
    }

    /// Reads once, and counts the whole frames of interest.
    fn read(&mut self, is_counted: impl Fn(u8, u8) -> bool) -> u32 {
        let mut octets = [0; 16 * 1024];
        let read = self.socket.read(&mut octets).expect("octets come");
        assert!(read > 0, "the server has closed");
        self.input.extend_from_slice(&octets[..read]);
        let (mut counted, mut used) = (0, 0);
        while let [a, b, c, kind, flags, ..] = self.input[used..] {
            let end = used + 9 + u32::from_be_bytes([0, a, b, c]) as usize;
            if end > self.input.len() {
                break;
            }
            counted += u32::from(is_counted(kind, flags));
            used = end;
        }
        self.input.drain(..used);
        counted
    }
}
