//! Output that waits for a socket is bounded by `Limits::output_soft_bytes`, however large the peer's windows
//! are, and is produced as it drains: in both versions, in both roles, and for many streams in equal shares.
//!
//! An answer of 64 MiB to a peer with windows of 32 MiB was copied into the output as a whole window. The
//! account of the connection's memory then closed a connection whose peer had done nothing wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alula::{
    Client, ClientBuilder, Error, Exchange, Identity, Ledger, Limits, Response, Sent, Server, ServerBuilder,
    Status, Stop,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;

use crate::support::{count, within};

const MIB: usize = 1 << 20;

/// Limits of a peer whose windows hold much more than output may.
fn wide() -> Limits {
    let window = 32 * MIB as u32;
    Limits {
        stream_window: window,
        stream_window_max: window,
        connection_window: window,
        connection_window_max: window,
        ..Limits::default()
    }
}

/// Where a server listens, what it counts, and what stops it.
struct Site {
    url: String,
    ledger: Arc<Ledger>,
    stop: Stop,
    /// What a client must trust, over TLS.
    certificate: Option<String>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Serves over TLS where `with_tls`, else in clear text.
async fn serve<H, F>(builder: ServerBuilder, with_tls: bool, handler: H) -> Site
where
    H: Fn(Exchange) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Sent, Error>> + Send + 'static,
{
    let identity = with_tls.then(|| Identity::self_signed(["localhost"]).unwrap());
    let certificate = identity.as_ref().map(|identity| identity.certificate_pem().unwrap().to_owned());
    let builder = if let Some(identity) = identity { builder.identity(identity) } else { builder };
    let server = builder.bind("127.0.0.1:0").await.unwrap();
    let scheme = if with_tls { "https" } else { "http" };
    let url = format!("{scheme}://localhost:{}/", server.address().unwrap().port());
    let (ledger, stop) = (server.ledger(), server.stop_handle());
    tokio::spawn(server.serve(handler));
    Site { url, ledger, stop, certificate }
}

impl Site {
    fn client(&self, is_http2: bool, limits: Limits) -> Client {
        let builder: ClientBuilder = Client::builder().limits(limits).http2_prior_knowledge(is_http2);
        let builder = match &self.certificate {
            Some(pem) => builder.add_roots_pem(pem.as_bytes()).unwrap(),
            None => builder,
        };
        builder.build().unwrap()
    }
}

async fn answer(exchange: Exchange, content: Arc<Vec<u8>>) -> Result<Sent, Error> {
    exchange.respond(Status::OK).send(&**content).await
}

async fn read(mut response: Response, count: &AtomicUsize) -> Result<(), Error> {
    while let Some(chunk) = response.body().chunk().await? {
        count.fetch_add(chunk.len(), Ordering::Relaxed);
    }
    Ok(())
}

/// The most memory that is held until the work is done.
async fn most_held<T>(ledger: &Ledger, work: impl Future<Output = T>) -> (T, u64) {
    let mut most = 0;
    let mut work = std::pin::pin!(work);
    loop {
        most = most.max(ledger.memory_held());
        tokio::select! {
            biased;
            done = &mut work => return (done, most),
            () = tokio::task::yield_now() => {}
        }
    }
}

#[tokio::test]
async fn a_large_answer_to_a_large_window_is_whole_and_takes_little_memory() {
    const BYTES: usize = 64 * MIB;
    for (is_http2, with_tls) in [(true, false), (false, false), (true, true)] {
        let content = Arc::new(vec![7; BYTES]);
        let site =
            serve(Server::builder(), with_tls, move |exchange| answer(exchange, content.clone())).await;
        let client = site.client(is_http2, wide());
        let count = AtomicUsize::new(0);
        let call = async { read(client.get(&site.url).send().await?, &count).await };
        let (outcome, most) = within(most_held(&site.ledger, call)).await;
        println!(
            "HTTP/2 {is_http2}, TLS {with_tls}: {outcome:?}, {} bytes, {most} held",
            count.load(Ordering::Relaxed)
        );
        assert!(outcome.is_ok(), "{outcome:?} after {} bytes", count.load(Ordering::Relaxed));
        assert_eq!(count.load(Ordering::Relaxed), BYTES);
        assert_eq!(site.ledger.count("CONNECTION_MEMORY"), 0);
        assert!(most < 2 * MIB as u64, "{most} bytes held");
    }
}

#[tokio::test]
async fn large_content_of_a_request_to_a_large_window_is_whole_and_takes_little_memory() {
    for (is_http2, with_tls) in [(true, false), (false, false), (true, true)] {
        let builder = Server::builder().limits(wide());
        let site = serve(builder, with_tls, |mut exchange: Exchange| async move {
            let bytes = count(exchange.body()).await?;
            exchange.respond(Status::OK).send(bytes.to_string().as_bytes()).await
        })
        .await;
        let client = site.client(is_http2, Limits::default());
        let ledger = client.ledger();
        for bytes in [3 * MIB, 16 * MIB] {
            let content = vec![7; bytes];
            // The server's windows are known once it has answered.
            client.get(&site.url).send().await.unwrap();
            let call = async { client.post(&site.url).send_body(&content).await?.text().await };
            let (outcome, most) = within(most_held(&ledger, call)).await;
            println!("HTTP/2 {is_http2}, TLS {with_tls}: {outcome:?}, {most} held");
            assert_eq!(outcome.unwrap(), bytes.to_string());
            assert_eq!(ledger.count("CONNECTION_MEMORY"), 0);
            assert!(most < 2 * MIB as u64, "{most} bytes held");
        }
    }
}

/// What a server holds for a peer that grants windows without end and reads nothing, until it is given up.
async fn held_for_a_stalled_peer(request: &[u8], output_soft_bytes: u32) -> u64 {
    let limits =
        Limits { output_soft_bytes, body_rate_grace: Duration::from_millis(200), ..Limits::default() };
    let content = Arc::new(vec![7; 64 * MIB]);
    let builder = Server::builder().limits(limits);
    let site = serve(builder, false, move |exchange| answer(exchange, content.clone())).await;
    let mut socket =
        TcpStream::connect(site.url.trim_start_matches("http://").trim_end_matches('/')).await.unwrap();
    socket.write_all(request).await.unwrap();
    let given_up = async {
        while site.ledger.count("SLOW_CONTENT") == 0 {
            assert_eq!(site.ledger.count("CONNECTION_MEMORY"), 0);
            tokio::task::yield_now().await;
        }
    };
    let ((), most) = within(most_held(&site.ledger, given_up)).await;
    let _ = socket.read(&mut [0; 1]).await;
    most
}

/// The preface, windows of 2^31-1 bytes, and a request.
fn http2_request() -> Vec<u8> {
    const MOST: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];
    const MORE: [u8; 4] = [0x7f, 0xff, 0, 0];
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4]);
    bytes.extend(MOST);
    bytes.extend([0, 0, 4, 8, 0, 0, 0, 0, 0]);
    bytes.extend(MORE);
    // GET, http, "/", and an authority that is `a`.
    bytes.extend([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x41, 1, b'a']);
    bytes
}

