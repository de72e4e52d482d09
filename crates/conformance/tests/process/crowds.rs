//! Crowds before `alula echo`, which has few descriptors: newcomers are served whoever else is there. Client
//! and server are processes of their own.
//!
//! Run with `--nocapture` the tests say how many of each kind were closed for newcomers, and how long these
//! waited at most.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use alula_conformance::alula::Echo;
use alula_conformance::certificates::Certificates;
use alula_conformance::crowd::{self, Kind};
use alula_conformance::environment;
use alula_conformance::load::{self, Counts, Load};

/// The descriptors of the server.
const DESCRIPTORS: u32 = 600;
/// The idle connections of one kind.
const CROWD: usize = 1000;
/// A newcomer comes after so many of them.
const NEWCOMER_EACH: usize = 50;

pub(crate) fn newcomers_are_served_beside_idle_connections_in_clear_text() {
    newcomers_are_served_beside(false);
}

pub(crate) fn newcomers_are_served_beside_idle_connections_over_tls() {
    newcomers_are_served_beside(true);
}

fn newcomers_are_served_beside(tls: bool) {
    let _ = crowd::raise_descriptors();
    for http2 in [false, true] {
        for used in [false, true] {
            let kind = Kind { tls, http2, used };
            let echo = start_with_few_descriptors();
            let mut slowest = Duration::ZERO;
            let mut idle = Vec::new();
            for index in 0..CROWD {
                let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, echo.port())).expect("it listens");
                let watch = socket.try_clone().expect("a descriptor can be had");
                let wire = kind.over(socket).unwrap_or_else(|error| panic!("{kind}, the {index}th: {error}"));
                idle.push((wire, watch));
                if index % NEWCOMER_EACH == 0 {
                    slowest = slowest.max(serve_newcomer(&echo, kind));
                }
            }
            let open = idle.iter().filter(|(_, socket)| is_open(socket)).count();
            println!("{kind}: {} of {CROWD} closed for others, a newcomer waited {slowest:?}", CROWD - open);
            assert!(open < DESCRIPTORS as usize, "{kind}: {open} are open");
        }
    }
}

/// Has a new connection of the same version answered, and says how long that took.
fn serve_newcomer(echo: &Echo, kind: Kind) -> Duration {
    let began = Instant::now();
    let newcomer = Kind { used: true, ..kind }.connect(echo.port());
    assert!(newcomer.is_ok(), "a newcomer beside {kind}: {:?}", newcomer.err());
    began.elapsed()
}

/// Returns true if nothing has ended the connection; what was said on it may stay unread.
fn is_open(socket: &TcpStream) -> bool {
    socket.set_nonblocking(true).expect("a socket takes its options");
    loop {
        match std::io::Read::read(&mut &*socket, &mut [0; 4096]) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// The number of connections that the flood has open at once from each address, before the oldest is reset.
const FLOOD_OPEN: usize = 500;
/// Connections per second from each address.
const FLOOD_RATE: u32 = 2500;
const FLOODERS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 1, 0, 1), Ipv4Addr::new(127, 2, 0, 1)];
/// What the relay before the honest client delays by, each way.
const DELAY: Duration = Duration::from_millis(200);
const HANDSHAKES: usize = 10;

pub(crate) fn handshakes_succeed_beside_a_flood() {
    let echo = start_with_few_descriptors();
    let relay = start_relay(echo.port());
    let (stop, opened) = (AtomicBool::new(false), AtomicU64::new(0));
    let began = Instant::now();
    let succeeded = thread::scope(|scope| {
        for address in FLOODERS {
            let (echo, stop, opened) = (&echo, &stop, &opened);
            scope.spawn(move || flood(address, echo.port(), stop, opened));
        }
        let honest = Kind { tls: true, http2: true, used: true };
        let ends: Vec<_> = (0..HANDSHAKES).map(|_| honest.connect(relay)).collect();
        stop.store(true, Ordering::Release);
        ends.into_iter().filter_map(|end| end.map_err(|error| println!("{error}")).ok()).count()
    });
    let (opened, took) = (opened.load(Ordering::Relaxed), began.elapsed());
    println!(
        "{opened} connections in {took:?}, {succeeded} of {HANDSHAKES} handshakes succeeded beside them"
    );
    assert_eq!(succeeded, HANDSHAKES);
}

/// Opens connections that say nothing, and resets them after a while.
fn flood(from: Ipv4Addr, port: u16, stop: &AtomicBool, opened: &AtomicU64) {
    let (_keep, silence) = mpsc::channel::<()>();
    let mut sockets = VecDeque::new();
    let began = Instant::now();
    for count in 0.. {
        if stop.load(Ordering::Acquire) {
            return;
        }
        let due = began + count * Duration::from_secs(1) / FLOOD_RATE;
        let _ = silence.recv_timeout(due.saturating_duration_since(Instant::now()));
        sockets.extend(crowd::connect_from(from, port));
        opened.fetch_add(1, Ordering::Relaxed);
        if sockets.len() > FLOOD_OPEN {
            sockets.pop_front();
        }
    }
}

/// Delays what a client and the server say to each other; the port of its own.
fn start_relay(port: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let own = listener.local_addr().expect("a listener has an address").port();
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return };
            crowd::relay_late(near, far, DELAY);
        }
    });
    own
}

/// The soft limit of the server's descriptors, which it raises.
const FEW_AT_FIRST: u32 = 256;

pub(crate) fn a_thousand_connections_at_once_are_all_answered() {
    if environment::no_peers() {
        return;
    }
    let most = crowd::raise_descriptors();
    let echo = Echo::start_with(&Certificates::new(), |command| {
        crowd::begin_with_few_descriptors(command, FEW_AT_FIRST);
    });
    let connections = if most > 4096 { 1000 } else { 512 };
    let load = Load { requests: 2 * connections, connections, streams: 1, body: None };
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://127.0.0.1:{}/", echo.port());
        for options in [&["--h1".to_owned()][..], &[]] {
            let counts = load::run_with(load, &url, options);
            assert_eq!(counts, Counts::all_succeeded(load), "{scheme} {options:?}");
        }
    }
}

fn start_with_few_descriptors() -> Echo {
    Echo::start_with(&Certificates::new(), |command| crowd::limit_descriptors(command, DESCRIPTORS))
}
