//! The spike behind `docs/decisions/0003-who-moves-the-bytes.md`: who reads and writes the socket of a
//! multiplexed connection, a task that owns it or the callers themselves?
//!
//! Both candidates speak the same toy protocol (62 octets out, 20 octets back, a slot number in front), over the
//! same kind of shared state, against the same blocking server in a process of its own. Run it with
//! `cargo run --profile bench -p alula-bench --example loops`; one candidate under callgrind with
//! `loops one owner|baton IN_FLIGHT REQUESTS`.

use std::{
    future::Future,
    io::{self, BufRead, BufReader, Read, Write},
    pin::Pin,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use tokio::net::TcpStream;

const REQUEST: usize = 62;
const ANSWER: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => serve(),
        ["one", who, in_flight, requests] => one(who, in_flight, requests),
        _ => compare(),
    }
}

fn one(who: &str, in_flight: &str, requests: &str) {
    let (mut server, port) = start_server();
    let runtime = runtime(1);
    let (in_flight, requests) = (in_flight.parse().unwrap(), requests.parse().unwrap());
    let run = measure(&runtime, port, candidate(who), in_flight, requests);
    println!("{who} {in_flight}: {:.0} requests/s, {:.2} us CPU", run.per_second, run.cpu_us);
    stop(&mut server);
}

fn compare() {
    let (mut server, port) = start_server();
    println!(
        "| threads | in flight | baton req/s over owner (min-max) | baton CPU over owner (min-max) | owner us CPU | baton us CPU |"
    );
    println!("|---|---|---|---|---|---|");
    for threads in [1, 2] {
        let runtime = runtime(threads);
        for in_flight in [1, 10, 100] {
            let requests = if in_flight == 1 { 5_000 } else { 40_000 };
            let rounds: Vec<(Run, Run)> = (0..15)
                .map(|_| {
                    let owner = measure(&runtime, port, Candidate::Owner, in_flight, requests);
                    (owner, measure(&runtime, port, Candidate::Baton, in_flight, requests))
                })
                .collect();
            let speed = Spread::of(rounds.iter().map(|(o, b)| b.per_second / o.per_second));
            let cpu = Spread::of(rounds.iter().map(|(o, b)| b.cpu_us / o.cpu_us));
            let owner = Spread::of(rounds.iter().map(|(o, _)| o.cpu_us));
            let baton = Spread::of(rounds.iter().map(|(_, b)| b.cpu_us));
            println!(
                "| {threads} | {in_flight} | {speed} | {cpu} | {:.2} | {:.2} |",
                owner.median, baton.median
            );
        }
    }
    stop(&mut server);
}

#[derive(Copy, Clone)]
enum Candidate {
    Owner,
    Baton,
}

fn candidate(name: &str) -> Candidate {
    match name {
        "owner" => Candidate::Owner,
        "baton" => Candidate::Baton,
        _ => panic!("owner or baton"),
    }
}

struct Run {
    per_second: f64,
    cpu_us: f64,
}

fn measure(
    runtime: &tokio::runtime::Runtime,
    port: u16,
    who: Candidate,
    in_flight: usize,
    requests: usize,
) -> Run {
    runtime.block_on(async move {
        let socket = TcpStream::connect(("127.0.0.1", port)).await.expect("the server listens");
        socket.set_nodelay(true).expect("a TCP socket");
        let conn = Arc::new(Conn { socket, who, state: Mutex::default() });
        let owner = matches!(who, Candidate::Owner).then(|| tokio::spawn(Owner(conn.clone())));
        many(&conn, in_flight, requests / 10).await;
        let (cpu, start) = (cpu_time(), Instant::now());
        many(&conn, in_flight, requests).await;
        let (elapsed, cpu) = (start.elapsed(), cpu_time() - cpu);
        if let Some(owner) = owner {
            owner.abort();
        }
        Run {
            per_second: requests as f64 / elapsed.as_secs_f64(),
            cpu_us: cpu.as_secs_f64() * 1e6 / requests as f64,
        }
    })
}

