//! How `alula get` ends: one exit code for each kind of end, and one sentence that names phase, rule and whether a retry is safe.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use alula_conformance::alula::{self, Reach, fetch};
use alula_conformance::certificates::Certificates;
use alula_conformance::folder::Folder;
use alula_conformance::frames::{self, flag, kind};
use alula_conformance::hostile::answers::{self, Point, read_preface, read_request};
use alula_conformance::hostile::{Ending, HostileServer};
use alula_conformance::outcome::Outcome;
use alula_conformance::peers::golang;
use alula_conformance::program::Program;
use alula_conformance::wire::{self, Wire, closes};
use alula_conformance::{environment, ports};

/// The exit codes, as `alula get --help` documents them.
mod exit {
    pub(crate) const WHOLE: i32 = 0;
    pub(crate) const LOCAL: i32 = 1;
    pub(crate) const USAGE: i32 = 2;
    pub(crate) const CONNECT: i32 = 3;
    pub(crate) const TLS: i32 = 4;
    pub(crate) const PROTOCOL: i32 = 5;
    pub(crate) const TIMEOUT: i32 = 6;
    pub(crate) const CUT_OFF: i32 = 7;
}

#[test]
fn the_help_documents_every_code() {
    let help = alula::run(["get", "--help"]).expect_success().text();
    let Some((_, table)) = help.split_once("Exit codes:\n") else { panic!("no exit codes in\n{help}") };
    // A row that is wrapped goes on below its text.
    let rows = table.lines().filter_map(|line| line.trim_start().split_once("  "));
    let documented: BTreeSet<i32> = rows.filter_map(|(code, _)| code.parse().ok()).collect();
    use exit::{CONNECT, CUT_OFF, LOCAL, PROTOCOL, TIMEOUT, TLS, USAGE, WHOLE};
    for code in [WHOLE, LOCAL, USAGE, CONNECT, TLS, PROTOCOL, TIMEOUT, CUT_OFF] {
        assert!(documented.contains(&code), "{code} is not in\n{table}");
    }
}

#[test]
fn a_request_that_cannot_be_sent_is_a_mistake_of_the_user() {
    for arguments in [
        &["get", "http://127.0.0.1:1/", "-d", "x"][..],
        &["get", "ftp://127.0.0.1/"],
        &["get", "not a url"],
        &["get", "https://127.0.0.1:1/", "-H", "x y: z"],
        &["get", "https://127.0.0.1:1/", "--max-time", "soon"],
        &["get"],
        &["fetch"],
    ] {
        let outcome = alula::run(arguments);
        assert_eq!(outcome.code, Some(exit::USAGE), "{outcome}");
        assert!(outcome.stdout.is_empty() && !outcome.stderr.is_empty(), "{outcome}");
    }
}

#[test]
fn a_closed_port_fails_to_connect() {
    let port = ports::free();
    let certificates = Certificates::new();
    for (reach, scheme) in [(Reach::Clear, "http"), (Reach::Tls(&certificates), "https")] {
        let outcome = fetch("get", &format!("{scheme}://127.0.0.1:{port}/"), &reach, &[]);
        ends(&outcome, exit::CONNECT, &["could not connect", "connection refused"]);
    }
}

#[test]
fn a_certificate_of_an_unknown_authority_is_refused() {
    let (certificates, others) = (Certificates::new(), Certificates::new());
    let server = HostileServer::tls(&certificates, |wire| answers::play(Point::MidBody, Ending::Dies, wire));
    let url = format!("https://localhost:{}/", server.port());
    let refused = fetch("get", &url, &Reach::Tls(&others), &[]);
    ends(&refused, exit::TLS, &["certificate not trusted"]);
    // Trusted, it comes as far as the body.
    let trusted = fetch("get", &url, &Reach::Tls(&certificates), &[]);
    assert_eq!(trusted.code, Some(exit::CUT_OFF), "{trusted}");
    let insecure = alula::run(["get", "-k", &url]);
    assert_eq!(insecure.code, Some(exit::CUT_OFF), "{insecure}");
}

#[test]
fn a_certificate_of_another_host_is_refused() {
    let certificates = Certificates::of(&["example.org"]);
    let server = HostileServer::tls(&certificates, |wire| answers::play(Point::MidBody, Ending::Dies, wire));
    let url = format!("https://localhost:{}/", server.port());
    let outcome = fetch("get", &url, &Reach::Tls(&certificates), &[]);
    ends(&outcome, exit::TLS, &["certificate not trusted"]);
}

