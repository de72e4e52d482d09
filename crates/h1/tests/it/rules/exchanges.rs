//! How a server's exchanges follow each other and end (RFC 9112 §9): keep-alive, pipelining, expectations, early answers
//! and tunnels.

use super::heads::server;
use super::limits::small_server;
use super::table::Step::{Cut, Eof, In, Interim, Invite, Open, Say, Wait};
use super::table::{Row, Rows, Step, given, one, row};
use crate::support::{Answers, End};

pub(crate) fn answering_server() -> End {
    server().answering(Answers::Whole)
}

fn early_server() -> End {
    small_server().answering(Answers::Early)
}

pub(crate) fn tables() -> Vec<Rows> {
    vec![
        Rows { subject: "keep-alive", make: answering_server, rows: persistence() },
        Rows { subject: "pipelining", make: answering_server, rows: pipelining() },
        Rows { subject: "expectations", make: server, rows: expectations() },
        Rows { subject: "early answers", make: early_server, rows: early() },
        Rows { subject: "tunnels", make: server, rows: tunnels() },
    ]
}

pub(crate) fn text(bytes: &str) -> Step {
    In(bytes.as_bytes().to_vec())
}

pub(crate) const LENGTH: &str = "HTTP/1.1 200 OK|Content-Length: 1|";
pub(crate) const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
const EXPECT: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
const EXPECT_LOG: &str = "POST http a / content-length=5 expect=100-continue";

fn persistence() -> Vec<Row> {
    let get =
        |version: &str, lines: &str| vec![text(&format!("GET / HTTP/{version}\r\nHost: a\r\n{lines}\r\n"))];
    let says = |version, value: &str, stays: bool| {
        let lines = if value.is_empty() { String::new() } else { format!("Connection: {value}\r\n") };
        let told = match (stays, version) {
            (true, "1.0") => format!("{LENGTH}Connection: keep-alive||/"),
            (true, _) => format!("{LENGTH}|/"),
            (false, _) => format!("{LENGTH}Connection: close||/"),
        };
        let shown = if value.is_empty() { String::new() } else { format!(" connection={value}") };
        let log = format!("GET http a /{shown} end; {}", if stays { "idle" } else { "last" });
        row(&format!("{version}, connection: {value}"), "9112 §9.3", get(version, &lines), &told, &log)
    };
    vec![
        says("1.1", "", true),
        says("1.1", "close", false),
        says("1.1", "Close", false),
        says("1.1", "x, close", false),
        says("1.1", ",close,", false),
        says("1.1", "closed", true),
        says("1.1", "keep-alive", true),
        says("1.1", "close, keep-alive", false),
        says("1.0", "", false),
        says("1.0", "keep-alive", true),
        says("1.0", "Keep-Alive", true),
        says("1.0", "x, keep-alive", true),
        says("1.0", "keep-alive, close", false),
        says("1.2", "", true),
        given("two fields count both", "9112 §9.3", get("1.1", "Connection: x\r\nConnection: close\r\n"))
            .then(
                &format!("{LENGTH}Connection: close||/"),
                "GET http a / connection=x connection=close end; last",
            ),
        given(
            "what follows close is left",
            "9112 §9.6",
            vec![text("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\n")],
        )
        .then(&format!("{LENGTH}Connection: close||/"), "GET http a / connection=close end; last"),
    ]
}

fn pipelining() -> Vec<Row> {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    let all = get("/1") + POST + "hello\r\n" + &get("/3") + &get("/4");
    let told = "HTTP/1.1 200 OK|Content-Length: 2||/1HTTP/1.1 200 OK|Content-Length: 1||/HTTP/1.1 200 OK|Content-Length: 2||/3HTTP/1.1 200 OK|Content-Length: 2||/4";
    let log = "GET http a /1 end; idle; POST http a / content-length=5; data hello end; idle; GET http a /3 end; idle; GET http a /4 end; idle";
    let bad = get("/1") + "GET /2\r\n\r\n";
    let head = "HEAD /1 HTTP/1.1\r\nHost: a\r\n\r\n".to_string() + &get("/2");
    vec![
        row("four requests, one with a line after its content", "9112 §9.3.2", vec![text(&all)], told, log),
        given("a bad one after a good one", "9112 §3", vec![text(&bad)]).then(
            "HTTP/1.1 200 OK|Content-Length: 2||/1!400",
            "GET http a /1 end; idle; closed REQUEST_LINE",
        ),
        given("an answer to HEAD has no content", "9110 §9.3.2", vec![text(&head)]).then(
            "HTTP/1.1 200 OK|Content-Length: 2||HTTP/1.1 200 OK|Content-Length: 2||/2",
            "HEAD http a /1 end; idle; GET http a /2 end; idle",
        ),
    ]
}

