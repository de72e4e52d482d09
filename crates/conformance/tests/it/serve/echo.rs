//! curl and nghttp against `alula echo`, in clear text and over TLS on the same port.

use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::{Echo, Reach, fetch};
use alula_conformance::certificates::Certificates;
use alula_conformance::folder::Folder;
use alula_conformance::frames::{self, kind};
use alula_conformance::peers::curl;
use alula_conformance::site::{assert_same, bytes};
use alula_conformance::{environment, outcome, tls, wire};
use serde_json::{Value, json};

#[test]
fn a_request_without_content_is_described() {
    with_peers(|echo, reach| {
        let fields = ["-H", "X-One: 1", "-H", "X-Two: \u{e9}\"\\", "-H", "x-one: again", "-A", "me"];
        let outcome = curl::fetch(&echo.url(reach, "a/b?c=d"), reach, &fields).expect_success();
        let mut described: Value = serde_json::from_str(&outcome.text()).expect("valid JSON");
        let peer = described["peer"].take();
        assert!(peer.as_str().is_some_and(|peer| peer.starts_with("127.0.0.1:")), "{peer}");
        let scheme = if matches!(reach, Reach::Clear) { "http" } else { "https" };
        let host = if matches!(reach, Reach::Clear) { "127.0.0.1" } else { "localhost" };
        let expected = json!({
            "version": "HTTP/2",
            "method": "GET",
            "target": "/a/b?c=d",
            "scheme": scheme,
            "authority": format!("{host}:{}", echo.port()),
            // The bytes of the UTF-8 that curl sends, as Latin-1.
            "fields": [
                ["user-agent", "me"],
                ["accept", "*/*"],
                ["x-one", "1"],
                ["x-two", "\u{c3}\u{a9}\"\\"],
                ["x-one", "again"],
            ],
            "peer": null,
        });
        assert_eq!(described, expected);
    });
}

#[test]
fn content_is_sent_back_with_its_type() {
    with_peers(|echo, reach| {
        let folder = Folder::new();
        let sent = bytes(3, 1024 * 1024);
        let data = format!("@{}", folder.write("body", &sent).display());
        let more = ["--data-binary", &data, "-H", "content-type: application/x-test", "-D", "-"];
        let outcome = curl::fetch(&echo.url(reach, ""), reach, &more).expect_success();
        let end = outcome.stdout.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
        let (head, body) = outcome.stdout.split_at(end);
        let head = String::from_utf8_lossy(head);
        assert!(head.starts_with("HTTP/2 200"), "{head}");
        assert!(head.contains("content-type: application/x-test\r\n"), "{head}");
        assert!(head.contains("content-length: 1048576\r\n"), "{head}");
        assert_same(body, &sent, "what was sent");
    });
}

#[test]
fn head_has_the_fields_of_get_and_no_content() {
    with_peers(|echo, reach| {
        let url = echo.url(reach, "");
        let get = curl::fetch(&url, reach, &["-o", "/dev/null", "-D", "-"]).expect_success().text();
        let head = curl::fetch(&url, reach, &["--head"]).expect_success().text();
        let names = |text: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.to_owned()).collect()
        };
        assert!(head.starts_with("HTTP/2 200"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert_eq!(names(&head), names(&get));
    });
}

#[test]
fn options_may_ask_about_the_server_as_a_whole() {
    with_peers(|echo, reach| {
        let more = ["--request", "OPTIONS", "--request-target", "*"];
        let outcome = curl::fetch(&echo.url(reach, ""), reach, &more).expect_success();
        let described: Value = serde_json::from_str(&outcome.text()).expect("valid JSON");
        assert_eq!((&described["method"], &described["target"]), (&json!("OPTIONS"), &json!("*")));
    });
}

