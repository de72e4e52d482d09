//! A server refuses new requests while it holds more memory than new ones may find, over real sockets and
//! both versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use alula::{Client, Error, Exchange, Ledger, Limits, Reservation, Retry, Sent, Server, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const OVERLOADED: &str = "OVERLOADED";
/// How often a client sends by itself what the peer cannot have acted on.
const TRIES: u64 = 3;

/// Fewer than the connections of HTTP/1.1 that a client has to one origin.
const CALLS: usize = 5;
/// What the future of one handler holds at least.
const LARGE: usize = 20_000;

/// A server, what it has counted, and how often its handler was called.
struct Served {
    authority: String,
    ledger: Arc<Ledger>,
    calls: Arc<AtomicUsize>,
}

async fn answer(exchange: Exchange, calls: Arc<AtomicUsize>) -> Result<Sent, Error> {
    calls.fetch_add(1, Ordering::Relaxed);
    match exchange.request().path() {
        "/large" => {
            let room = [7_u8; LARGE];
            std::future::pending::<()>().await;
            exchange.respond(Status::OK).send(&room).await
        }
        "/reserve" => match exchange.reserve(u64::from(u32::MAX)) {
            Some(_) => exchange.respond(Status::OK).send(b"").await,
            None => exchange.respond(Status::INSUFFICIENT_STORAGE).send(b"").await,
        },
        _ => exchange.respond(Status::OK).send(b"ok").await,
    }
}

async fn serve(limits: Limits) -> Served {
    let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
    let (authority, ledger) = (server.address().unwrap().to_string(), server.ledger());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    tokio::spawn(server.serve(move |exchange| answer(exchange, counted.clone())));
    Served { authority, ledger, calls }
}

impl Served {
    /// Reserves whatever is left, beside what is reserved already: connections may have given some of their
    /// memory back.
    fn fill(&self, limits: &Limits, reserved: &mut Vec<Reservation>) {
        let left = limits.process_memory_soft_bytes().saturating_sub(self.ledger.memory_held());
        if left > 0 {
            reserved.push(self.ledger.reserve(left).expect("it is just what is left"));
        }
        assert!(self.ledger.is_overloaded());
    }
}

