//! The memory and the threads that `alula serve` holds for peers that ask for much and take nothing.
//!
//! Run with `--nocapture` the tests print the measured figures. The bounds are several times what is
//! measured, and a fraction of one copy of the content per stream.

use std::fs::File;
use std::time::Duration;

use alula_conformance::alula::Reach;
use alula_conformance::certificates::Certificates;
use alula_conformance::folder::Folder;
use alula_conformance::frames::{self, flag, kind};
use alula_conformance::poll;
use alula_conformance::process::{self, Memory};
use alula_conformance::served::Served;
use alula_conformance::wire::{self, Wire};

/// Streams of one connection: as many as the server allows at once.
const STREAMS: u32 = 100;
/// The time for which the held memory is watched once every stream has its head.
const WATCHED_FOR: Duration = Duration::from_millis(500);
/// Worker threads of the machine that runs the tests are not known here; threads for blocking work are
/// bounded by 32.
const THREADS_MAX: usize = 80;

/// A folder with 10 000 files of no bytes.
fn large_folder() -> Folder {
    let folder = Folder::new();
    for number in 0..10_000 {
        File::create(folder.join(&format!("a-file-with-a-name-{number:05}.txt"))).expect("it can be made");
    }
    folder
}

/// Opens streams for `path` on one connection, and reads the head of each answer; no window is ever given
/// back.
fn stall(served: &Served, reach: &Reach<'_>, path: &str) -> Box<dyn Wire> {
    let mut wire = wire::connect(served.port(), reach).expect("it accepts");
    let mut bytes = [frames::PREFACE, &frames::settings(&[]), &frames::settings_ack()].concat();
    for number in 0..STREAMS {
        bytes.extend(frames::headers(2 * number + 1, &frames::path_block("GET", path), true));
    }
    wire.write_all(&bytes).expect("it reads");
    for _ in 0..STREAMS {
        let head = wire::read_until(&mut *wire, |frame| frame.kind == kind::HEADERS).expect("whole frames");
        assert!(head.is_some(), "the connection ended");
    }
    wire
}

/// Sends as many requests on a connection of HTTP/1.1 at once, and reads the beginning of the first answer.
fn pipeline(served: &Served, path: &str) -> Box<dyn Wire> {
    let mut wire = wire::connect(served.port(), &Reach::Clear).expect("it accepts");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    wire.write_all(request.repeat(STREAMS as usize).as_bytes()).expect("it reads");
    let mut begin = [0; 12];
    wire.read_exact(&mut begin).expect("it answers");
    assert_eq!(&begin, b"HTTP/1.1 200");
    wire
}

/// Stalls the streams of so many connections, and answers how much more memory the server held at most, and
/// its threads.
fn peak(served: &Served, connections: usize, stall: impl Fn(&Served) -> Box<dyn Wire>) -> (u64, usize) {
    let before = process::memory(served.id()).resident_kib;
    let _wires: Vec<_> = (0..connections).map(|_| stall(served)).collect();
    let mut threads = 0;
    let _: Option<()> = poll::within(WATCHED_FOR, || {
        threads = threads.max(process::held(served.id()).threads);
        None
    });
    let Memory { peak_kib, .. } = process::memory(served.id());
    (peak_kib - before, threads)
}

/// One case: what is asked for, the most memory that was held for it in KiB, and the threads.
struct Case {
    what: String,
    kib: u64,
    threads: usize,
    kib_max: u64,
}

impl Case {
    /// Stalls so many connections on a server of their own.
    fn play(
        what: &str,
        folder: &Folder,
        connections: usize,
        stall: impl Fn(&Served) -> Box<dyn Wire>,
        kib_max: u64,
    ) -> Self {
        let served = Served::start(folder.path(), &Certificates::new(), &[]);
        let (kib, threads) = peak(&served, connections, stall);
        let what = format!("{connections} × {STREAMS} {what}");
        println!("{what}: {kib} KiB at most, {threads} threads");
        Self { what, kib, threads, kib_max }
    }

    fn check(&self) {
        let Self { what, kib, threads, kib_max } = self;
        assert!(kib <= kib_max, "{what}: {kib} KiB were held, of {kib_max} KiB");
        assert!(*threads <= THREADS_MAX, "{what}: {threads} threads, of {THREADS_MAX}");
    }
}

pub(crate) fn one_page_is_held_however_many_streams_ask_for_it() {
    let folder = large_folder();
    let cases = [(1, 16 * 1024), (4, 20 * 1024)];
    let stall = |served: &Served| stall(served, &Reach::Clear, "/");
    let what = "streams for a folder of 10 000 files";
    let cases = cases.map(|(connections, kib_max)| Case::play(what, &folder, connections, stall, kib_max));
    cases.iter().for_each(Case::check);
}

/// A folder with a file of 1 GiB.
fn large_file() -> Folder {
    let folder = Folder::new();
    File::create(folder.join("large.bin")).and_then(|file| file.set_len(1 << 30)).expect("it can be made");
    folder
}

pub(crate) fn a_stalled_stream_holds_no_part_of_its_file() {
    let (folder, certificates) = (large_file(), Certificates::new());
    let clear = |served: &Served| stall(served, &Reach::Clear, "/large.bin");
    let tls = |served: &Served| stall(served, &Reach::Tls(&certificates), "/large.bin");
    let pipelined = |served: &Served| pipeline(served, "/large.bin");
    let cases = [
        Case::play("streams for a file of 1 GiB", &folder, 20, clear, 40 * 1024),
        Case::play("streams over TLS for it", &folder, 20, tls, 48 * 1024),
        Case::play("requests for it over HTTP/1.1", &folder, 20, pipelined, 40 * 1024),
    ];
    cases.iter().for_each(Case::check);
}

/// A peer that gives a window for a moment makes the server read, and takes nothing of it after all.
pub(crate) fn windows_that_open_by_an_byte_hold_nothing_either() {
    let folder = large_file();
    let served = Served::start(folder.path(), &Certificates::new(), &[]);
    let before = process::memory(served.id()).resident_kib;
    let mut wires: Vec<_> = (0..5).map(|_| stall(&served, &Reach::Clear, "/large.bin")).collect();
    for wire in &mut wires {
        let bytes = (0..=STREAMS).flat_map(|number| {
            let stream = (2 * number).saturating_sub(1);
            frames::frame(kind::WINDOW_UPDATE, flag::NONE, stream, &1_u32.to_be_bytes())
        });
        wire.write_all(&bytes.collect::<Vec<u8>>()).expect("it reads");
        let is_open = |frame: &frames::Frame| frame.kind == kind::DATA && !frame.payload.is_empty();
        assert!(wire::read_until(&mut **wire, is_open).expect("whole frames").is_some());
    }
    let Memory { peak_kib, .. } = process::memory(served.id());
    println!("{} KiB at most", peak_kib - before);
    assert!(peak_kib - before <= 24 * 1024, "{} KiB were held", peak_kib - before);
}
