//! Millions of requests over loopback: `alula-soak [--requests N]`.
//!
//! A server and clients of Alula in one process, a hundred calls in flight over a few connections. One call
//! in a hundred is given up, one in a hundred reads late, with windows so small that the server has to wait
//! for it. Every answer is compared byte by byte; in the end memory and descriptors must be as they were.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{fs, io};

use alula::{Client, Error, Exchange, Limits, Response, Sent, Server, Status};
use alula_simulation::content::{BYTES_MAX, Expected, content};
use alula_tally::Tally;
use alula_testkit::Rng;
use tokio::task::yield_now;
use tokio::time::{interval, sleep, timeout};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

/// The number of requests that are made unless it is said.
const REQUESTS: u64 = 5_000_000;
const IN_FLIGHT: u64 = 100;
const CLIENTS: usize = 4;
/// One call in so many is to be given up; half of these are answered before.
const GIVEN_UP: usize = 50;
/// After at most so many rounds of the runtime.
const PATIENCE_MAX: usize = 5;
/// One call in so many reads late.
const LATE: usize = 100;
/// The time that it waits.
const LATE_BY: Duration = Duration::from_millis(5);
/// No call takes that long.
const FOREVER: Duration = Duration::from_secs(60);
const TOLD_EVERY: Duration = Duration::from_secs(5);
/// How much more memory the last quarter may hold than the second, at the most of either: what is in flight
/// varies.
const GROWTH_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How many more descriptors: none is opened for a request.
const GROWTH_DESCRIPTORS_MAX: u64 = 2;

#[derive(Default)]
struct Counts {
    begun: AtomicU64,
    answered: AtomicU64,
    given_up: AtomicU64,
    wrong: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

/// What the process holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: u64,
    resident: u64,
    descriptors: u64,
}

fn main() -> ExitCode {
    let Some(requests) = requests() else {
        eprintln!("Usage: alula-soak [--requests N]");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(soak(requests))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("alula-soak: {error}");
            ExitCode::FAILURE
        }
    }
}

fn requests() -> Option<u64> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some(REQUESTS),
        ["--requests", number] => number.parse().ok(),
        _ => None,
    }
}

/// False when something was wrong.
async fn soak(requests: u64) -> io::Result<bool> {
    let server = Server::bind("127.0.0.1:0").await?;
    let (address, stop) = (server.address()?, server.stop_handle());
    let serving = tokio::spawn(server.serve(answer));
    let counts = Arc::new(Counts::default());
    let clients: Vec<Client> =
        (0..CLIENTS).map(client).collect::<Result<_, _>>().map_err(io::Error::other)?;
    let url: Arc<str> = format!("http://{address}/").into();
    let callers: Vec<_> = (0..IN_FLIGHT)
        .map(|caller| {
            let client = clients[caller as usize % CLIENTS].clone();
            tokio::spawn(call_often(client, url.clone(), counts.clone(), caller, requests))
        })
        .collect();
    let (telling, samples) = tell_all_along(counts.clone(), requests);
    for caller in callers {
        caller.await?;
    }
    telling.abort();
    let is_well = judge(&counts, &samples.lock().expect("nobody panics"));
    drop(clients);
    stop.stop();
    serving.await??;
    Ok(is_well)
}

/// Some have small windows, so that flow control has work to do.
fn client(index: usize) -> Result<Client, Error> {
    let small = Limits { stream_window: 8 * 1024, connection_window: 65_535, ..Limits::default() };
    let limits = if index.is_multiple_of(2) { Limits::default() } else { small };
    Client::builder().http2_prior_knowledge(true).limits(limits).build()
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let wanted = path[1..]
        .split_once('/')
        .and_then(|(number, bytes)| Some((number.parse().ok()?, bytes.parse().ok()?)));
    let Some((number, bytes)) = wanted else { return exchange.respond(Status::BAD_REQUEST).send(b"").await };
    while exchange.body().chunk().await?.is_some() {}
    exchange.respond(Status::OK).send(content(number, bytes)).await
}

