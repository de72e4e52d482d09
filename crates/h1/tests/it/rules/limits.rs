//! What a peer may make us hold: each limit is reached, and then passed.

use std::time::Duration;

use alula_h1::{Config, Connection};
use alula_machine::Limits;

use super::table::Step::{Ask, In, Wait};
use super::table::{Row, Rows, bad, given, one, row};
use crate::support::{Answers, End};

/// Limits that some lines reach.
pub(crate) fn small() -> Limits {
    Limits {
        head_bytes: 200,
        target_bytes: 20,
        fields: 4,
        cookie_crumbs: 2,
        chunk_extension_bytes: 10,
        interim_responses: 2,
        drain_bytes: 20,
        handshake_timeout: Duration::from_secs(10),
        head_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(60),
        ..Limits::default()
    }
}

pub(crate) fn small_server() -> End {
    End::new(Connection::server(Config { limits: small(), ..Config::default() }), Answers::Never)
}

fn answering_server() -> End {
    small_server().answering(Answers::Whole)
}

/// A server whose heads are shorter than a request line may be.
fn tiny_server() -> End {
    let limits = Limits { head_bytes: 40, ..Limits::default() };
    End::new(Connection::server(Config { limits, ..Config::default() }), Answers::Never)
}

fn small_client() -> End {
    End::new(Connection::client(Config { limits: small(), ..Config::default() }), Answers::Never)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "limits of heads", make: small_server, rows: heads() },
        Rows { subject: "a limit below the request line", make: tiny_server, rows: tiny() },
        Rows { subject: "limits of chunks", make: small_server, rows: chunks() },
        Rows { subject: "limits of a client", make: small_client, rows: client() },
        Rows { subject: "limits of time", make: answering_server, rows: times() },
    ]
}

/// A head of exactly so many bytes.
fn head_of(bytes: usize) -> Vec<u8> {
    let head =
        |pad: usize| format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(pad)).into_bytes();
    head(bytes - head(0).len())
}

fn heads() -> Vec<Row> {
    let host = "Host: a\r\n";
    let get = |target: &str, lines: &str| format!("GET {target} HTTP/1.1\r\n{host}{lines}\r\n").into_bytes();
    let path = |len: usize| format!("/{}", "p".repeat(len - 1));
    let long = "x".repeat(168);
    let fields = |names: &str| names.chars().map(|name| format!("{name}: 1\r\n")).collect::<String>();
    let crumbs = |count: usize| "Cookie: a=b\r\n".repeat(count);
    let at_limit = format!("GET http a /{} end", " x=".to_string() + &long);
    vec![
        row("a head as long as we take", "9110 §5.4", one(head_of(200)), "", &at_limit),
        given(
            "an empty line before it is not counted",
            "9112 §2.2",
            one([b"\r\n", &head_of(200)[..]].concat()),
        )
        .then("", &at_limit),
        bad("a head longer by one", "9110 §5.4", &head_of(201), "HEAD_LONG"),
        bad("a head that does not end", "9110 §5.4", &head_of(300)[..210], "HEAD_LONG"),
        given(
            "a long head, and NUL where it is too late",
            "9110 §5.4",
            one([&head_of(300)[..210], b"\0\r\n"].concat()),
        )
        .breaks("HEAD_LONG"),
        given(
            "a long name that is none, where it is too late",
            "9110 §5.4",
            one([&get("/", "")[..25], &[b'x'; 190], b"(: \r\n"].concat()),
        )
        .breaks("HEAD_LONG"),
        given("a target as long as we take", "9112 §3", one(get(&path(20), "")))
            .then("", &format!("GET http a {} end", path(20))),
        bad("a target longer by one", "9112 §3", &get(&path(21), ""), "TARGET_LONG"),
        bad("a target that does not end", "9112 §3", &[b"GET /", &[b'p'; 90][..]].concat(), "TARGET_LONG"),
        given(
            "a long target, and a version that is none where it is too late",
            "9112 §3",
            one(get(&path(90), "").map_version()),
        )
        .breaks("TARGET_LONG"),
        given(
            "a method as long as all of the line",
            "9112 §3",
            one([&[b'M'; 90][..], b" / HTTP/1.1\r\n"].concat()),
        )
        .breaks("TARGET_LONG"),
        given("as many fields as we take", "9110 §5.4", one(get("/", &fields("bcd"))))
            .then("", "GET http a / b=1 c=1 d=1 end"),
        bad("one field more", "9110 §5.4", &get("/", &fields("bcde")), "FIELDS_MANY"),
        given("crumbs beside them", "9110 §5.4", one(get("/", &(fields("bcd") + &crumbs(2)))))
            .then("", "GET http a / b=1 c=1 d=1 cookie=a=b cookie=a=b end"),
        given("crumbs count as fields then", "9110 §5.4", one(get("/", &crumbs(5))))
            .then("", "GET http a / cookie=a=b cookie=a=b cookie=a=b cookie=a=b cookie=a=b end"),
        bad("one crumb more", "9110 §5.4", &get("/", &crumbs(6)), "FIELDS_MANY"),
    ]
}

trait MapVersion {
    fn map_version(self) -> Vec<u8>;
}

impl MapVersion for Vec<u8> {
    /// The same head in a version that we do not know.
    fn map_version(self) -> Vec<u8> {
        String::from_utf8(self).expect("text").replace("HTTP/1.1", "HTTP/9.9").into_bytes()
    }
}

fn tiny() -> Vec<Row> {
    vec![
        bad("a line that does not end", "9110 §5.4", &[b"GET /", &[b'p'; 90][..]].concat(), "HEAD_LONG"),
        given(
            "a line longer than the head",
            "9110 §5.4",
            one([b"GET /", &[b'p'; 90][..], b" HTTP/9.9\r\n"].concat()),
        )
        .breaks("HEAD_LONG"),
    ]
}

