//! The ledger's account of memory beside the allocator's, while the exchanges of the allocation tests are
//! under way.
//!
//! Each row has a server and a client of its own, on a thread each. After three rounds all requests of a
//! fourth are with their handlers, or all answers are with their callers: then both sides are asked for what
//! the heap holds more than before the first connection, and for what their ledgers know of. The two may
//! differ by a twentieth, beside the memory that a thread keeps for its next connections: buffers to read
//! into, heads and kits, which is measured when all connections have ended.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use alula::{Client, Error, Exchange, Identity, Ledger, Limits, Sent, Server, Status};
use alula_tally::Side;
use alula_testkit::lists;
use tokio::sync::{Barrier, oneshot};
use tokio::task::JoinSet;

use crate::support::on_a_thread;

const ROUNDS: usize = 4;

static CONTENT: [u8; 102_400] = [b'c'; 102_400];

/// The bytes that differ without being of interest: lists that grow for a runtime or a pool, and not for a
/// connection.
const SLACK: i64 = 8 * 1024;

/// Buffers of 64 KiB that a thread keeps to lend, none or all of which are with connections when one looks
/// (`net/src/connection/memory/read_buffers.rs`).
const LENT: i64 = 4 * 64 * 1024;

/// The time for which nothing changes once all tasks have come to rest.
const REST: Duration = Duration::from_millis(20);

/// The longest time in which all connections end.
const ENDED_AFTER: Duration = Duration::from_secs(10);

/// A workload of the allocation tests.
#[derive(Clone, Copy, Debug)]
struct Work {
    http2: bool,
    tls: bool,
    in_flight: usize,
    exchange: Kind,
}

/// The moment at which the exchanges of a round are held.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A GET is with its handler.
    Asked,
    /// The content of a POST was read, piece by piece.
    Read,
    /// The content of a POST was not read.
    Unread,
    /// The content of a POST is kept in one piece.
    Kept,
    /// The head of an answer is with its caller, and the content is not read.
    Answered,
}

/// Bytes of a side: on the heap, in the ledger, and of the program.
#[derive(Clone, Copy, Debug)]
struct Held {
    live: i64,
    charged: i64,
    /// The memory that the thread keeps without any connection.
    kept: i64,
    /// Content that a handler has taken over.
    own: i64,
}

impl Work {
    const fn own(self) -> i64 {
        if matches!(self.exchange, Kind::Kept) { (CONTENT.len() * self.in_flight) as i64 } else { 0 }
    }
}

impl Held {
    /// Returns true if the account is that of the heap, within a twentieth.
    fn is_charged(self) -> bool {
        let connections = self.live - self.own;
        let least = (connections - self.kept.max(LENT)) * 19 / 20 - SLACK;
        (least..=connections * 21 / 20 + SLACK).contains(&self.charged)
    }
}

/// The place in which all requests of a round meet, and the one that looks.
#[derive(Clone)]
struct Gate(Arc<[Barrier; 2]>);

impl Gate {
    fn new(count: usize) -> Self {
        Self(Arc::new([Barrier::new(count + 1), Barrier::new(count + 1)]))
    }

    async fn pass(&self) {
        self.0[0].wait().await;
        self.0[1].wait().await;
    }
}