async fn call_often(client: Client, url: Arc<str>, counts: Arc<Counts>, caller: u64, requests: u64) {
    let mut rng = Rng::new(caller);
    loop {
        let number = counts.begun.fetch_add(1, Relaxed);
        if number >= requests {
            return;
        }
        let bytes = bytes(&mut rng);
        let url = format!("{url}{number}/{bytes}");
        let (gives_up, is_late) = (rng.one_in(GIVEN_UP), rng.one_in(LATE));
        let patience = if gives_up { rng.below(PATIENCE_MAX) } else { usize::MAX };
        let call = call(&client, &url, &counts, number, bytes, is_late);
        let outcome = tokio::select! {
            biased;
            outcome = timeout(FOREVER, call) => outcome,
            () = let_others_run(patience), if gives_up => {
                counts.given_up.fetch_add(1, Relaxed);
                continue;
            }
        };
        match outcome {
            Ok(Ok(true)) => _ = counts.answered.fetch_add(1, Relaxed),
            Ok(Ok(false)) => _ = counts.wrong.fetch_add(1, Relaxed),
            Ok(Err(error)) => {
                counts.failed.fetch_add(1, Relaxed);
                eprintln!("request {number}: {error}");
            }
            Err(_) => {
                counts.failed.fetch_add(1, Relaxed);
                eprintln!("request {number} was not answered within {FOREVER:?}");
            }
        }
    }
}

async fn let_others_run(times: usize) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Most contents are small.
fn bytes(rng: &mut Rng) -> usize {
    let most = *rng.pick(&[0, 100, 1_000, 1_000, 10_000, 10_000, BYTES_MAX]);
    rng.below(most + 1)
}

/// Whether the answer was right.
async fn call(
    client: &Client,
    url: &str,
    counts: &Counts,
    number: u64,
    bytes: usize,
    is_late: bool,
) -> Result<bool, Error> {
    let mut response = client.get(url).send().await?;
    if is_late {
        sleep(LATE_BY).await;
    }
    counts.bytes.fetch_add(bytes as u64, Relaxed);
    Ok(response.status() == Status::OK && is_right(&mut response, number, bytes).await?)
}

async fn is_right(response: &mut Response, number: u64, bytes: usize) -> Result<bool, Error> {
    let mut expected = Expected::new(number, bytes);
    while let Some(piece) = response.body().chunk().await? {
        if expected.take(piece).is_err() {
            return Ok(false);
        }
    }
    Ok(expected.left() == 0)
}

type Samples = Arc<std::sync::Mutex<Vec<(u64, Held)>>>;

/// Prints what is held every few seconds, and keeps a finer record of it by requests made.
fn tell_all_along(counts: Arc<Counts>, requests: u64) -> (tokio::task::JoinHandle<()>, Samples) {
    let samples = Samples::default();
    let kept = samples.clone();
    let telling = tokio::spawn(async move {
        let (began, mut told) = (Instant::now(), Instant::now());
        let mut ticks = interval(Duration::from_millis(100));
        loop {
            ticks.tick().await;
            let (done, held) = (counts.begun.load(Relaxed).min(requests), Held::now());
            kept.lock().expect("nobody panics").push((done * 100 / requests.max(1), held));
            if told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                tell(began.elapsed(), done, &counts, held);
            }
        }
    });
    (telling, samples)
}

fn tell(after: Duration, done: u64, counts: &Counts, held: Held) {
    let wrong = counts.wrong.load(Relaxed) + counts.failed.load(Relaxed);
    println!(
        "{:>5} s  {done:>9} requests  {wrong} failures  {:>6} KiB live  {:>6} KiB resident  {} descriptors",
        after.as_secs(),
        held.bytes / 1024,
        held.resident / 1024,
        held.descriptors
    );
}

impl Held {
    fn now() -> Self {
        Self {
            bytes: alula_tally::process().bytes_live().max(0) as u64,
            resident: resident().unwrap_or_default(),
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, |all| all.count() as u64),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            resident: self.resident.max(other.resident),
            descriptors: self.descriptors.max(other.descriptors),
        }
    }
}

/// Bytes of memory that the system counts for this process, where it tells.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

fn judge(counts: &Counts, samples: &[(u64, Held)]) -> bool {
    let count = |what: &AtomicU64| what.load(Relaxed);
    let (wrong, failed) = (count(&counts.wrong), count(&counts.failed));
    println!(
        "{} answered right ({} bytes), {} given up, {wrong} wrong, {failed} failed",
        count(&counts.answered),
        count(&counts.bytes),
        count(&counts.given_up)
    );
    let most = |percent: std::ops::Range<u64>| {
        let within = samples.iter().filter(|(done, _)| percent.contains(done));
        within.map(|(_, held)| *held).reduce(Held::max)
    };
    let (Some(second), Some(last)) = (most(25..50), most(75..101)) else {
        println!("too few requests to tell whether memory is flat");
        return false;
    };
    println!("second quarter: {second:?}\n  last quarter: {last:?}");
    let is_flat = last.bytes <= second.bytes + GROWTH_BYTES_MAX
        && last.resident <= second.resident + GROWTH_BYTES_MAX
        && last.descriptors <= second.descriptors + GROWTH_DESCRIPTORS_MAX;
    if !is_flat {
        println!("memory or descriptors have grown");
    }
    is_flat && wrong == 0 && failed == 0
}
