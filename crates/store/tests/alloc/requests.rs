//! The memory that one small request can have a store take: index entries whose rows repeat long names,
//! patterns, and walks along links.
//!
//! All bytes that are allocated for a request and its answer are added up, given back or not, so that the sum
//! is never below the peak.

use std::fmt::Write as _;
use std::time::Duration;

use alula::testing::{TestServer, Wire};
use alula::{Client, Limits, Response, Server};
use alula_store::engine::{Engine, Fjall, FjallOptions, Memory};
use alula_store::{Config, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const SITE: &str = "http://store.example";

/// The most bytes that may be allocated for each byte of a request, and beside them.
const FACTOR: u64 = 8;
const BESIDE: u64 = 4 * 1024 * 1024;

/// A client for each version, of one store.
async fn clients(engine: impl Engine) -> [Client; 2] {
    let store = Store::open(engine, Config::default()).await.expect("a store");
    let server = || {
        let settings = Server::builder().limits(alula_store::limits());
        TestServer::with(settings, store.routes().expect("routes"))
    };
    [server().client(), server().http2().client()]
}

/// Runs tests on a thread.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(test);
}

/// An answer, and the bytes that were allocated for it.
struct Costed {
    status: u16,
    text: String,
    allocated: u64,
}

async fn costed(answer: impl Future<Output = Result<Response, alula::Error>>) -> Costed {
    let before = alula_tally::process().bytes;
    let mut answer = answer.await.expect("an answer");
    let text = answer.text().await.expect("a text");
    Costed { status: answer.status().as_u16(), text, allocated: alula_tally::process().bytes - before }
}

async fn put(client: &Client, path: &str, fields: &[(&str, &str)]) -> Costed {
    let mut put = client.put(format!("{SITE}{path}")).header("content-type", "text/plain");
    for (name, value) in fields {
        put = put.header(*name, *value);
    }
    costed(put.body("v").send()).await
}

#[track_caller]
fn check_refused(name: &str, request: usize, answer: &Costed, text: &str) {
    let Costed { status, text: told, allocated } = answer;
    println!("{name}: {request} bytes, {status}, {allocated} bytes allocated, {told:?}");
    assert_eq!(*status, 400, "{name}");
    assert!(told.contains(text) && told.len() < 1024, "{name}: {told}");
    assert!(*allocated <= FACTOR * request as u64 + BESIDE, "{name}: {allocated} bytes for {request}");
}

/// Different terms in one field.
fn terms(count: usize) -> String {
    (0..count).map(|number| format!("{number:x}")).collect::<Vec<_>>().join(", ")
}

async fn rows_of_long_names(engine: impl Engine) {
    const BOUND: &str = "262144";
    for client in clients(engine).await {
        let (key, index) = (["k"; 30_000].concat(), format!("x-riak-index-{}_bin", ["i"; 20_000].concat()));
        let (many, few) = (terms(3_000), terms(2_000));
        let numbers = (0..1_000).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
        for (name, path, field, value) in [
            ("a long key", format!("/buckets/b/keys/{key}"), "x-riak-index-a_bin", &many),
            ("a long key, numbers", format!("/buckets/b/keys/{key}"), "x-riak-index-a_int", &numbers),
            ("a long bucket", format!("/buckets/{key}/keys/k"), "x-riak-index-a_bin", &many),
            ("a long index", "/buckets/b/keys/k".to_owned(), &index[..], &few),
        ] {
            let answer = put(&client, &path, &[(field, value)]).await;
            let request = path.len() + field.len() + value.len();
            check_refused(name, request, &answer, BOUND);
        }
    }
}

pub(crate) fn rows_of_long_names_are_bounded_before_they_are_built() {
    run(rows_of_long_names(Memory::new()));
    let folder = tempfile::tempdir().expect("a folder");
    run(rows_of_long_names(Fjall::open(folder.path(), FjallOptions::default()).expect("a new folder")));
}

pub(crate) fn a_repeated_term_of_a_long_index_costs_what_it_takes() {
    run(async {
        for client in clients(Memory::new()).await {
            let mut value = terms(40);
            for _ in 0..4_000 {
                value.push_str(", 1");
            }
            let index = format!("x-riak-index-{}_bin", ["i"; 6_000].concat());
            let answer = put(&client, "/buckets/b/keys/k", &[(&index, &value)]).await;
            println!("{} {}", answer.status, answer.allocated);
            assert_eq!(answer.status, 204, "{}", answer.text);
            let bytes = (41 * 6_000 + value.len()) as u64;
            assert!(answer.allocated <= FACTOR * bytes + BESIDE, "{}", answer.allocated);
        }
    });
}

