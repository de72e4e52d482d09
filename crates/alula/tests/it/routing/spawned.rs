//! Handlers that compute or block, in tasks of their own (`Route::spawned`): their connection goes on
//! meanwhile, and as many of them run at the same time as there are threads. Others take turns. The order
//! is held, and no time is measured.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use alula::{Answer, Exchange, Handler as _, IntoService, Router, Server, Status, from_tower, routing::get};

const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 500;

const SETTINGS: u8 = 4;
const PING: u8 = 6;
const HEADERS: u8 = 1;
const DATA: u8 = 0;

/// A peer of HTTP/2 that waits for each byte.
struct Peer {
    socket: TcpStream,
    next: u32,
}

impl Peer {
    fn connect(port: u16) -> Self {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        socket.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        Self { socket, next: 1 }
    }

    /// Sends so many requests in one write: GET of `/`, in indexes of HPACK's static table.
    fn ask(&mut self, requests: usize) {
        self.ask_for(&[0x84], requests);
    }

    /// The same with this `:path`.
    fn ask_for(&mut self, path: &[u8], requests: usize) {
        let mut bytes = Vec::new();
        for _ in 0..requests {
            let (end_stream, end_headers) = (1, 4);
            let block = [&[0x82, 0x86], path, &[0x01, 0x01, b'a']].concat();
            bytes.extend(frame(HEADERS, end_stream | end_headers, self.next, &block));
            self.next += 2;
        }
        self.socket.write_all(&bytes).unwrap();
    }

    /// Reads so many answers with this content, in any order.
    fn expect(&mut self, answers: usize, content: &[u8]) {
        let mut frames: Vec<_> = (0..2 * answers).map(|_| self.next()).collect();
        frames.retain(|(kind, _)| *kind == DATA);
        assert_eq!(frames, vec![(DATA, content.to_vec()); answers]);
    }

    fn ping(&mut self) {
        self.socket.write_all(&frame(PING, 0, 0, b"computed")).unwrap();
    }

    /// The kind of the next frame about a request, or that acknowledges a ping, with what it carries.
    fn next(&mut self) -> (u8, Vec<u8>) {
        loop {
            let mut head = [0; 9];
            self.socket.read_exact(&mut head).unwrap();
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            self.socket.read_exact(&mut payload).unwrap();
            if [DATA, HEADERS, PING].contains(&head[3]) {
                return (head[3], payload);
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Serves this on a runtime of so many threads, and returns the port.
fn serve(threads: usize, service: impl IntoService + Send + 'static) -> u16 {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(service).await.unwrap();
        });
    });
    port.recv().unwrap()
}

#[test]
fn a_ping_is_acknowledged_while_a_handler_computes() {
    let (tell_begun, begun) = mpsc::channel();
    let (let_go, gate) = mpsc::channel();
    let gate = Arc::new(Mutex::new(gate));
    let computes = move |exchange: Exchange| {
        let (tell_begun, gate) = (tell_begun.clone(), gate.clone());
        async move {
            tell_begun.send(()).unwrap();
            // The thread is held, as by computing.
            gate.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            exchange.respond(Status::OK).send("computed").await.map_err(Answer::from)
        }
    };
    let routes = Router::new().route("/", get(computes).spawned()).build().unwrap();
    let mut peer = Peer::connect(serve(2, routes));
    // Once in some hundred times the other worker was asleep, and the one that computed had the sockets.
    for _ in 0..ROUNDS {
        peer.ask(1);
        begun.recv_timeout(PATIENCE).unwrap();
        peer.ping();
        assert_eq!(peer.next(), (PING, b"computed".to_vec()), "the handler has not ended");
        let_go.send(()).unwrap();
        assert_eq!(peer.next().0, HEADERS);
        assert_eq!(peer.next(), (DATA, b"computed".to_vec()));
    }
}

/// The place where so many handlers wait for each other, each holding its thread.
struct Meeting {
    size: usize,
    threads: Mutex<Vec<ThreadId>>,
    came: Condvar,
}

impl Meeting {
    fn of(size: usize) -> Arc<Self> {
        Arc::new(Self { size, threads: Mutex::default(), came: Condvar::new() })
    }

    fn attend(&self) {
        let mut threads = self.threads.lock().unwrap();
        threads.push(thread::current().id());
        self.came.notify_all();
        let is_early = |threads: &mut Vec<_>| threads.len() < self.size;
        let waited = self.came.wait_timeout_while(threads, PATIENCE, is_early).unwrap();
        assert!(!waited.1.timed_out(), "the others do not run at the same time");
    }

    /// Checks that it took place, on a thread for each.
    fn check(&self) {
        let threads = self.threads.lock().unwrap();
        let different: HashSet<_> = threads.iter().collect();
        assert_eq!((threads.len(), different.len()), (self.size, self.size));
    }
}