async fn many(conn: &Arc<Conn>, in_flight: usize, requests: usize) {
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let conn = conn.clone();
            tokio::spawn(async move {
                for _ in 0..requests / in_flight {
                    Call { conn: &conn, slot: None, yielded: false }.await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("a caller ends");
    }
}

struct Conn {
    socket: TcpStream,
    who: Candidate,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    slots: Vec<Slot>,
    free: Vec<u32>,
    out: Vec<u8>,
    spare_out: Vec<u8>,
    input: Vec<u8>,
    filled: usize,
    /// The owner's waker, or nothing while it is awake.
    owner: Option<Waker>,
    /// The slot whose caller reads.
    reader: Option<u32>,
    /// Callers woken with their answer that have not run yet.
    woken: usize,
}

#[derive(Default)]
struct Slot {
    waker: Option<Waker>,
    done: bool,
    waiting: bool,
}

impl State {
    fn open(&mut self) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let mut request = [b'r'; REQUEST];
        request[..4].copy_from_slice(&slot.to_be_bytes());
        self.out.extend_from_slice(&request);
        slot
    }

    fn wait(&mut self, slot: u32, waker: &Waker) {
        let slot = &mut self.slots[slot as usize];
        slot.waiting = true;
        match &mut slot.waker {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Ends every request whose answer is in the input, waking all but `me`.
    fn answers(&mut self, input: &[u8], me: Option<u32>, wake: &mut Vec<Waker>) -> usize {
        let mut at = 0;
        while input.len() - at >= ANSWER {
            let number = u32::from_be_bytes(input[at..at + 4].try_into().expect("four octets"));
            let slot = &mut self.slots[number as usize];
            slot.done = true;
            if Some(number) != me && slot.waiting {
                slot.waiting = false;
                self.woken += 1;
                wake.push(slot.waker.take().expect("a waiting caller has a waker"));
            }
            at += ANSWER;
        }
        at
    }

    fn close(&mut self, slot: u32) {
        self.slots[slot as usize].done = false;
        self.free.push(slot);
    }
}

/// One request on the connection.
struct Call<'a> {
    conn: &'a Conn,
    slot: Option<u32>,
    yielded: bool,
}

impl Future for Call<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.conn.who {
            Candidate::Owner => self.poll_owned(cx),
            Candidate::Baton => self.poll_baton(cx),
        }
    }
}

impl Call<'_> {
    fn poll_owned(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.conn.state.lock().expect("no panics");
        let Some(slot) = self.slot else {
            let slot = state.open();
            self.slot = Some(slot);
            state.wait(slot, cx.waker());
            let owner = state.owner.take();
            drop(state);
            if let Some(owner) = owner {
                owner.wake();
            }
            return Poll::Pending;
        };
        if state.slots[slot as usize].done {
            state.close(slot);
            return Poll::Ready(());
        }
        state.wait(slot, cx.waker());
        Poll::Pending
    }

    fn poll_baton(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.conn.state.lock().expect("no panics");
        let slot = match self.slot {
            Some(slot) => {
                if state.slots[slot as usize].done {
                    if !state.slots[slot as usize].waiting && state.reader != Some(slot) {
                        state.woken -= 1;
                    }
                    return self.leave(state, slot);
                }
                slot
            }
            None => {
                let slot = state.open();
                self.slot = Some(slot);
                slot
            }
        };
        if state.reader.is_some_and(|reader| reader != slot) {
            state.wait(slot, cx.waker());
            return Poll::Pending;
        }
        state.reader = Some(slot);
        if state.woken > 0 && !self.yielded {
            // Others are about to run and may have something to send: one write for all.
            self.yielded = true;
            drop(state);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.read_for_all(state, slot, cx)
    }

    fn read_for_all<'s>(
        &'s self,
        mut state: std::sync::MutexGuard<'s, State>,
        slot: u32,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let mut input = std::mem::take(&mut state.input);
        input.resize(65_536, 0);
        let mut wake = Vec::new();
        loop {
            let out = state.take_out();
            drop(state);
            write_now(&self.conn.socket, &out);
            let read = match self.conn.socket.poll_read_ready(cx) {
                Poll::Pending => None,
                Poll::Ready(_) => self.conn.socket.try_read(&mut input).ok(),
            };
            state = self.conn.state.lock().expect("no panics");
            state.give_out(out);
            let Some(read) = read else {
                if self.conn.socket.poll_read_ready(cx).is_ready() {
                    continue;
                }
                state.input = input;
                return Poll::Pending;
            };
            let used = state.answers(&input[..read], Some(slot), &mut wake);
            assert_eq!(used, read, "answers come whole in this toy");
            if state.slots[slot as usize].done {
                state.input = input;
                let left = self.leave(state, slot);
                wake.drain(..).for_each(Waker::wake);
                return left;
            }
            drop(state);
            wake.drain(..).for_each(Waker::wake);
            state = self.conn.state.lock().expect("no panics");
        }
    }

    /// Ends the request; a reader hands its place to a caller that still waits.
    fn leave(&self, mut state: std::sync::MutexGuard<'_, State>, slot: u32) -> Poll<()> {
        state.close(slot);
        let mut next = None;
        if state.reader == Some(slot) {
            state.reader = None;
            if let Some(at) = state.slots.iter().position(|s| s.waiting) {
                state.reader = Some(at as u32);
                state.slots[at].waiting = false;
                next = state.slots[at].waker.take();
            }
        }
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
        Poll::Ready(())
    }
}