pub(crate) fn errors_repeat_no_long_field() {
    run(async {
        let long = ["xy"; 50_000].concat();
        for client in clients(Memory::new()).await {
            let index = format!("x-riak-index-{}", ["i"; 40_000].concat());
            for fields in [
                &[(&index[..], "1")][..],
                &[("x-riak-index-a_int", &long[..])],
                &[("content-type", &long[..])],
            ] {
                let mut put = client.put(format!("{SITE}/buckets/b/keys/k"));
                for (name, value) in fields {
                    put = put.header(*name, *value);
                }
                let answer = costed(put.body("v").send()).await;
                assert!(matches!(answer.status, 400 | 415), "{}", answer.status);
                assert!(answer.text.len() < 512, "{} bytes", answer.text.len());
            }
            let mut paths = vec![];
            for path in [
                "/buckets/b/index/{}/1",
                "/buckets/b/index/a_int/{}",
                "/buckets/b/keys/k?r={}",
                "/types/{}/buckets/b/keys/k",
            ] {
                paths.push(path.replace("{}", &long));
            }
            paths.push(format!("/buckets/b/index/a_bin/1?max_results={long}"));
            for path in paths {
                let mut text = String::new();
                let _ = write!(text, "{SITE}{path}");
                let answer = costed(client.get(text).send()).await;
                assert!(matches!(answer.status, 400 | 404), "{}", answer.status);
                assert!(answer.text.len() < 512, "{} bytes of {}", answer.text.len(), &path[..40]);
            }
        }
    });
}

/// Percent-encodes all of a text.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "%{byte:02x}");
        out
    })
}

/// Patterns of so many bytes at most, each of which takes much to parse, to compile or to search for.
fn hard_patterns(len: usize) -> Vec<String> {
    let whole = |start: &str, unit: &str, end: &str| {
        let count = (len - start.len() - end.len()) / unit.len();
        // What is left is filled up, so that a pattern has all of its bytes.
        let whole = format!("{start}{}{end}", unit.repeat(count));
        format!("{whole}{}", "a".repeat(len - whole.len()))
    };
    vec![
        whole("", "a", ""),
        whole("(?u)", "\\w", ""),
        whole("(?iu)", "\\w", ""),
        whole("(?iu)[", "\\w", "]"),
        whole("(?iu)", "[^\u{fc}]", ""),
        whole("(?u)", "\\PL", ""),
        whole("(?iu)", "\\pL", ""),
        whole(&format!("(?iu){}", "\\pL".repeat(32)), "a", ""),
        whole(&format!("(?iu){}", "\\w".repeat(256)), "a", ""),
        whole("", "(", &")".repeat(len / 3)),
        whole("", "a|", ""),
        whole("", "a{9}", ""),
        whole("", "(?:)", "{1000}{1000}"),
        whole("(", "(?:a|b)*", "){9}"),
        whole("(a|b)*a", "[ab]", ""),
        whole("", "[a&&", &"]".repeat(len / 6)),
        whole("(?x)", " ", "a"),
    ]
}

pub(crate) fn patterns_are_bounded_before_they_are_parsed() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for client in runtime.block_on(clients(Memory::new())) {
        let term = "ab".repeat(2_000);
        let stored = runtime.block_on(put(&client, "/buckets/b/keys/k", &[("x-riak-index-a_bin", &term)]));
        assert_eq!(stored.status, 204);
        for len in [1_024, 1_025, 100_000] {
            for pattern in hard_patterns(len) {
                let url = format!("{SITE}/buckets/b/index/a_bin/a/b?term_regex={}", encoded(&pattern));
                let (answer, peak) = alula_tally::peak(|| runtime.block_on(costed(client.get(&url).send())));
                let shown: String = pattern.chars().take(20).collect();
                println!("{shown} {}: {}, {peak} bytes, {:?}", pattern.len(), answer.status, answer.text);
                assert!(answer.text.len() < 4 * 1024, "{shown}: {}", answer.text);
                assert!(
                    peak <= FACTOR * url.len() as u64 + BESIDE,
                    "{shown}: {peak} bytes for {}",
                    url.len()
                );
                if pattern.len() > 1_024 {
                    let told = format!(
                        "Invalid \"term_regex\". It has {} bytes, and 1024 are allowed\n",
                        pattern.len()
                    );
                    assert_eq!((answer.status, answer.text), (400, told), "{shown}");
                }
            }
        }
    }
}

/// The bytes of the fields of metadata of a head.
const LARGE: usize = 60_000;

async fn send_and_read(socket: &mut TcpStream, bytes: &[u8], status: &str) {
    socket.write_all(bytes).await.expect("it takes all");
    let mut told = Vec::new();
    while !told.ends_with(b"\r\n\r\n") {
        assert!(socket.read_buf(&mut told).await.expect("an answer") > 0, "it is whole");
    }
    let told = String::from_utf8_lossy(&told);
    assert!(told.starts_with(status), "{told}");
}