/// A handler that attends the meeting.
fn attends(meeting: &Arc<Meeting>) -> impl alula::Handler + Clone + use<> {
    let meeting = meeting.clone();
    move |exchange: Exchange| {
        let meeting = meeting.clone();
        async move {
            meeting.attend();
            exchange.respond(Status::OK).send("met").await.map_err(Answer::from)
        }
    }
}

#[test]
fn two_handlers_of_one_connection_compute_at_the_same_time() {
    let meeting = Meeting::of(2);
    let routes = Router::new().route("/", get(attends(&meeting)).spawned()).build().unwrap();
    let mut peer = Peer::connect(serve(2, routes));
    peer.ask(2);
    peer.expect(2, b"met");
    meeting.check();
}

/// Eight handlers of one connection that blocked for 100 ms each took 806 ms: of a route, served without
/// routes, and of a service of tower.
#[test]
fn eight_handlers_of_one_connection_block_at_the_same_time() {
    const HANDLERS: usize = 8;
    let meetings = [(); 3].map(|()| Meeting::of(HANDLERS));
    let met = meetings[2].clone();
    let service = axum::Router::new().fallback(move || {
        let met = met.clone();
        async move {
            met.attend();
            "met"
        }
    });
    let routes = Router::new().route("/", get(attends(&meetings[0])).spawned()).build().unwrap();
    let ports = [
        serve(HANDLERS, routes),
        serve(HANDLERS, attends(&meetings[1]).spawned()),
        serve(HANDLERS, from_tower(service).spawned()),
    ];
    for (port, meeting) in ports.into_iter().zip(meetings) {
        let mut peer = Peer::connect(port);
        peer.ask(HANDLERS);
        peer.expect(HANDLERS, b"met");
        meeting.check();
    }
}

/// The handlers that run, and those that ran at the same time at most.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Running {
    /// Holds the thread until `gate` opens once.
    fn block(&self, tell_begun: &mpsc::Sender<()>, gate: &Mutex<mpsc::Receiver<()>>) {
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        tell_begun.send(()).unwrap();
        gate.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        self.now.fetch_sub(1, SeqCst);
    }
}

#[test]
fn handlers_of_one_connection_take_turns_otherwise() {
    for is_tower in [false, true] {
        let (tell_begun, begun) = mpsc::channel();
        let (let_go, gate) = mpsc::channel();
        let (running, gate) = (Arc::new(Running::default()), Arc::new(Mutex::new(gate)));
        let ran = running.clone();
        let block = move || ran.block(&tell_begun, &gate);
        let port = if is_tower {
            let fallback = move || {
                let block = block.clone();
                async move { block() }
            };
            serve(4, from_tower(axum::Router::new().fallback(fallback)))
        } else {
            serve(4, move |exchange: Exchange| {
                let block = block.clone();
                async move {
                    block();
                    exchange.respond(Status::OK).send("").await
                }
            })
        };
        let mut peer = Peer::connect(port);
        peer.ask(8);
        for _ in 0..8 {
            begun.recv_timeout(PATIENCE).unwrap();
            let_go.send(()).unwrap();
        }
        (0..8).for_each(|_| assert_eq!(peer.next().0, HEADERS));
        assert_eq!(running.most.load(SeqCst), 1, "tower: {is_tower}");
    }
}

/// In the task of its connection it may: where its thread was the one that looks at the sockets.
#[test]
fn a_handler_that_blocks_in_its_own_task_holds_up_no_other_connection() {
    let (tell_begun, begun) = mpsc::channel();
    let (let_go, gate) = mpsc::channel();
    let (running, gate) = (Arc::new(Running::default()), Arc::new(Mutex::new(gate)));
    let blocks = move |exchange: Exchange| {
        let (running, tell_begun, gate) = (running.clone(), tell_begun.clone(), gate.clone());
        async move {
            running.block(&tell_begun, &gate);
            exchange.respond(Status::OK).send("blocked").await
        }
    };
    let quick = async |exchange: Exchange| exchange.respond(Status::OK).send("quick").await;
    let routes = Router::new().route("/", get(blocks).spawned()).route("/quick", get(quick)).build().unwrap();
    let port = serve(2, routes);
    let (mut held_up, mut other) = (Peer::connect(port), Peer::connect(port));
    for _ in 0..ROUNDS {
        held_up.ask(1);
        begun.recv_timeout(PATIENCE).unwrap();
        other.ask_for(b"\x04\x06/quick", 1);
        other.expect(1, b"quick");
        let_go.send(()).unwrap();
        held_up.expect(1, b"blocked");
    }
}
