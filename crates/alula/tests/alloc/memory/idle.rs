//! The memory of connections that wait: of a server's that was used, by one request or by several at once, of
//! a client's that was used once, and of one that is half open. On the heap, in the ledger, and when a
//! server's is used again.
//!
//! The server has a thread of its own, so that what the allocator counts there is the server's. It is asked
//! for its figures by a task on that thread, which runs after the connections' tasks have come to rest. Its
//! clock stands still unless it is told to go on.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, LazyLock, mpsc},
    thread,
    time::Duration,
};

use alula::{Client, Error, Exchange, Identity, Ledger, Sent, Server, Status};
use alula_tally::Side;
use alula_testkit::lists;
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    sync::{Barrier, mpsc as channel, oneshot},
    task::JoinSet,
};

use crate::support::on_a_thread;

/// Connections of each kind. So many that what the shelves of a thread hold, which depends on the order of
/// events, hardly counts.
const CONNECTIONS: usize = 192;

/// The allocations of rustls for a record that comes and one that goes.
const TLS_ALLOCATIONS: u64 = 2;

/// The looks in turn that find nothing changed: a server's connection looks once a second.
const LOOKS: usize = 25;

/// The time between two looks on the server's clock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Connections that keep what a request needs, at most.
const FEW: usize = 64;

/// The most that one in clear text holds, in bytes of the heap, tables included.
const HTTP1_MAX: i64 = 7 * 512;
const HTTP2_MAX: i64 = 11 * 512;

/// The most that a client's over TLS holds: 4 KiB, and the 10 KiB of a session of rustls.
const TLS_MAX: i64 = 25 * 512;

/// The most that a half-open one holds: 300 of them have 1 MiB.
const HALF_OPEN_MAX: i64 = (1 << 20) / 300;

/// The least bytes that are charged for one.
const CHARGED_MIN: i64 = 1024;

/// The label of the thread of clients.
const CLIENTS: Side = Side::other(5).unwrap();

/// The most that one in clear text holds which had several streams at once: what repeats is remembered, and
/// in HPACK's tables.
const STREAMS_MAX: i64 = 12 * 1024;

/// The allocations of one that is asked for the same by several streams after it has rested: what repeats is
/// remembered anew.
const REPEATING_ALLOCATIONS: u64 = 20;

/// The requests that are under way at once on a connection with several streams.
const STREAMS: usize = 10;

/// Requests for this are answered when as many have come, so that a connection needs the memory of all at
/// once.
const TOGETHER: &str = "/together";
static ALL: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(STREAMS));

/// The bytes that the server's heap holds, those that its ledger knows of, and how often it has allocated.
type Figures = (i64, i64, u64);