fn expectations() -> Vec<Row> {
    let data = "data hello end; idle";
    vec![
        given(
            "invited",
            "9110 §10.1.1",
            vec![text(EXPECT), Invite, Invite, text("hello"), Open(204, &[], true)],
        )
        .then("HTTP/1.1 100 Continue||HTTP/1.1 204 No Content||", &format!("{EXPECT_LOG}; {data}")),
        given(
            "invited by the handler",
            "9110 §10.1.1",
            vec![text(EXPECT), Interim(100), Invite, text("hello"), Open(204, &[], true)],
        )
        .then("HTTP/1.1 100 Continue||HTTP/1.1 204 No Content||", &format!("{EXPECT_LOG}; {data}")),
        given(
            "told something else first",
            "9110 §15.2",
            vec![text(EXPECT), Interim(103), Invite, text("hello"), Open(204, &[], true)],
        )
        .then(
            "HTTP/1.1 103 Early Hints||HTTP/1.1 100 Continue||HTTP/1.1 204 No Content||",
            &format!("{EXPECT_LOG}; {data}"),
        ),
        given(
            "refused: what follows cannot be told",
            "9110 §10.1.1",
            vec![text(EXPECT), Open(417, &[], true), text("hello")],
        )
        .then("!417", &format!("{EXPECT_LOG}; last")),
        given(
            "sent without waiting",
            "9110 §10.1.1",
            vec![text(&format!("{EXPECT}hello")), Invite, Open(204, &[], true)],
        )
        .then("HTTP/1.1 204 No Content||", &format!("{EXPECT_LOG}; {data}")),
        given(
            "begun without waiting",
            "9110 §10.1.1",
            vec![text(&format!("{EXPECT}he")), Invite, text("llo"), Open(204, &[], true)],
        )
        .then("HTTP/1.1 204 No Content||", &format!("{EXPECT_LOG}; {data}")),
        given(
            "without content",
            "9110 §10.1.1",
            vec![
                text("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"),
                Invite,
                Open(204, &[], true),
            ],
        )
        .then("HTTP/1.1 204 No Content||", "GET http a / expect=100-continue end; idle"),
        given(
            "of HTTP/1.0",
            "9110 §10.1.1",
            vec![
                text("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"),
                Invite,
                text("x"),
                Open(204, &[], true),
            ],
        )
        .then(
            "HTTP/1.1 204 No Content|Connection: close||",
            "POST http / content-length=1 expect=100-continue; data x end; last",
        ),
        given(
            "of something else",
            "9110 §10.1.1",
            vec![
                text("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: x\r\n\r\n"),
                Invite,
                text("x"),
                Open(204, &[], true),
            ],
        )
        .then("HTTP/1.1 204 No Content||", "POST http a / content-length=1 expect=x; data x end; idle"),
        given(
            "an interim response of HTTP/1.0",
            "9110 §15.2",
            vec![text("GET / HTTP/1.0\r\n\r\n"), Interim(103), Open(204, &[], true)],
        )
        .then("HTTP/1.1 204 No Content|Connection: close||", "GET http / end; last"),
        given(
            "switching is not for handlers",
            "9110 §15.2.2",
            vec![text("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Interim(101)],
        )
        .then("?Status", "GET http a / end"),
    ]
}

fn early() -> Vec<Row> {
    let post = |length: usize, content: &str, next: &str| {
        vec![text(&format!(
            "POST /{length} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{content}{next}"
        ))]
    };
    let chunked = |content: &str| {
        vec![text(&format!("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{content}"))]
    };
    let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let told = "HTTP/1.1 200 OK|Content-Length: 3||/20HTTP/1.1 200 OK|Content-Length: 1||/";
    let told_chunked = "HTTP/1.1 200 OK|Content-Length: 2||/c";
    let both = format!("{told_chunked}{LENGTH}|/");
    let head = "POST http a /c transfer-encoding=chunked";
    let next_log = "GET http a / end; idle";
    let log = |rest: &str| format!("{head}; {rest}");
    vec![
        given("content that is short is read and dropped", "9112 §9.3", post(20, &"x".repeat(20), next))
            .then(told, &format!("POST http a /20 content-length=20; idle; {next_log}")),
        given("content that is long ends the connection", "9112 §9.3", post(21, &"x".repeat(21), next))
            .then("HTTP/1.1 200 OK|Content-Length: 3||/21", "POST http a /21 content-length=21; last"),
        given(
            "chunks that are short are read and dropped",
            "9112 §9.3",
            chunked(&format!("1\r\nx\r\n0\r\n\r\n{next}")),
        )
        .then(&both, &log(&format!("idle; {next_log}"))),
        given("trailers are dropped as well", "9112 §9.3", chunked(&format!("0\r\nX: y\r\n\r\n{next}")))
            .then(&both, &log(&format!("idle; {next_log}"))),
        given("as much as we drain", "9112 §9.3", chunked(&format!("b\r\n01234567890\r\n0\r\n\r\n{next}")))
            .then(&both, &log(&format!("idle; {next_log}"))),
        given("one byte more", "9112 §9.3", chunked(&format!("d\r\n0123456789012\r\n0\r\n\r\n{next}")))
            .then(told_chunked, &log("closed GivenUp")),
        given("a chunk that is long", "9112 §9.3", chunked(&format!("64\r\n{}", "x".repeat(100))))
            .then(told_chunked, &log("closed GivenUp")),
        given("many chunks that are tiny", "9112 §9.3", chunked(&"1\r\nx\r\n".repeat(10)))
            .then(told_chunked, &log("closed GivenUp")),
        given("a line that does not end", "9112 §9.3", chunked(&format!("0\r\nX: {}", "x".repeat(100))))
            .then(told_chunked, &log("closed GivenUp")),
        given("a chunk that is none", "9112 §7.1", chunked("x\r\n"))
            .then(told_chunked, &log("closed CHUNK_SIZE_INVALID")),
        given(
            "a client that sends no more of it",
            "9112 §9.5",
            [chunked("1\r\n"), vec![Wait(59_999), text("x\r\n"), Wait(1)]].concat(),
        )
        .then(told_chunked, &log("closed TimedOut(Request)")),
        given("a client that goes meanwhile", "9112 §8", [chunked("1\r\n"), vec![Eof]].concat())
            .then(told_chunked, &log("closed CUT_CONTENT")),
    ]
}

fn tunnels() -> Vec<Row> {
    let connect = "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n";
    let log = "CONNECT a:443";
    let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let open = || Open(200, &[], false);
    vec![
        given(
            "bytes at once wait for the answer",
            "9110 §9.3.6",
            vec![text(&format!("{connect}GET / HTTP/1.1\r\n\r\n")), open()],
        )
        .then("HTTP/1.1 200 OK||", &format!("{log}; data GET / HTTP/1.1\r\n\r\n")),
        given(
            "bytes both ways, until each side ends",
            "9110 §9.3.6",
            vec![text(connect), open(), text("ping"), Say("pong", false), Eof, Say("", true)],
        )
        .then("HTTP/1.1 200 OK||pong", &format!("{log}; data ping end; last")),
        given(
            "a client that ended before the tunnel was open",
            "9110 §9.3.6",
            vec![text(&format!("{connect}ping")), Eof, open(), Say("pong", true)],
        )
        .then("HTTP/1.1 200 OK||pong", &format!("{log}; data ping end; last")),
        given(
            "a client that is cut off within its tunnel",
            "9112 §9.8",
            vec![text(connect), open(), text("ping"), Cut],
        )
        .then("HTTP/1.1 200 OK||", &format!("{log}; data ping; closed TRUNCATED")),
        given(
            "a client that was cut off before the tunnel was open",
            "9112 §9.8",
            vec![text(&format!("{connect}ping")), Cut, open()],
        )
        .then("HTTP/1.1 200 OK||", &format!("{log}; data ping; closed TRUNCATED")),
        given(
            "refused, and bytes that were meant for it are no request",
            "9110 §9.3.6",
            vec![text(&format!("{connect}{next}")), Open(407, &[], true)],
        )
        .then("!407", &format!("{log}; last")),
        given(
            "an answer to CONNECT states no length",
            "9110 §9.3.6",
            vec![text(connect), Open(200, &[("content-length", "0")], false), open(), Say("", true)],
        )
        .then("?ContentLengthHTTP/1.1 200 OK||", log),
        given(
            "content of CONNECT",
            "9110 §9.3.6",
            one(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 5\r\n\r\nhello"),
        )
        .breaks("CONTENT_OF_CONNECT"),
        given(
            "chunks of CONNECT",
            "9110 §9.3.6",
            one(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        )
        .breaks("CONTENT_OF_CONNECT"),
        given(
            "a length of zero for CONNECT",
            "9110 §9.3.6",
            vec![text("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 0\r\n\r\nping"), open()],
        )
        .then("HTTP/1.1 200 OK||", "CONNECT a:443 content-length=0; data ping"),
        given(
            "an upgrade that nobody takes",
            "9110 §7.8",
            vec![
                text("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
                Open(204, &[], true),
            ],
        )
        .then("HTTP/1.1 204 No Content||", "GET http a / connection=Upgrade upgrade=h2c end; idle"),
    ]
}