fn chunks() -> Vec<Row> {
    let post =
        |content: &str| format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{content}");
    let log = |rest: &str| format!("POST http a / transfer-encoding=chunked; {rest}");
    vec![
        given("extensions as long as we take", "9112 §7.1.1", one(post("1;1234\r\na\r\n0;1234\r\n\r\n")))
            .then("", &log("data a end")),
        given("longer by one", "9112 §7.1.1", one(post("1;1234\r\na\r\n0;12345\r\n\r\n")))
            .then("!400", &log("data a; closed CHUNK_EXTENSIONS_LONG")),
        given("an extension that does not end", "9112 §7.1.1", one(post("1;1234567890")))
            .then("!400", &log("closed CHUNK_EXTENSIONS_LONG")),
        given("a long one, and NUL where it is too late", "9112 §7.1.1", one(post("1;123456789012\0")))
            .then("!400", &log("closed CHUNK_EXTENSIONS_LONG")),
        given(
            "as many trailers as we take",
            "9110 §5.4",
            one(post("0\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n")),
        )
        .then("", &log("trailers a=1 b=1 c=1 d=1")),
        given(
            "one trailer more",
            "9110 §5.4",
            one(post("0\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n")),
        )
        .then("!431", &log("closed FIELDS_MANY")),
        given(
            "forbidden trailers are counted",
            "9110 §5.4",
            one(post(&format!("0\r\n{}\r\n", "Host: a\r\n".repeat(5)))),
        )
        .then("!431", &log("closed FIELDS_MANY")),
        given("long trailers", "9110 §5.4", one(post(&format!("0\r\nA: {}\r\n\r\n", "x".repeat(200)))))
            .then("!431", &log("closed HEAD_LONG")),
    ]
}

fn client() -> Vec<Row> {
    let asked = "GET / HTTP/1.1|Host: a.example||";
    let ask = |bytes: String| vec![Ask("GET", &[], true), In(bytes.into_bytes())];
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: b\r\n\r\n";
    let last = "HTTP/1.1 204 x\r\n\r\n";
    let heads = "interim 103 link=b; interim 103 link=b";
    vec![
        given("as many interim responses as we take", "9110 §15.2", ask(interim.repeat(2) + last))
            .then(asked, &format!("{heads}; 204 end; idle")),
        given("one more", "9110 §15.2", ask(interim.repeat(3) + last))
            .then(asked, &format!("{heads}; closed INTERIM_MANY")),
        given("a long head", "9110 §5.4", ask(format!("HTTP/1.1 200 {}\r\n", "x".repeat(200))))
            .then(asked, "closed HEAD_LONG"),
        given("many fields", "9110 §5.4", ask(format!("HTTP/1.1 200 x\r\n{}", "A: b\r\n".repeat(5))))
            .then(asked, "closed FIELDS_MANY"),
    ]
}

fn times() -> Vec<Row> {
    let get = || In(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec());
    let (begun, rest) = (|| In(b"GET / HT".to_vec()), || In(b"TP/1.1\r\nHost: a\r\n\r\n".to_vec()));
    let told = "HTTP/1.1 200 OK|Content-Length: 1||/";
    let log = "GET http a / end; idle";
    let twice = (&*format!("{told}{told}"), &*format!("{log}; {log}"));
    vec![
        row("a first request in time", "9112 §9.5", vec![Wait(9_999), get()], told, log),
        row("no first request", "9112 §9.5", vec![Wait(10_000)], "", "closed TimedOut(Request)"),
        given(
            "a first head that takes its time",
            "9112 §9.5",
            vec![Wait(7_000), begun(), Wait(2_999), rest()],
        )
        .then(told, log),
        given("a first head that is too slow", "9112 §9.5", vec![begun(), Wait(5_000), rest()])
            .then("!408", "closed TimedOut(Head)"),
        given("a first head that begins late", "9112 §9.5", vec![Wait(7_000), begun(), Wait(3_000)])
            .then("!408", "closed TimedOut(Head)"),
        row("a next request in time", "9112 §9.5", vec![get(), Wait(59_999), get()], twice.0, twice.1),
        given("no next request", "9112 §9.5", vec![get(), Wait(60_000)])
            .then(told, &format!("{log}; closed TimedOut(Request)")),
        given(
            "a next head that begins late has its time",
            "9112 §9.5",
            vec![get(), Wait(59_000), begun(), Wait(4_999), rest()],
        )
        .then(twice.0, twice.1),
        given("a next head that is too slow", "9112 §9.5", vec![get(), begun(), Wait(5_000)])
            .then(&format!("{told}!408"), &format!("{log}; closed TimedOut(Head)")),
        given(
            "an empty line is no head",
            "9112 §2.2",
            vec![get(), In(b"\r\n".to_vec()), Wait(50_000), get()],
        )
        .then(twice.0, twice.1),
        given(
            "content may take its time",
            "9112 §9.5",
            vec![
                In(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n".to_vec()),
                Wait(600_000),
                In(b"x".to_vec()),
            ],
        )
        .then(told, "POST http a / content-length=1; data x end; idle"),
        given(
            "trailers may not",
            "9112 §9.5",
            vec![
                In(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX".to_vec()),
                Wait(5_000),
            ],
        )
        .then("!408", "POST http a / transfer-encoding=chunked; closed TimedOut(Head)"),
    ]
}

/// Steps that a handler takes slowly are nobody's fault.
#[test]
fn an_answer_may_take_its_time() {
    let mut end = small_server();
    end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(end.machine.poll_timeout(), None);
    end.wait(600_000_000_000);
    assert!(end.machine.error().is_none());
}