#[test]
fn nghttp_fetches_a_hundred_at_once_on_one_connection() {
    with_peers(|echo, reach| {
        let mut nghttp = Command::new("nghttp");
        // The statistics have a line for each request; its fifth column is the status.
        nghttp.args(["--multiply=100", "--null-out", "--stat", "--no-verify-peer", "--timeout=20"]);
        let outcome = outcome::run(nghttp.arg(echo.url(reach, "")), Duration::from_secs(30)).expect_success();
        let answered =
            outcome.text().lines().filter(|line| line.split_whitespace().nth(4) == Some("200")).count();
        assert_eq!(answered, 100, "{outcome}");
    });
}

#[test]
fn a_tunnel_is_refused() {
    let certificates = Certificates::new();
    let echo = Echo::start(&certificates);
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        let connect = frames::headers(1, &frames::connect_block(), false);
        let mut wire = wire::connect(echo.port(), &reach).expect("it accepts");
        wire.write_all(&[frames::PREFACE, &frames::settings(&[]), &connect].concat()).expect("it reads");
        let head = wire::read_until(&mut *wire, |frame| frame.kind == kind::HEADERS);
        let head = head.expect("whole frames").expect("an answer");
        // A status that is not in the static table stands there as a literal, too short for Huffman's code.
        assert!(head.payload.windows(3).any(|bytes| bytes == b"405"), "{head:?}");
    }
}

#[test]
fn what_comes_with_the_end_of_the_handshake_is_read() {
    let echo = Echo::start(&Certificates::new());
    let request = frames::headers(1, &frames::request_block("GET"), true);
    let first = [frames::PREFACE, &frames::settings(&[]), &request].concat();
    let socket = TcpStream::connect(("127.0.0.1", echo.port())).expect("it accepts");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("it takes the option");
    let mut wire = tls::client_in_one_write(socket, &first).expect("a handshake");
    let head = wire::read_until(&mut wire, |frame| frame.kind == kind::HEADERS);
    assert!(head.is_ok_and(|head| head.is_some()), "the request that came early was not answered");
}

#[test]
fn a_bad_preface_ends_cleanly_and_in_http2() {
    let certificates = Certificates::new();
    let echo = Echo::start(&certificates);
    // What does not begin as HTTP/2 does is HTTP/1.1 in clear text; over TLS it was agreed on.
    let in_clear = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r"[..]];
    let over_tls = [in_clear[0], b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", &[b'x'; 4096]];
    for (reach, wrong) in [(Reach::Clear, &in_clear[..]), (Reach::Tls(&certificates), &over_tls)] {
        for preface in wrong {
            let mut wire = wire::connect(echo.port(), &reach).expect("it accepts");
            wire.write_all(preface).expect("it reads");
            // An answer in HTTP/1.1 would be a frame of megabytes that ends early, and a reset an error.
            let end = wire::read_until(&mut *wire, |frame| frame.kind == kind::HEADERS);
            assert!(
                matches!(end, Ok(None)),
                "{reach:?}: {:?} ends in {end:?}",
                preface.escape_ascii().to_string()
            );
        }
    }
}

#[test]
fn alula_describes_itself_without_any_peer() {
    let certificates = Certificates::new();
    let echo = Echo::start(&certificates);
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        let outcome = fetch("get", &echo.url(&reach, "self"), &reach, &["-H", "x-one: 1"]).expect_success();
        let described: Value = serde_json::from_str(&outcome.text()).expect("valid JSON");
        assert_eq!(described["target"], "/self");
        assert!(described["fields"].as_array().is_some_and(|fields| fields.contains(&json!(["x-one", "1"]))));
        let sent = fetch("post", &echo.url(&reach, ""), &reach, &["-d", "over and back"]).expect_success();
        assert_eq!(sent.text(), "over and back");
    }
}

fn with_peers(test: impl Fn(&Echo, &Reach<'_>)) {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let echo = Echo::start(&certificates);
    [Reach::Clear, Reach::Tls(&certificates)].iter().for_each(|reach| test(&echo, reach));
}