pub(crate) fn a_connection_that_waits_holds_little_and_all_of_it_is_charged() {
    assert!(alula_tally::is_installed());
    // A server for each kind, counted by itself: connections that are idle for a second give memory back.
    let kinds = [
        Kind { http2: false, tls: false, streams: 1 },
        Kind { http2: true, tls: false, streams: 1 },
        Kind { http2: false, tls: true, streams: 1 },
        Kind { http2: true, tls: true, streams: 1 },
        Kind { http2: true, tls: false, streams: STREAMS },
    ];
    let servers: Vec<_> = (0..).map_while(Side::other).take(kinds.len()).map(Background::start).collect();
    on_a_thread(Side::CLIENT, async move {
        let (mut failures, mut clients) = (Vec::new(), Vec::new());
        for (kind, server) in kinds.into_iter().zip(&servers) {
            let mut own = Vec::new();
            let (live, charged, _) = server.per_connection(kind, &mut own).await;
            clients.push(own);
            let figures = format!("{kind:?}: {live} bytes held, {charged} charged");
            println!("{figures}");
            if !is_charged(live, charged) || !(kind.tls || live <= kind.live_max()) {
                failures.push(figures);
            }
        }
        // The first time those that wake make what the thread keeps for them.
        for is_measured in [false, true] {
            rested(&servers).await;
            for ((kind, server), clients) in kinds.into_iter().zip(&servers).zip(&clients) {
                let allocations = server.wake(kind, &clients[..FEW]).await;
                if is_measured && !kind.allows(allocations) {
                    failures.push(format!("{kind:?}: {allocations} allocations of {FEW} that wake"));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    });
}

pub(crate) fn a_connection_of_a_client_that_waits_holds_little_and_all_of_it_is_charged() {
    let server = Background::start(Side::NONE);
    on_a_thread(CLIENTS, async move {
        let mut failures = Vec::new();
        for (http2, tls) in [(false, false), (true, false), (false, true), (true, true)] {
            let client = client_of_many(http2, tls);
            ask_origins(&client, tls, server.address.port(), 0..FEW + 1).await;
            let before = of_client(&client).await;
            ask_origins(&client, tls, server.address.port(), FEW + 1..FEW + 1 + CONNECTIONS).await;
            let after = of_client(&client).await;
            let [live, charged] = [0, 1].map(|figure| (after[figure] - before[figure]) / CONNECTIONS as i64);
            let figures = format!("client, HTTP/2 {http2}, TLS {tls}: {live} bytes held, {charged} charged");
            println!("{figures}");
            let live_max = match (http2, tls) {
                (_, true) => TLS_MAX,
                (true, false) => HTTP2_MAX,
                (false, false) => HTTP1_MAX,
            };
            if !is_charged(live, charged) || live > live_max {
                failures.push(figures);
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    });
}

pub(crate) fn a_half_open_connection_holds_little_and_all_of_it_is_charged() {
    let server = Background::start(Side::SERVER);
    on_a_thread(Side::NONE, async move {
        let mut failures = Vec::new();
        for bytes in [&b"GET /memory HTTP/1.1\r\nhost: localhost\r\nuse"[..], b"PRI * HTTP/2"] {
            let _few = server.half_open(bytes, 1).await;
            let before = server.figures().await;
            let _half_open = server.half_open(bytes, CONNECTIONS).await;
            let after = server.figures().await;
            let each = |after: i64, before: i64| (after - before) / CONNECTIONS as i64;
            let (live, charged) = (each(after.0, before.0), each(after.1, before.1));
            let name = String::from_utf8_lossy(&bytes[..3]);
            let figures = format!("half open, {name}: {live} bytes held, {charged} charged");
            println!("{figures}");
            if !is_charged(live, charged) || live > HALF_OPEN_MAX {
                failures.push(figures);
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    });
}

/// Charges are by sizes and capacities, and for tasks and sessions as measured.
fn is_charged(live: i64, charged: i64) -> bool {
    (live * 9 / 10..=live * 11 / 10).contains(&charged)
}

/// A client that keeps a connection to each of many origins, which all are one server.
fn client_of_many(http2: bool, tls: bool) -> Client {
    let here = |_: &str, port| async move { Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))]) };
    let client = Client::builder().no_proxy().trust_anything().origins_max(1_000).resolver(here);
    let client = if http2 { client.http2_prior_knowledge(!tls) } else { client.http1_only() };
    client.build().unwrap()
}

async fn ask_origins(client: &Client, tls: bool, port: u16, origins: std::ops::Range<usize>) {
    let scheme = if tls { "https" } else { "http" };
    for origin in origins {
        ask(client.clone(), format!("{scheme}://origin-{origin:04}.test:{port}/")).await;
    }
}

/// The bytes of the client's heap, and those that its ledger knows of, once what was begun has ended.
async fn of_client(client: &Client) -> [i64; 2] {
    tokio::task::yield_now().await;
    [alula_tally::side(CLIENTS).bytes_live(), client.ledger().memory_held() as i64]
}

/// A kind of connection, and the requests that are under way on it at once.
#[derive(Clone, Copy, Debug)]
struct Kind {
    http2: bool,
    tls: bool,
    streams: usize,
}

impl Kind {
    fn path(self) -> &'static str {
        if self.streams > 1 { TOGETHER } else { "/" }
    }

    fn live_max(self) -> i64 {
        match self {
            Self { streams: 2.., .. } => STREAMS_MAX,
            Self { http2: true, .. } => HTTP2_MAX,
            Self { http2: false, .. } => HTTP1_MAX,
        }
    }

    /// Returns true if as many connections as keep their memory may allocate so often when they wake
    /// together.
    fn allows(self, allocations: u64) -> bool {
        match self {
            Self { streams: 2.., .. } => allocations <= REPEATING_ALLOCATIONS * FEW as u64,
            Self { tls: true, .. } => allocations == TLS_ALLOCATIONS * FEW as u64,
            Self { tls: false, .. } => allocations == 0,
        }
    }
}

/// A server on a thread of its own.
struct Background {
    address: SocketAddr,
    certificate: String,
    ask: channel::UnboundedSender<Question>,
}

/// The time by which the server's clock is advanced, and the sender that the figures then go to.
type Question = (Duration, oneshot::Sender<Figures>);

impl Background {
    fn start(side: Side) -> Self {
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            on_a_thread(side, async move {
                tokio::time::pause();
                // A paused clock goes on by itself whenever all tasks wait, unless a blocking task runs.
                let (_running, ends) = mpsc::channel::<()>();
                tokio::task::spawn_blocking(move || ends.recv());
                let identity = Identity::self_signed(["localhost"]).unwrap();
                let certificate = identity.certificate_pem().unwrap().to_owned();
                let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
                let (ask, asked) = channel::unbounded_channel();
                tokio::spawn(answer_questions(side, server.ledger(), asked));
                tell.send(Self { address: server.address().unwrap(), certificate, ask }).unwrap();
                server.serve(answer).await.unwrap();
            });
        });
        told.recv().unwrap()
    }

    /// Returns what one connection adds once there are so many of its kind already that each gives back what
    /// its next request needs; all of them stay open.
    async fn per_connection(&self, kind: Kind, clients: &mut Vec<Client>) -> Figures {
        // The first of them leave what their next request needs to the thread when they rest, and it is
        // charged no more. Those that had several streams fill the shelf of heads as well.
        for _ in 0..kind.streams.min(2) {
            for _ in 0..=FEW {
                clients.push(self.connect(kind).await);
            }
            rested(std::slice::from_ref(self)).await;
        }
        // What the shelves hold of several streams is more, and is to count as little.
        let connections = CONNECTIONS * kind.streams.min(2);
        let before = self.figures().await;
        for _ in 0..connections {
            clients.push(self.connect(kind).await);
        }
        rested(std::slice::from_ref(self)).await;
        let after = self.figures().await;
        let each = |after: i64, before: i64| (after - before) / connections as i64;
        (each(after.0, before.0), each(after.1, before.1), 0)
    }

    /// Opens so many connections that say this and no more. Returns once the server has read it.
    async fn half_open(&self, bytes: &[u8], connections: usize) -> Vec<TcpStream> {
        let (before, mut sockets) = (self.figures().await.1, Vec::new());
        for _ in 0..CONNECTIONS {
            let mut socket = TcpStream::connect(self.address).await.unwrap();
            socket.write_all(bytes).await.unwrap();
            sockets.push(socket);
        }
        while self.figures().await.1 < before + CHARGED_MIN * connections as i64 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        rested(std::slice::from_ref(self)).await;
        sockets
    }

    /// Uses connections again that have given back all they can, all at once. Returns the allocations of the
    /// server.
    async fn wake(&self, kind: Kind, clients: &[Client]) -> u64 {
        let before = self.figures().await;
        let calls = clients.iter().flat_map(|client| std::iter::repeat_n(client, kind.streams));
        let calls: JoinSet<()> =
            calls.map(|client| ask(client.clone(), self.url(kind.tls, kind.path()))).collect();
        calls.join_all().await;
        self.figures().await.2 - before.2
    }

    /// A client whose one connection was used by one request, and then by as many as its kind says.
    async fn connect(&self, kind @ Kind { http2, tls, streams }: Kind) -> Client {
        let mut client = Client::builder().http2_prior_knowledge(http2 && !tls);
        if tls {
            client = client.add_roots_pem(self.certificate.as_bytes()).unwrap();
        }
        if !http2 {
            client = client.http1_only();
        }
        let client = client.build().unwrap();
        ask(client.clone(), self.url(tls, "/")).await;
        if streams > 1 {
            let url = || self.url(tls, kind.path());
            let calls: JoinSet<()> = (0..streams).map(|_| ask(client.clone(), url())).collect();
            calls.join_all().await;
        }
        client
    }

    fn url(&self, tls: bool, path: &str) -> String {
        let scheme = if tls { "https" } else { "http" };
        format!("{scheme}://localhost:{}{path}", self.address.port())
    }

    async fn figures(&self) -> Figures {
        self.figures_after(Duration::ZERO).await
    }

    async fn figures_after(&self, time: Duration) -> Figures {
        let (tell, told) = oneshot::channel();
        self.ask.send((time, tell)).unwrap();
        told.await.unwrap()
    }
}