#[test]
fn a_server_without_the_version_asked_for_is_named_by_alpn() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let named = ["ALPN"];
    let go = golang::start_http1_only(&certificates);
    let reach = Reach::Tls(&certificates);
    let only = ["--http2-prior-knowledge"];
    ends(&fetch("get", &go.url(&reach, ""), &reach, &only), exit::PROTOCOL, &named);
    for options in [&["-alpn", "http/1.1"][..], &[]] {
        let (_server, url) = s_server(&certificates, options);
        ends(&fetch("get", &url, &reach, &only), exit::PROTOCOL, &named);
    }
}

/// openssl's own server, with these options.
fn s_server(certificates: &Certificates, options: &[&str]) -> (Program, String) {
    let port = ports::free();
    let mut command = Command::new("openssl");
    command.args(["s_server", "-www", "-quiet", "-accept", &port.to_string()]).args(options);
    command.arg("-cert").arg(certificates.certificate()).arg("-key").arg(certificates.key());
    let mut program = Program::start(&mut command);
    program.wait_for_port(port);
    (program, format!("https://localhost:{port}/"))
}

#[test]
fn a_server_that_speaks_http1_in_clear_text_is_a_broken_rule() {
    both(
        |wire| {
            wire.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")?;
            closes(wire);
            Ok(())
        },
        |outcome| ends(outcome, exit::PROTOCOL, &["RFC 9113"]),
    );
}

#[test]
fn garbage_is_a_broken_rule_wherever_it_comes() {
    // Within a field block it is HPACK's rules that are broken, elsewhere those of HTTP/2.
    for point in Point::ALL {
        both(
            move |wire| answers::play(point, Ending::Babbles, wire),
            |outcome| ends(outcome, exit::PROTOCOL, &["RFC "]),
        );
    }
}

#[test]
fn a_server_that_dies_cuts_the_response_off() {
    for point in Point::ALL {
        both(
            move |wire| answers::play(point, Ending::Dies, wire),
            |outcome| {
                let code = outcome.code;
                assert_eq!(code, Some(exit::CUT_OFF), "{point:?}: {outcome}");
                let phase = if comes_to_the_content(point) { "reading the content" } else { ": " };
                ends(outcome, exit::CUT_OFF, &[phase]);
                let shown = if comes_to_data(point) { "0123456789" } else { "" };
                assert_eq!(outcome.text(), shown, "{point:?}: what came is written");
            },
        );
    }
}

#[test]
fn a_server_that_stalls_is_given_up_in_time() {
    for point in Point::ALL {
        both_within(
            "0.2",
            move |wire| answers::play(point, Ending::Stalls, wire),
            |outcome| ends(outcome, exit::TIMEOUT, &["timed out after"]),
        );
    }
}

#[test]
fn a_handshake_that_stalls_is_given_up_in_time() {
    let server = HostileServer::clear(|wire| {
        closes(wire);
        Ok(())
    });
    let url = format!("https://127.0.0.1:{}/", server.port());
    let outcome = alula::run(["get", "-k", "--max-time", "0.3", &url]);
    ends(&outcome, exit::TIMEOUT, &["timed out after"]);
}

const fn comes_to_the_content(point: Point) -> bool {
    matches!(point, Point::Head | Point::MidData | Point::MidBody | Point::MidTrailers)
}

const fn comes_to_data(point: Point) -> bool {
    matches!(point, Point::MidBody | Point::MidTrailers)
}

#[test]
fn a_reset_is_named() {
    const REFUSED_STREAM: u32 = 7;
    const INTERNAL_ERROR: u32 = 2;
    both(
        |wire| after_request(wire, &frames::reset(1, INTERNAL_ERROR)),
        |outcome| ends(outcome, exit::PROTOCOL, &["reset", "INTERNAL_ERROR"]),
    );
    both(
        |wire| {
            // The client tries again by itself, since that is safe: so every request is refused.
            wire.write_all(&frames::settings(&[]))?;
            read_preface(wire)?;
            while let Some(head) = wire::read_until(wire, |frame| frame.kind == kind::HEADERS)? {
                wire.write_all(&frames::reset(head.stream, REFUSED_STREAM))?;
                wire.flush()?;
            }
            Ok(())
        },
        |outcome| ends(outcome, exit::PROTOCOL, &["reset", "REFUSED_STREAM"]),
    );
}

