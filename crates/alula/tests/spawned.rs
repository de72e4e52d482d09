//! Handlers that compute, in tasks of their own (`Route::spawned`): their connection goes on meanwhile, and two of them compute at the
//! same time. The order is held, and no time is measured.

use std::{
    fmt::{Debug, Write as _},
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{Arc, Condvar, Mutex, mpsc},
    thread::{self, ThreadId},
    time::Duration,
};

use alula::{
    Answer, Client, Exchange, Handler as _, IntoService, Router, Server, Status, from_tower, routing::get,
    testing::TestServer,
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

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

/// The warnings that were told, one line each.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.target() == "alula" && *about.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Answers after its turn took 11 ms by the paused clock.
async fn hold_up(exchange: Exchange) -> Result<alula::Sent, alula::Error> {
    tokio::time::advance(Duration::from_millis(11)).await;
    exchange.respond(Status::OK).send("").await
}

/// The handlers of one connection of HTTP/2 take turns in its task, which nobody noticed but by its effects.
#[tokio::test(start_paused = true)]
async fn handlers_that_hold_up_their_connection_are_told_of_once() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(lines.clone());
    let routes = Router::new().route("/items/{id}", get(hold_up)).route("/own", get(hold_up).spawned());
    let routes = routes.route("/quick", get(|exchange: Exchange| exchange.respond(Status::OK).send("")));
    let routes = routes.build().unwrap();
    let told = || lines.0.lock().unwrap().clone();
    let ask = async |client: &Client, path: &str, times: usize| {
        for _ in 0..times {
            client.get(&format!("http://test{path}")).send().await.unwrap().bytes().await.unwrap();
        }
    };
    let clients = [TestServer::new(routes.clone()).client(), TestServer::new(routes).http2().client()];
    for (client, expected) in clients.iter().zip([0, 1]) {
        ask(client, "/items/1", 2).await;
        ask(client, "/quick", 10).await;
        assert_eq!(told(), [""; 0], "it may have been chance");
        ask(client, "/items/2", 1).await;
        assert_eq!(told().len(), expected, "over HTTP/1.1 no other request waits");
        ask(client, "/items/3", 10).await;
        ask(client, "/own", 10).await;
        assert_eq!(told().len(), expected, "{:?}", told());
    }
    assert!(told()[0].contains("http.route=\"/items/{id}\" turn.duration_ms=11"), "{:?}", told());
    assert!(told()[0].contains("Route::spawned"));

    let plain = TestServer::new(hold_up).http2().client();
    ask(&plain, "/", 5).await;
    assert!(told().len() == 2 && told()[1].contains("Handler::spawned"), "{:?}", told());
    ask(&TestServer::new(hold_up.spawned()).http2().client(), "/", 5).await;
    assert_eq!(told().len(), 2);
}