impl State {
    fn take_out(&mut self) -> Vec<u8> {
        let spare = std::mem::take(&mut self.spare_out);
        std::mem::replace(&mut self.out, spare)
    }

    fn give_out(&mut self, mut out: Vec<u8>) {
        out.clear();
        self.spare_out = out;
    }
}

fn write_now(socket: &TcpStream, mut out: &[u8]) {
    while !out.is_empty() {
        match socket.try_write(out) {
            Ok(written) => out = &out[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The task that owns the socket.
struct Owner(Arc<Conn>);

impl Future for Owner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let conn = &*self.0;
        let mut state = conn.state.lock().expect("no panics");
        state.owner = None;
        let mut input = std::mem::take(&mut state.input);
        input.resize(65_536, 0);
        let mut wake = Vec::new();
        loop {
            let out = state.take_out();
            drop(state);
            write_now(&conn.socket, &out);
            let read = match conn.socket.poll_read_ready(cx) {
                Poll::Pending => None,
                Poll::Ready(_) => conn.socket.try_read(&mut input).ok(),
            };
            state = conn.state.lock().expect("no panics");
            state.give_out(out);
            match read {
                Some(read) => {
                    let filled = state.filled;
                    assert_eq!(filled, 0);
                    state.answers(&input[..read], None, &mut wake);
                    drop(state);
                    wake.drain(..).for_each(Waker::wake);
                    state = conn.state.lock().expect("no panics");
                }
                None if !state.out.is_empty() || conn.socket.poll_read_ready(cx).is_ready() => {}
                None => {
                    state.input = input;
                    state.owner = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
    }
}

struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], most: values[values.len() - 1] }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2}-{:.2})", self.median, self.least, self.most)
    }
}

fn runtime(threads: usize) -> tokio::runtime::Runtime {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads).enable_all().build().expect("a runtime")
}

/// The CPU time of all threads of this process (Linux: the first number of each thread's `schedstat`).
fn cpu_time() -> Duration {
    let nanos = std::fs::read_dir("/proc/self/task")
        .expect("Linux")
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanos)
}

fn start_server() -> (Child, u16) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .arg("server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs again");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a port");
    (child, line.trim().parse().expect("a port"))
}

fn stop(server: &mut Child) {
    server.kill().expect("the server runs");
    server.wait().expect("the server ends");
}

/// Answers every request with 20 octets, one write for all that one read brought.
fn serve() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("bound").port());
    for socket in listener.incoming() {
        std::thread::spawn(move || answer_all(socket.expect("accepted")));
    }
}

fn answer_all(mut socket: std::net::TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let (mut input, mut filled) = (vec![0; 65_536], 0);
    let mut out = Vec::new();
    loop {
        match socket.read(&mut input[filled..])? {
            0 => return Ok(()),
            read => filled += read,
        }
        let whole = filled / REQUEST * REQUEST;
        out.clear();
        for request in input[..whole].chunks(REQUEST) {
            out.extend_from_slice(&request[..4]);
            out.extend_from_slice(&[b'a'; ANSWER - 4]);
        }
        input.copy_within(whole..filled, 0);
        filled -= whole;
        socket.write_all(&out)?;
    }
}