/// Waits until all connections have given back all they can: nothing changes any more in what the ledgers
/// know.
async fn rested(servers: &[Background]) {
    let (mut held, mut looks) = (0, 0);
    while looks < LOOKS {
        let mut now = 0;
        for server in servers {
            now += server.figures_after(BETWEEN_LOOKS).await.1;
        }
        looks = if now == held { looks + 1 } else { 0 };
        held = now;
    }
}

async fn ask(client: Client, url: String) {
    let mut call = client.get(&url);
    for (name, value) in lists::REQUEST {
        call = call.header(name, value);
    }
    let mut response = call.send().await.unwrap();
    assert_eq!(response.status(), Status::OK);
    assert_eq!(response.body().copy_to(&mut tokio::io::sink()).await.unwrap(), 13);
}

async fn answer_questions(side: Side, ledger: Arc<Ledger>, mut asked: channel::UnboundedReceiver<Question>) {
    while let Some((time, tell)) = asked.recv().await {
        tokio::time::advance(time).await;
        // Whoever was ready to run before this task runs first.
        tokio::task::yield_now().await;
        let counts = alula_tally::side(side);
        tell.send((counts.bytes_live(), ledger.memory_held() as i64, counts.allocations)).unwrap();
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    if exchange.request().path() == TOGETHER {
        ALL.wait().await;
    }
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.header(name, value);
    }
    reply.send(b"Hello, World!").await
}
