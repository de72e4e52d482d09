//! A program for each attack, and what it used.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use alula_conformance::folder::Folder;
use alula_conformance::program::Program;
use alula_conformance::{environment, poll, process};

use crate::attack::Attack;

/// The times that the bytes of request, answer and records may be resident beside [`FOR_ANY`].
pub(crate) const MEMORY_MAX: f64 = 8.0;

/// The times that a byte may cost of what it costs in a plain PUT, beside [`FOR_ANY_TIME`].
pub(crate) const TIME_MAX: f64 = 32.0;

/// The memory that any request may take: buffers of its connection and of the threads that it runs on.
const FOR_ANY: u64 = 4 * 1024 * 1024;

/// The time that any request may take: a pattern of the greatest size that is compiled, and what the engine
/// does by itself meanwhile.
const FOR_ANY_TIME: Duration = Duration::from_millis(60);

/// Blocks of so many bytes are given back to the system at once, so that what was freed is not counted.
const LARGE_BYTES: &str = "131072";

/// The address space of a program in KiB, so that a fault ends it and not the machine.
const ADDRESS_SPACE_KIB: u32 = 8 * 1024 * 1024;

/// No machine is so slow.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The bytes that an attack touched, and its cost.
#[derive(Debug)]
pub(crate) struct Used {
    touched: u64,
    unpaid: u64,
    free_time: Duration,
    peak: u64,
    time: Duration,
    status: String,
}

impl Used {
    /// Returns how many times the bytes that were touched were resident, beside what any request may take.
    pub(crate) fn memory(&self) -> f64 {
        self.peak.saturating_sub(FOR_ANY + self.unpaid) as f64 / self.touched as f64
    }

    /// Returns how many times as much time was taken as by plain PUTs that cost so much for a byte.
    pub(crate) fn time(&self, cost: f64) -> f64 {
        self.time.saturating_sub(FOR_ANY_TIME + self.free_time).as_secs_f64() / (self.touched as f64 * cost)
    }

    /// Takes the time of another run of the same attack if that was faster.
    pub(crate) fn take_time_of(&mut self, other: &Self) {
        self.time = self.time.min(other.time);
    }

    /// Returns the seconds that each byte took.
    pub(crate) fn seconds_per_byte(&self) -> f64 {
        self.time.as_secs_f64() / self.touched as f64
    }

    /// Returns how many times the bytes that were touched were resident in all.
    pub(crate) fn all_memory(&self) -> f64 {
        self.peak as f64 / self.touched as f64
    }

    pub(crate) fn shown(&self) -> String {
        let kib = |bytes: u64| bytes / 1024;
        let (touched, peak) = (kib(self.touched), kib(self.peak));
        format!("{touched} KiB touched, {peak} KiB resident, {} ms, {}", self.time.as_millis(), self.status)
    }
}

/// A folder, and the requests that made what is in it. Other attacks wrote nothing to it.
#[derive(Default)]
pub(crate) struct Prepared<'a> {
    folder: Option<Folder>,
    before: &'a [Vec<u8>],
}

/// Carries out an attack on a program of its own, on what is prepared if it is what the attack needs. What an
/// attack may have written is no part of what another one touches.
pub(crate) fn run<'a>(attack: &'a Attack, prepared: &mut Prepared<'a>) -> Used {
    if prepared.folder.is_none() || prepared.before != attack.before {
        *prepared = Prepared { folder: Some(prepare(attack)), before: &attack.before };
    }
    let store = Store::start(prepared.folder.as_ref().expect("it was prepared"));
    let (resident, time) = (process::memory(store.id()).resident_kib, store.time());
    let answers = if attack.reads { read_all(&store, attack) } else { leave_unread(&store, attack) };
    let peak = process::memory(store.id()).peak_kib.saturating_sub(resident) * 1024;
    let sent: usize = attack.requests.iter().map(Vec::len).sum();
    let answered: usize = answers.iter().map(Vec::len).sum();
    let status = answers.first().map_or("unread".into(), |answer| status(answer));
    // What is written becomes a record of about as many bytes.
    let kept = if status.starts_with('2') && attack.writes() { sent } else { 0 };
    let touched = (sent + answered + kept + attack.records) as u64;
    let used = Used {
        touched,
        unpaid: attack.unpaid,
        free_time: attack.free_time,
        peak,
        time: store.time() - time,
        status,
    };
    drop(store);
    if attack.writes() {
        *prepared = Prepared::default();
    }
    used
}