#[tokio::test]
async fn the_limit_is_what_bounds_the_output() {
    let http1 = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec();
    for request in [http2_request(), http1] {
        let mut held = [0; 2];
        for (held, limit) in held.iter_mut().zip([16 * 1024, MIB as u32]) {
            *held = held_for_a_stalled_peer(&request, limit).await;
        }
        println!("held at most: {held:?}");
        // Beside the output a connection holds its input and its tables.
        assert!(held[0] < 200 * 1024, "{held:?}");
        assert!((MIB as u64..5 * MIB as u64 / 2).contains(&held[1]), "{held:?}");
    }
}

#[tokio::test]
async fn streams_that_write_at_once_share_the_output() {
    const STREAMS: usize = 24;
    const BYTES: usize = 4 * MIB;
    const PIECE: usize = 64 * 1024;
    let written: Arc<Vec<AtomicUsize>> = Arc::new((0..STREAMS).map(|_| AtomicUsize::new(0)).collect());
    let least = Arc::new(AtomicUsize::new(BYTES));
    let (gate, names, least_seen) =
        (Arc::new(Barrier::new(STREAMS)), Arc::new(AtomicUsize::new(0)), least.clone());
    let site = serve(Server::builder(), false, move |exchange: Exchange| {
        let (written, gate, least) = (written.clone(), gate.clone(), least_seen.clone());
        let index = names.fetch_add(1, Ordering::Relaxed);
        async move {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            gate.wait().await;
            for _ in 0..BYTES / PIECE {
                writer.write(&[7; PIECE]).await?;
                written[index].fetch_add(PIECE, Ordering::Relaxed);
            }
            let last = written.iter().map(|count| count.load(Ordering::Relaxed)).min().unwrap();
            least.fetch_min(last, Ordering::Relaxed);
            writer.finish().await
        }
    })
    .await;
    // Windows are never what a stream waits for.
    let limits = Limits { connection_window: 128 * MIB as u32, ..wide() };
    let client = site.client(true, limits);
    let tasks: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (client, url) = (client.clone(), site.url.clone());
            tokio::spawn(async move {
                let count = AtomicUsize::new(0);
                read(client.get(&url).send().await?, &count).await.map(|()| count.into_inner())
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(within(task).await.unwrap().unwrap(), BYTES);
    }
    let least = least.load(Ordering::Relaxed);
    println!("when the first of {STREAMS} had written all, the last had written {least} of {BYTES} bytes");
    assert!(least > BYTES * 9 / 10, "{least}");
}

/// A request of HTTP/2 by a peer whose windows take everything.
const REQUEST_OVER_HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\
    \0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff\
    \0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0\
    \0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a";
const REQUEST_OVER_HTTP1: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/// A peer that has asked and reads nothing.
enum Unread {
    Raw { _socket: TcpStream },
    Response(Box<Response>),
}

async fn leave_unread(site: &Site, is_http2: bool) -> Result<Unread, Error> {
    if site.certificate.is_some() {
        return Ok(Unread::Response(Box::new(
            site.client(false, Limits::client()).get(&site.url).send().await?,
        )));
    }
    let authority = site.url.trim_start_matches("http://localhost:").trim_end_matches('/');
    let mut socket = TcpStream::connect(format!("127.0.0.1:{authority}")).await.unwrap();
    let request = if is_http2 { REQUEST_OVER_HTTP2 } else { REQUEST_OVER_HTTP1 };
    socket.write_all(request).await.unwrap();
    Ok(Unread::Raw { _socket: socket })
}

/// Many who read nothing of a large answer do not fill the memory, so that nobody is refused, and nobody
/// closed: from a quarter on each of them holds little. An answer that is read later is whole.
#[tokio::test]
async fn answers_that_are_not_read_leave_room_for_others() {
    const PEERS: usize = 64;
    const BYTES: usize = 24 * MIB;
    for (is_http2, with_tls) in [(false, false), (true, false), (false, true)] {
        let case = format!("HTTP/2 {is_http2}, TLS {with_tls}");
        let limits = Limits { process_memory_bytes: 16 * MIB as u64, ..Limits::default() };
        let (content, calls) = (Arc::new(vec![7; BYTES]), Arc::new(AtomicUsize::new(0)));
        let counted = calls.clone();
        let site = serve(Server::builder().limits(limits.clone()), with_tls, move |exchange| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer(exchange, content.clone())
        })
        .await;
        let refused =
            || ["OVERLOADED", "HELD_TOO_LONG", "PROCESS_MEMORY"].map(|name| (name, site.ledger.count(name)));
        let mut unread = Vec::new();
        for number in 1..=PEERS {
            unread.push(leave_unread(&site, is_http2).await);
            let is_here =
                || calls.load(Ordering::Relaxed) == number || refused().iter().any(|(_, count)| *count > 0);
            within(async {
                while !is_here() {
                    tokio::task::yield_now().await;
                }
            })
            .await;
        }
        let held = site.ledger.memory_held();
        println!("{case}: {held} bytes held, {:?}", refused());
        assert!(refused().iter().all(|(_, count)| *count == 0), "{case}: {held} bytes held, {:?}", refused());
        assert!(held < limits.process_memory_soft_bytes() * 2 / 3, "{case}: {held} bytes are held");
        assert!(held > limits.process_memory_bytes / 4, "{case}: {held} bytes are held");
        let bystander = site.client(is_http2, Limits::client());
        let head = within(bystander.head(&site.url).send()).await.unwrap();
        assert_eq!((head.status(), &refused()[0].1), (Status::OK, &0), "{case}");

        // The first one began while there was room, the last one while there was little.
        let mut others = unread.into_iter().map(Result::unwrap);
        for late in [others.next(), others.next_back()].into_iter().flatten() {
            let Unread::Response(response) = late else { continue };
            let count = AtomicUsize::new(0);
            within(read(*response, &count)).await.unwrap();
            assert_eq!(count.load(Ordering::Relaxed), BYTES, "{case}");
        }
    }
}