pub(crate) fn accounts_are_those_of_the_allocator() {
    assert!(alula_tally::is_installed());
    let mut failures = Vec::new();
    println!("| HTTP/2 | TLS | in flight | held when | side | heap | of threads | of handlers | account |");
    println!("| --- | --- | ---: | --- | --- | ---: | ---: | ---: | ---: |");
    for work in all_work() {
        let Work { http2, tls, in_flight, exchange } = work;
        for (side, held) in ["server", "client"].iter().zip(measure(work)) {
            let Held { live, charged, kept, own, .. } = held;
            let row = format!(
                "| {http2} | {tls} | {in_flight} | {exchange:?} | {side} | {live} | {kept} | {own} | {charged} |"
            );
            println!("{row}");
            if !held.is_charged() {
                failures.push(row);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn all_work() -> impl Iterator<Item = Work> {
    let kinds = [Kind::Asked, Kind::Read, Kind::Unread, Kind::Kept, Kind::Answered];
    let versions = [(false, false), (true, false), (false, true), (true, true)];
    let some = versions.into_iter().flat_map(move |(http2, tls)| {
        [1, 32].into_iter().flat_map(move |in_flight| {
            kinds.into_iter().map(move |exchange| Work { http2, tls, in_flight, exchange })
        })
    });
    some.chain([Work { http2: true, tls: false, in_flight: 1000, exchange: Kind::Asked }])
}

/// Runs the rounds with a new server and a new client. Returns the server's figures and the client's.
fn measure(work: Work) -> [Held; 2] {
    let gate = Gate::new(work.in_flight);
    let (tell, told) = mpsc::channel();
    let server = {
        let gate = gate.clone();
        thread::spawn(move || on_a_thread(Side::SERVER, serve(work, gate, tell)))
    };
    let (origin, certificate, ledger, stop) = told.recv().unwrap();
    let client =
        thread::spawn(move || on_a_thread(Side::CLIENT, ask_all(work, gate, origin, certificate, ledger)));
    let held = client.join().unwrap();
    stop.send(()).unwrap();
    server.join().unwrap();
    held
}

type Told = (String, String, Arc<Ledger>, oneshot::Sender<()>);

async fn serve(work: Work, gate: Gate, tell: mpsc::Sender<Told>) {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let certificate = identity.certificate_pem().unwrap().to_owned();
    let limits = Limits { streams: 1000, ..Limits::default() };
    let mut server = Server::builder().limits(limits);
    if work.tls {
        server = server.identity(identity);
    }
    let server = server.bind("127.0.0.1:0").await.unwrap();
    let scheme = if work.tls { "https" } else { "http" };
    let origin = format!("{scheme}://localhost:{}/", server.address().unwrap().port());
    let (stop, stopped) = oneshot::channel();
    tell.send((origin, certificate, server.ledger(), stop)).unwrap();
    let serving = server.serve(move |exchange| answer(exchange, work.exchange, gate.clone()));
    tokio::select! {
        ended = serving => ended.unwrap(),
        _ = stopped => {}
    }
}

async fn answer(mut exchange: Exchange, kind: Kind, gate: Gate) -> Result<Sent, Error> {
    match kind {
        Kind::Asked | Kind::Unread => gate.pass().await,
        Kind::Read => {
            while exchange.body().chunk().await?.is_some() {}
            gate.pass().await;
        }
        Kind::Kept => {
            let content = exchange.body().bytes().await?;
            gate.pass().await;
            drop(content);
        }
        Kind::Answered => {}
    }
    while exchange.body().chunk().await?.is_some() {}
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.header(name, value);
    }
    reply.send(&CONTENT).await
}

async fn ask_all(
    work: Work,
    gate: Gate,
    origin: String,
    certificate: String,
    served: Arc<Ledger>,
) -> [Held; 2] {
    let sides = [Side::SERVER, Side::CLIENT];
    let live = || sides.map(|side| alula_tally::side(side).bytes_live());
    let without = live();
    let client = client(work, &certificate);
    let start = Gate::new(work.in_flight);
    let mut callers = JoinSet::new();
    for _ in 0..work.in_flight {
        let (client, url, start, gate) = (client.clone(), origin.clone(), start.clone(), gate.clone());
        callers.spawn(async move {
            for _ in 0..ROUNDS {
                start.pass().await;
                ask(&client, &url, work.exchange, &gate).await;
            }
        });
    }
    let ledgers = [served, client.ledger()];
    let (mut before, mut held) = (None, None);
    for _ in 0..ROUNDS {
        start.0[0].wait().await;
        // The callers are there, and wait.
        let before = *before.get_or_insert_with(live);
        start.0[1].wait().await;
        gate.0[0].wait().await;
        rested(live).await;
        let now = live();
        let own = [work.own(), 0];
        held = Some([0, 1].map(|side| Held {
            live: now[side] - before[side],
            charged: ledgers[side].memory_held() as i64,
            kept: 0,
            own: own[side],
        }));
        gate.0[1].wait().await;
    }
    callers.join_all().await;
    drop((client, start, gate));
    tokio::time::timeout(ENDED_AFTER, ended(&ledgers)).await.expect("all connections end");
    rested(live).await;
    let (now, held) = (live(), held.unwrap());
    [0, 1].map(|side| Held { kept: now[side] - without[side], ..held[side] })
}

/// Waits until both heaps stay as they are for a moment: tasks that have no more to do tell nobody.
async fn rested(live: impl Fn() -> [i64; 2]) {
    let mut before = None;
    while before != Some(live()) {
        before = Some(live());
        tokio::time::sleep(REST).await;
    }
}

/// Waits until the connections of both sides have ended.
async fn ended(ledgers: &[Arc<Ledger>; 2]) {
    while ledgers.iter().any(|ledger| ledger.memory_held() > 0) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn client(work: Work, certificate: &str) -> Client {
    let mut client = Client::builder().http2_prior_knowledge(work.http2 && !work.tls);
    if work.tls {
        client = client.add_roots_pem(certificate.as_bytes()).unwrap();
    }
    if !work.http2 {
        client = client.http1_only();
    }
    client.build().unwrap()
}

async fn ask(client: &Client, url: &str, kind: Kind, gate: &Gate) {
    let is_get = matches!(kind, Kind::Asked | Kind::Answered);
    let mut call = if is_get { client.get(url) } else { client.post(url) };
    for (name, value) in lists::REQUEST {
        call = call.header(name, value);
    }
    let sent = if is_get { call.send().await } else { call.send_body(&CONTENT).await };
    let mut response = sent.unwrap();
    assert_eq!(response.status(), Status::OK);
    if kind == Kind::Answered {
        gate.pass().await;
    }
    assert_eq!(response.body().copy_to(&mut tokio::io::sink()).await.unwrap(), CONTENT.len() as u64);
}