#[test]
fn a_goaway_says_whether_the_request_was_seen() {
    const ENHANCE_YOUR_CALM: u32 = 11;
    both(
        |wire| after_request(wire, &frames::goaway(0, ENHANCE_YOUR_CALM)),
        |outcome| ends(outcome, exit::PROTOCOL, &["ENHANCE_YOUR_CALM"]),
    );
}

#[test]
fn a_body_of_another_length_than_stated_is_a_broken_rule() {
    let head = [frames::response_block("200"), frames::content_length(20)].concat();
    let answer = [frames::headers(1, &head, false), frames::data(1, b"0123456789", true)].concat();
    both(
        move |wire| after_request(wire, &answer),
        |outcome| ends(outcome, exit::PROTOCOL, &["content-length", "RFC 9113"]),
    );
}

#[test]
fn a_head_over_the_limits_is_refused() {
    // 200 fields of `content-length: 1` would be too many in one section, whatever they say.
    let fields: Vec<u8> = std::iter::repeat_n(frames::content_length(1), 2_000).flatten().collect();
    let head = frames::headers(1, &[frames::response_block("200"), fields].concat(), true);
    both(
        move |wire| after_request(wire, &head),
        |outcome| assert_eq!(outcome.code, Some(exit::PROTOCOL), "{outcome}"),
    );
}

#[test]
fn a_head_in_many_frames_is_one_head() {
    let block = [frames::response_block("200"), frames::content_length(4)].concat();
    let (first, rest) = block.split_at(3);
    let (middle, last) = rest.split_at(1);
    let answer = [
        frames::frame(kind::HEADERS, flag::NONE, 1, first),
        frames::frame(kind::CONTINUATION, flag::NONE, 1, middle),
        frames::frame(kind::CONTINUATION, flag::END_HEADERS, 1, last),
        frames::data(1, b"full", true),
    ];
    let answer = answer.concat();
    both(
        move |wire| after_request(wire, &answer),
        |outcome| assert_eq!((outcome.code, &*outcome.text()), (Some(exit::WHOLE), "full"), "{outcome}"),
    );
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let server = HostileServer::clear(|wire| {
        after_request(wire, &frames::headers(1, &frames::response_block("200"), true))
    });
    let folder = Folder::new();
    let path = folder.join("absent").join("out");
    let path = path.to_str().expect("a temporary folder has a readable name");
    let url = format!("http://127.0.0.1:{}/", server.port());
    ends(&fetch("get", &url, &Reach::Clear, &["-o", path]), exit::LOCAL, &[path]);
}

/// Sends SETTINGS, reads a request, sends this and waits for the client to close.
fn after_request(wire: &mut dyn Wire, answer: &[u8]) -> io::Result<()> {
    wire.write_all(&frames::settings(&[]))?;
    read_request(wire)?;
    wire.write_all(answer)?;
    wire.flush()?;
    closes(wire);
    Ok(())
}

/// Fetches from such a server in clear text and over TLS.
fn both(
    treat: impl Fn(&mut dyn Wire) -> io::Result<()> + Clone + Send + Sync + 'static,
    check: impl Fn(&Outcome),
) {
    both_within("10", treat, check);
}

/// As [`both`], for so many seconds at most.
fn both_within(
    seconds: &str,
    treat: impl Fn(&mut dyn Wire) -> io::Result<()> + Clone + Send + Sync + 'static,
    check: impl Fn(&Outcome),
) {
    let certificates = Certificates::new();
    let clear = HostileServer::clear(treat.clone());
    let tls = HostileServer::tls(&certificates, treat);
    let ways = [
        (Reach::Clear, format!("http://127.0.0.1:{}/", clear.port())),
        (Reach::Tls(&certificates), format!("https://localhost:{}/", tls.port())),
    ];
    for (reach, url) in ways {
        check(&fetch("get", &url, &reach, &["--max-time", seconds]));
    }
}

/// The exit code is this one, and standard error is one sentence with all these words.
#[track_caller]
fn ends(outcome: &Outcome, code: i32, words: &[&str]) {
    assert_eq!(outcome.code, Some(code), "{outcome}");
    let sentence = &outcome.stderr;
    assert!(sentence.starts_with("alula: ") && sentence.lines().count() == 1, "{outcome}");
    for word in words {
        assert!(sentence.contains(word), "`{word}` is not in: {sentence}");
    }
}
