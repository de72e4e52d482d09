//! Handlers that compute, in tasks of their own (`Route::spawned`): their connection goes on meanwhile, and two of them compute at the
//! same time. The order is held, and no time is measured.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{Arc, Condvar, Mutex, mpsc},
    thread::{self, ThreadId},
    time::Duration,
};

use alula::{Answer, Exchange, Handler as _, IntoService, Router, Server, Status, from_tower, routing::get};

const PATIENCE: Duration = Duration::from_secs(20);
const ROUNDS: usize = 500;

const SETTINGS: u8 = 4;
const PING: u8 = 6;
const HEADERS: u8 = 1;
const DATA: u8 = 0;

/// A peer of HTTP/2 that waits for each octet.
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
        let mut octets = Vec::new();
        for _ in 0..requests {
            let (end_stream, end_headers) = (1, 4);
            octets.extend(frame(
                HEADERS,
                end_stream | end_headers,
                self.next,
                &[0x82, 0x86, 0x84, 0x01, 0x01, b'a'],
            ));
            self.next += 2;
        }
        self.socket.write_all(&octets).unwrap();
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

/// The place where handlers wait for each other, each holding its thread.
#[derive(Default)]
struct Meeting {
    threads: Mutex<Vec<ThreadId>>,
    came: Condvar,
}

impl Meeting {
    fn attend(&self) {
        let mut threads = self.threads.lock().unwrap();
        threads.push(thread::current().id());
        self.came.notify_all();
        let waited = self.came.wait_timeout_while(threads, PATIENCE, |threads| threads.len() < 2).unwrap();
        assert!(!waited.1.timed_out(), "the other one does not run at the same time");
    }
}

#[test]
fn two_handlers_of_one_connection_compute_at_the_same_time() {
    let meeting = Arc::new(Meeting::default());
    let met = meeting.clone();
    let computes = move |exchange: Exchange| {
        let met = met.clone();
        async move {
            met.attend();
            exchange.respond(Status::OK).send("met").await.map_err(Answer::from)
        }
    };
    let routes = Router::new().route("/", get(computes).spawned()).build().unwrap();
    let mut peer = Peer::connect(serve(2, routes));
    peer.ask(2);
    for _ in 0..2 {
        assert_eq!(peer.next().0, HEADERS);
        assert_eq!(peer.next(), (DATA, b"met".to_vec()));
    }
    let threads = meeting.threads.lock().unwrap();
    assert_ne!(threads[0], threads[1]);
}

/// A handler that is served without routes, and a service of tower: eight that blocked for 100 ms took 806 on one connection.
#[test]
fn what_is_served_without_routes_runs_in_tasks_as_well() {
    let meetings = [Arc::new(Meeting::default()), Arc::new(Meeting::default())];
    let [met, met_in_service] = meetings.clone();
    let computes = move |exchange: Exchange| {
        let met = met.clone();
        async move {
            met.attend();
            exchange.respond(Status::OK).send("met").await.map_err(Answer::from)
        }
    };
    let service = axum::Router::new().fallback(move || {
        let met = met_in_service.clone();
        async move {
            met.attend();
            "met"
        }
    });
    for port in [serve(2, computes.spawned()), serve(2, from_tower(service).spawned())] {
        let mut peer = Peer::connect(port);
        peer.ask(2);
        for _ in 0..2 {
            assert_eq!(peer.next().0, HEADERS);
            assert_eq!(peer.next(), (DATA, b"met".to_vec()));
        }
    }
    for meeting in meetings {
        let threads = meeting.threads.lock().unwrap();
        assert_ne!(threads[0], threads[1]);
    }
}