/// Returns the peak of the memory of writes of which the heads have come and the contents do not for long,
/// one on each of so many connections.
fn peak_of_late_contents(name: &str, writes: usize) -> u64 {
    let field = format!("{name}: {}\r\n", "A".repeat(LARGE / 4));
    let head = format!(
        "PUT /buckets/b/keys/k HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\
         expect: 100-continue\r\n{}\r\n",
        field.repeat(4)
    );
    let scene = async || {
        let store = Store::open(Memory::new(), Config::default()).await.expect("a store");
        let settings = Server::builder().limits(alula_store::limits());
        let server = settings.bind("127.0.0.1:0").await.expect("a port");
        let address = server.address().expect("an address");
        tokio::spawn(server.serve(store.routes().expect("routes")));
        let mut sockets = Vec::new();
        for _ in 0..writes {
            let mut socket = TcpStream::connect(address).await.expect("a connection");
            send_and_read(&mut socket, head.as_bytes(), "HTTP/1.1 100 ").await;
            sockets.push(socket);
        }
        for mut socket in sockets {
            send_and_read(&mut socket, b"text", "HTTP/1.1 204 ").await;
        }
    };
    alula_tally::peak(|| run(scene())).1
}

/// While a write waits for its content, its head is held, and nothing large that is made of it.
pub(crate) fn fields_are_held_once_while_the_content_is_not_there() {
    const WRITES: u64 = 64;
    for name in ["x-riak-meta-a", "if-none-match"] {
        let (one, all) = (peak_of_late_contents(name, 1), peak_of_late_contents(name, WRITES as usize));
        let each = (all - one) / (WRITES - 1);
        println!("{name}: {each} bytes for a head of {LARGE}");
        assert!(each < LARGE as u64 * 3 / 2, "{name}: {each} bytes for a head of {LARGE}");
    }
}

/// The bytes that are allocated and not given back.
fn live() -> u64 {
    let counts = alula_tally::process();
    counts.bytes - counts.bytes_freed
}

const READERS: usize = 100;

/// The bytes that are held while so many clients of their own read nothing of an answer.
async fn held_by_unread(path: &str, server: impl Fn() -> TestServer) -> u64 {
    let (before, url) = (live(), format!("{SITE}{path}"));
    let mut unread = tokio::task::JoinSet::new();
    for _ in 0..READERS {
        let wire = Wire::new().silent_after(100).capacity(1_000);
        let (client, url) = (server().to_client(wire).client(), url.clone());
        unread.spawn(async move { client.get(url).send().await?.bytes().await.map(|content| content.len()) });
    }
    // The clock stands still until nothing is left to be done.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let held = live() - before;
    unread.shutdown().await;
    held
}

/// Many who read nothing of a list hold no more than requests together may.
async fn unread_lists(is_http2: bool) {
    const ROOM: u64 = 4 * 1024 * 1024;
    /// The bytes that wait for a socket are on the account of their connection: as much, twice.
    const OUTPUT: u64 = 16 * 1024;
    let mut config = Config::default();
    (config.object_bytes_max, config.bytes_in_flight_max) = (1024 * 1024, ROOM);
    let store = Store::open(Memory::new(), config).await.expect("a store");
    let server = || {
        let limits = Limits { output_soft_bytes: OUTPUT as u32, ..alula_store::limits() };
        let server = TestServer::with(Server::builder().limits(limits), store.routes().expect("routes"));
        if is_http2 { server.http2() } else { server }
    };
    let other = server().client();
    for number in 0..500 {
        let path = format!("/buckets/b/keys/{number:0>700}");
        assert_eq!(put(&other, &path, &[("x-riak-index-a_bin", "term")]).await.status, 204);
    }
    let connections = held_by_unread("/buckets/b/keys/none", server).await;
    for path in [
        "/buckets/b/keys?keys=true",
        "/buckets/b/keys?keys=stream",
        "/buckets/b/index/a_bin/term",
        "/buckets/b/index/a_bin/a/z?return_terms=true&stream=true",
    ] {
        let held = held_by_unread(path, server).await;
        let (connections, lists) = (connections / 1024, held.saturating_sub(connections) / 1024);
        println!("{path}, HTTP/2 {is_http2}: {lists} KiB for lists beside {connections} KiB for connections");
        let charged = (ROOM + ROOM / 4 + READERS as u64 * 2 * OUTPUT) / 1024;
        assert!(lists <= charged, "{path}, HTTP/2 {is_http2}: {lists} KiB, and {charged} KiB are charged");
        let mut whole = other.get(format!("{SITE}{path}")).send().await.expect("an answer");
        assert_eq!(whole.status(), 200, "{path}");
        assert!(whole.text().await.expect("a text").len() > 500 * 700, "{path}");
    }
}

pub(crate) fn lists_that_are_not_read_share_the_room_of_requests() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        unread_lists(false).await;
        unread_lists(true).await;
    });
}