/// Sends bytes on a connection of HTTP/1.1 and reads until a whole head has come.
async fn ask(socket: &mut TcpStream, request: &str) -> String {
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let bytes = socket.read_buf(&mut answer).await.unwrap();
        assert!(bytes > 0, "closed after {:?}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

#[tokio::test]
async fn http1_is_answered_503_and_the_connection_stays() {
    let limits = Limits { process_memory_bytes: 8 << 20, ..Limits::default() };
    let served = serve(limits.clone()).await;
    let mut reserved = Vec::new();
    let mut socket = TcpStream::connect(&served.authority).await.unwrap();
    for (number, request) in [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "HEAD / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        served.fill(&limits, &mut reserved);
        let answer = ask(&mut socket, request).await;
        assert!(answer.starts_with("http/1.1 503 "), "{request:?}: {answer}");
        assert!(answer.contains("\r\nretry-after: 5\r\n"), "{answer}");
        assert!(answer.contains("\r\ndate: "), "{answer}");
        assert_eq!(served.ledger.count(OVERLOADED), number as u64 + 1);
    }
    assert_eq!(served.calls.load(Ordering::Relaxed), 0, "no handler runs");
    drop(reserved);
    assert!(!served.ledger.is_overloaded());
    let answer = ask(&mut socket, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(answer.starts_with("http/1.1 200 "), "{answer}");
    assert_eq!(served.calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn pipelined_requests_of_http1_are_refused_each() {
    let limits = Limits { process_memory_bytes: 8 << 20, ..Limits::default() };
    let served = serve(limits.clone()).await;
    let mut reserved = Vec::new();
    served.fill(&limits, &mut reserved);
    let mut socket = TcpStream::connect(&served.authority).await.unwrap();
    let requests = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(19)
        + "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    socket.write_all(requests.as_bytes()).await.unwrap();
    let mut answers = String::new();
    socket.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 503 ").count(), 20, "{answers}");
    assert_eq!((served.ledger.count(OVERLOADED), served.calls.load(Ordering::Relaxed)), (20, 0));
}

#[tokio::test]
async fn http2_refuses_the_stream_and_the_connection_stays() {
    let limits = Limits { process_memory_bytes: 8 << 20, ..Limits::default() };
    let served = serve(limits.clone()).await;
    let url = format!("http://{}/", served.authority);
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    assert_eq!(client.get(&url).send().await.unwrap().status(), Status::OK);
    let mut reserved = Vec::new();
    for number in 1..4 {
        served.fill(&limits, &mut reserved);
        let error = client.post(&url).send_body(b"abc").await.unwrap_err();
        assert_eq!(error.retry(), Retry::Safe, "{error}: a POST may be sent again");
        assert_eq!(served.ledger.count(OVERLOADED), TRIES * number, "the client has tried again by itself");
    }
    assert_eq!(served.calls.load(Ordering::Relaxed), 1, "no handler runs");
    drop(reserved);
    assert_eq!(client.get(&url).send().await.unwrap().status(), Status::OK);
}

#[tokio::test]
async fn a_handler_that_finds_no_room_says_so_itself() {
    let served = serve(Limits::default()).await;
    let url = format!("http://{}/reserve", served.authority);
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    assert_eq!(client.get(&url).send().await.unwrap().status(), Status::INSUFFICIENT_STORAGE);
    assert_eq!(served.ledger.count(OVERLOADED), 0);
}

#[tokio::test]
async fn a_server_that_does_not_shed_serves_up_to_its_bound() {
    let limits =
        Limits { process_memory_bytes: 8 << 20, process_memory_soft_percent: 100, ..Limits::default() };
    let served = serve(limits.clone()).await;
    let mut socket = TcpStream::connect(&served.authority).await.unwrap();
    assert!(ask(&mut socket, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.starts_with("http/1.1 200 "));
    let _reservation = served.ledger.reserve(7 << 20).expect("less than all");
    assert!(ask(&mut socket, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.starts_with("http/1.1 200 "));
    assert_eq!(served.ledger.count(OVERLOADED), 0);
}

/// Limits as servers have them whose clients send large heads, with room for some of them alone.
fn large_heads() -> Limits {
    const HEAD: u32 = 1 << 20;
    Limits {
        head_bytes: HEAD,
        field_section_bytes: HEAD,
        string_bytes: HEAD,
        continuation_frames: 64,
        connection_memory_bytes: 8 << 20,
        process_memory_bytes: 64 << 20,
        ..Limits::default()
    }
}

/// A head that has more than the bound for strangers.
const LARGE_HEAD: usize = 200 << 10;

#[tokio::test]
async fn large_heads_of_strangers_are_refused_while_memory_is_scarce() {
    let limits = large_heads();
    let served = serve(limits.clone()).await;
    let url = format!("http://{}/", served.authority);
    let value = "a".repeat(LARGE_HEAD);
    let ask = async |client: &Client, value: &str| {
        let response = client.get(&url).header("x-large", value).send().await;
        response.map(|response| response.status())
    };
    for is_http2 in [false, true] {
        let new_client = || Client::builder().http2_prior_knowledge(is_http2).build().unwrap();
        let stranger = new_client();
        assert_eq!(ask(&stranger, &value).await.unwrap(), Status::OK, "there is room");

        let scarce = served.ledger.reserve(limits.process_memory_bytes / 4).expect("less than all");
        let (stranger, known) = (new_client(), new_client());
        assert_eq!(ask(&known, "small").await.unwrap(), Status::OK);
        let refused = ask(&stranger, &value).await.unwrap();
        assert_eq!(refused, Status::REQUEST_HEADER_FIELDS_TOO_LARGE, "HTTP/2: {is_http2}");
        assert_eq!(ask(&known, &value).await.unwrap(), Status::OK, "one that was answered, {is_http2}");
        assert_eq!(ask(&stranger, "small").await.unwrap(), Status::OK);
        assert_eq!(ask(&stranger, &value).await.unwrap(), Status::OK, "it is let in after an answer");

        let stranger = new_client();
        assert_eq!(ask(&stranger, &value).await.unwrap(), Status::REQUEST_HEADER_FIELDS_TOO_LARGE);
        drop(scarce);
        assert_eq!(ask(&stranger, &value).await.unwrap(), Status::OK, "there is room again");
    }
    assert_eq!(served.ledger.count(OVERLOADED), 0);
}

/// Connections that hold nearly all that new requests may find, of requests that never end, are closed in
/// place of a bystander's requests. The bystander's own request that is under way goes on.
#[tokio::test]
async fn those_who_hold_the_memory_are_closed_and_not_everybody_refused() {
    const HEAD: usize = 60 << 10;
    // A client of HTTP/1.1 has few connections to one origin. Where heads are small, handlers hold the
    // memory.
    for (is_http2, head, clients, requests) in [(false, HEAD, 40, 6), (true, HEAD, 4, 60), (true, 1, 8, 100)]
    {
        let limits = Limits { process_memory_bytes: 16 << 20, ..large_heads() };
        let served = serve(limits.clone()).await;
        let url = |path: &str| format!("http://{}{path}", served.authority);
        let new_client = || Client::builder().http2_prior_knowledge(is_http2).build().unwrap();
        let bystander = new_client();
        assert_eq!(bystander.get(url("/")).send().await.unwrap().status(), Status::OK);
        let (client, large) = (bystander.clone(), url("/large"));
        let slow = tokio::spawn(async move { client.get(&*large).send().await.map(drop) });
        until(|| served.calls.load(Ordering::Relaxed) == 2).await;

        // Each connection sends requests with large heads, and goes on as it is closed.
        let flood = |holder: Client| {
            let (url, value) = (url("/large"), "a".repeat(head));
            tokio::spawn(async move {
                let mut calls = tokio::task::JoinSet::new();
                for _ in 0..requests {
                    let (holder, url, value) = (holder.clone(), url.clone(), value.clone());
                    calls.spawn(async move {
                        holder.get(&*url).header("x-large", &*value).send().await.map(drop)
                    });
                }
                while calls.join_next().await.is_some() {}
            })
        };
        let holders: Vec<_> = (0..clients).map(|_| flood(new_client())).collect();
        until(|| served.ledger.count("HELD_TOO_LONG") > 0 || served.ledger.is_overloaded()).await;
        let answered = async {
            loop {
                // A request that is refused may be sent again.
                let response = bystander.get(url("/")).send().await;
                let is_served = response.is_ok_and(|response| response.status() == Status::OK);
                if is_served && served.ledger.count("HELD_TOO_LONG") > 0 && !served.ledger.is_overloaded() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        };
        let outcome = tokio::time::timeout(Duration::from_secs(20), answered).await;
        assert!(outcome.is_ok(), "the bystander is served, HTTP/2: {is_http2}, {head}");
        assert!(!slow.is_finished(), "the bystander's request under way goes on, HTTP/2: {is_http2}");
        holders.iter().for_each(tokio::task::JoinHandle::abort);
        slow.abort();
    }
}

/// Lets others run until this is so.
async fn until(is_so: impl Fn() -> bool) {
    let so = std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if is_so() { Poll::Ready(()) } else { Poll::Pending }
    });
    tokio::time::timeout(Duration::from_secs(20), so).await.expect("it comes to that");
}

#[tokio::test]
async fn what_handlers_hold_is_charged_and_given_back() {
    for is_http2 in [false, true] {
        let served = serve(Limits::default()).await;
        let url = format!("http://{}/large", served.authority);
        let client = Client::builder().http2_prior_knowledge(is_http2).build().unwrap();
        let calls = (0..CALLS).map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move { client.get(&url).send().await.map(drop) })
        });
        let calls: Vec<_> = calls.collect();
        until(|| served.calls.load(Ordering::Relaxed) == CALLS).await;
        let held = served.ledger.memory_held();
        assert!(held >= (CALLS * LARGE) as u64, "{held} bytes, HTTP/2: {is_http2}");
        calls.iter().for_each(tokio::task::JoinHandle::abort);
        drop(client);
        until(|| served.ledger.memory_held() == 0).await;
    }
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// One fewer than a server takes at once.
const STREAMS: u32 = 99;
/// The value that the HPACK table keeps.
const KEPT: usize = 3_900;

/// Requests whose content does not come. The first puts a long field into the HPACK table, and each names
/// that so often, by a byte each time.
fn repeating(repeats: usize) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let fields = [&[0x83, 0x86, 0x04][..], &text("/large"), &[0x01], &text("a")].concat();
    // A literal with indexing, and a length of more than a prefix of seven bits takes (RFC 7541 §5.1).
    let rest = KEPT - 127;
    let length = [127, (rest % 128 + 128) as u8, (rest / 128) as u8];
    let kept = [&[0x40][..], &text("x-a"), &length, &[b'v'; KEPT]].concat();
    let mut frames = PREFACE.to_vec();
    for number in 0..STREAMS {
        let (new, again) = if number == 0 { (&kept[..], repeats - 1) } else { (&[][..], repeats) };
        let block = [&fields[..], new, &vec![0x80 | 62; again]].concat();
        frames.extend_from_slice(&(block.len() as u32).to_be_bytes()[1..]);
        frames.extend_from_slice(&[1, 4]);
        frames.extend_from_slice(&(2 * number + 1).to_be_bytes());
        frames.extend_from_slice(&block);
    }
    frames
}

/// Returns the requests that get to the handler, of those that repeat a long field so often each. All that
/// are refused are refused for that.
async fn taken_of_repeating(repeats: usize, is_crowded: bool, limits: Limits) -> u32 {
    let limits = Limits { process_memory_bytes: 64 << 20, ..limits };
    let served = serve(limits.clone()).await;
    let reserved = is_crowded.then(|| served.ledger.reserve(limits.process_memory_bytes / 4));
    let mut socket = TcpStream::connect(&served.authority).await.unwrap();
    socket.write_all(&repeating(repeats)).await.unwrap();
    let taken = || served.calls.load(Ordering::Relaxed) as u32;
    until(|| taken() + served.ledger.count("HEADS_UNPAID") as u32 == STREAMS).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let other = client.get(format!("http://{}/", served.authority)).send().await.unwrap();
    assert_eq!((other.status(), served.ledger.count(OVERLOADED)), (Status::OK, 0), "another is served");
    drop(reserved);
    taken() - 1
}

/// Heads that a few bytes stand for are taken while there is room, and paid for once memory is in use.
#[tokio::test]
async fn heads_are_paid_for_while_memory_is_in_use() {
    const BROWSER: usize = 1;
    let lifted = Limits { unpaid_head_bytes: u32::MAX, ..Limits::default() };
    assert_eq!(taken_of_repeating(4, false, Limits::default()).await, STREAMS, "there is room");
    assert_eq!(taken_of_repeating(BROWSER, false, Limits::default()).await, STREAMS);
    assert_eq!(taken_of_repeating(4, true, lifted).await, STREAMS, "without the limit");
    let sent = repeating(4).len();
    let bytes_max = 64 * 1024 + 8 * sent;
    let taken = taken_of_repeating(4, true, Limits::default()).await as usize;
    assert!(
        (2..=bytes_max / (4 * KEPT) + 1).contains(&taken),
        "{taken} of {STREAMS} are taken for {sent} bytes"
    );
    let taken = taken_of_repeating(BROWSER, true, Limits::default()).await;
    assert!(taken >= 10, "{taken} with a cookie of 4 KiB are taken");
}

/// The bytes of a head that comes in two pieces, and those of the first.
const PIECES: (usize, usize) = (40 << 10, 30 << 10);
/// The bytes that may be held beside such a head once it is whole: its connection and the future of its
/// handler, and no buffer of 64 KiB.
const BESIDE: u64 = 48 << 10;

/// A long head is left where it was read until it is whole, and no longer.
#[tokio::test]
async fn a_head_that_came_in_pieces_holds_no_buffer() {
    let served = serve(large_heads()).await;
    let mut socket = TcpStream::connect(&served.authority).await.unwrap();
    let value = "v".repeat(PIECES.0);
    let first = format!("GET /large HTTP/1.1\r\nhost: a\r\nx-a: {}", &value[..PIECES.1]);
    socket.write_all(first.as_bytes()).await.unwrap();
    until(|| served.ledger.memory_held() >= PIECES.1 as u64).await;
    socket.write_all(format!("{}\r\n\r\n", &value[PIECES.1..]).as_bytes()).await.unwrap();
    until(|| served.calls.load(Ordering::Relaxed) == 1).await;
    let is_so = async {
        while served.ledger.memory_held() > PIECES.0 as u64 + BESIDE {
            tokio::task::yield_now().await;
        }
    };
    let outcome = tokio::time::timeout(Duration::from_secs(3), is_so).await;
    assert!(outcome.is_ok(), "{} bytes are held", served.ledger.memory_held());
}