/// One who reads gets a large answer whole while memory is in use, and as many others beside it as before.
#[tokio::test]
async fn answers_that_are_read_are_whole_while_memory_is_in_use() {
    const BYTES: usize = 8 * MIB;
    const STREAMS: usize = 5;
    for (is_http2, with_tls) in [(false, false), (true, false), (true, true)] {
        let content = Arc::new(vec![7; BYTES]);
        let limits = Limits::default();
        let site =
            serve(Server::builder(), with_tls, move |exchange| answer(exchange, content.clone())).await;
        let _used = site.ledger.reserve(limits.process_memory_bytes / 4).expect("there is room");
        let (client, before) = (site.client(is_http2, wide()), site.ledger.memory_held());
        let counts: Arc<[AtomicUsize; STREAMS]> = Arc::default();
        let calls = async {
            let mut calls = tokio::task::JoinSet::new();
            for at in 0..STREAMS {
                let (client, url, counts) = (client.clone(), site.url.clone(), counts.clone());
                calls.spawn(async move { read(client.get(&url).send().await?, &counts[at]).await });
            }
            calls.join_all().await
        };
        let (outcomes, most) = within(most_held(&site.ledger, calls)).await;
        assert!(outcomes.iter().all(Result::is_ok), "HTTP/2 {is_http2}: {outcomes:?}");
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == BYTES), "{counts:?}");
        let most = most - before;
        println!("HTTP/2 {is_http2}, TLS {with_tls}: {most} held");
        assert!(most < 512 * 1024, "HTTP/2 {is_http2}, TLS {with_tls}: {most} bytes held");
    }
}