/// Stores what an attack needs in a new folder.
fn prepare(attack: &Attack) -> Folder {
    let folder = Folder::new();
    if !attack.before.is_empty() {
        let store = Store::start(&folder);
        attack.before.iter().for_each(|request| {
            let answer = ask(store.port, request);
            let status = status(&answer);
            assert!(
                status.starts_with('2'),
                "{}: {status} before the attack: {}",
                attack.shape,
                text(&answer)
            );
        });
    }
    folder
}

fn read_all(store: &Store, attack: &Attack) -> Vec<Vec<u8>> {
    thread::scope(|scope| {
        let asked: Vec<_> =
            attack.requests.iter().map(|request| scope.spawn(|| ask(store.port, request))).collect();
        asked.into_iter().map(|answer| answer.join().expect("an answer")).collect()
    })
}

/// Sends the requests and waits until the program does nothing more for them.
fn leave_unread(store: &Store, attack: &Attack) -> Vec<Vec<u8>> {
    let mut connections = Vec::new();
    for request in &attack.requests {
        let mut stream = connect(store.port);
        stream.write_all(request).expect("the request is taken");
        connections.push(stream);
    }
    store.wait_until_idle();
    Vec::new()
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the store listens");
    stream.set_read_timeout(Some(TIME_LIMIT)).expect("a time that is not nought");
    stream
}

/// Sends a request and reads until the connection ends. A store that answers early may reset it.
fn ask(port: u16, request: &[u8]) -> Vec<u8> {
    let mut stream = connect(port);
    let mut reader = stream.try_clone().expect("a second handle");
    thread::scope(|scope| {
        scope.spawn(move || stream.write_all(request));
        let (mut answer, mut buffer) = (Vec::new(), vec![0; 65536]);
        while let Ok(count) = reader.read(&mut buffer) {
            if count == 0 {
                break;
            }
            answer.extend_from_slice(&buffer[..count]);
        }
        answer
    })
}

/// The status of an answer of HTTP/1.1.
fn status(answer: &[u8]) -> String {
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    if status.is_empty() { "no answer".into() } else { String::from_utf8_lossy(status).into_owned() }
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).chars().take(400).collect()
}

/// `alula store` with a type for each data type.
struct Store {
    program: Program,
    port: u16,
}

impl Store {
    fn start(folder: &Folder) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$@\""), "sh"]);
        command.arg(environment::program()).args([
            "store",
            "--listen",
            "127.0.0.1:0",
            "--durability",
            "buffered",
        ]);
        command.arg("--data").arg(folder.join("data"));
        for kind in ["counter", "set", "map", "hll"] {
            command.arg("--type").arg(format!("{kind}s={{\"datatype\":\"{kind}\"}}"));
        }
        command.args(["--type", "many={\"allow_mult\":true}"]);
        command.env("MALLOC_MMAP_THRESHOLD_", LARGE_BYTES);
        let mut program = Program::start(&mut command);
        let port = program.wait_for_line("says where it listens", |line| {
            let address = line.split_once("listening on http://127.0.0.1:")?.1;
            address.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        });
        let store = Self { program, port };
        store.wait_until_idle();
        store
    }

    fn id(&self) -> u32 {
        self.program.id()
    }

    /// The time that its threads have run.
    fn time(&self) -> Duration {
        let folder = format!("/proc/{}/task", self.id());
        let tasks = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let run = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        };
        Duration::from_nanos(tasks.flatten().filter_map(run).sum())
    }

    /// Waits until it runs no more than a sixtieth of the time.
    fn wait_until_idle(&self) {
        let (mut last, mut looks) = (self.time(), 0);
        let idle = poll::within(TIME_LIMIT, || {
            looks += 1;
            if looks % 12 > 0 {
                return None;
            }
            let now = self.time();
            let ran = now - std::mem::replace(&mut last, now);
            (ran < Duration::from_millis(1)).then_some(())
        });
        assert!(idle.is_some(), "the store does not come to rest");
    }
}
