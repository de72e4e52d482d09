//! Heads that come again, and sections that go again, are remembered: nobody can tell by anything but the
//! time it takes.
//!
//! A head that comes byte by byte is always read, so it says what one that comes at once has to mean.

use alula_fields::FieldSection;
use alula_h1::{Config, Connection, Leniency, RequestHead};
use alula_machine::Limits;
use alula_testkit::at_every_split;

use crate::support::{Answers, End, fields};

const REQUEST: &str =
    "GET /1?a HTTP/1.1\r\nHost: a.example\r\nX-Own: b\r\nAccept:\t*/* \r\nConnection: x\r\n\r\n";

/// Heads without content, each of which is sent again and again.
const REQUESTS: [&str; 7] = [
    REQUEST,
    "GET /1 HTTP/1.1\r\nhost:\r\n\r\n",
    "HEAD http://a.example/ HTTP/1.1\r\nHost: a.example\r\nCookie: a\r\nCookie: b\r\n\r\n",
    "GET http://A.example HTTP/1.1\r\nHost: a.EXAMPLE\r\nX: y\r\n\r\n",
    "OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET http://a.example/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
];

const FOLDED: &str = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n e\r\nF: g\r\n\r\n";

const RESPONSE: &str =
    "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 0\r\nX-Own:b\r\nConnection: keep-alive\r\n\r\n";

/// Answers without content.
const RESPONSES: [&str; 5] = [
    RESPONSE,
    "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
    "HTTP/1.1 304\r\nContent-Length: 9\r\nHost: a\r\nHost: b\r\n\r\n",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
];

const FORGIVING: Leniency = Leniency {
    bare_lf: true,
    folded_lines: true,
    space_before_colon: true,
    length_with_coding: true,
    repeated_length: true,
};

/// What a byte is changed into: what ends a line, a name or a value, what is in none, what means something
/// in some.
const BYTES: &[u8] = b"\r\n: ,\0\xffaA09-/";

fn server(config: &Config) -> End {
    End::new(Connection::server(config.clone()), Answers::Whole)
}

fn client(config: &Config) -> End {
    End::new(Connection::client(config.clone()), Answers::Never)
}

/// The next answer is awaited, if one may be.
fn ask(end: &mut End) {
    if end.machine.is_client() {
        let _ = end.request("GET", "/", &[], true);
    }
}

/// How heads come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Come {
    /// At once, so that they are remembered and found again.
    Whole,
    /// In pieces, so that all are read and none is remembered.
    Cut,
}

/// A good head comes.
fn one_comes(end: &mut End, head: &str, come: Come) {
    ask(end);
    match come {
        Come::Whole => end.receive(head.as_bytes()),
        Come::Cut => head.split_inclusive('\n').for_each(|line| end.receive(line.as_bytes())),
    }
}

/// What is heard of a head, and said to it, after another one came so often.
fn after(mut end: End, times: usize, before: &str, head: &[u8], come: Come) -> (Vec<String>, Vec<u8>) {
    (0..times).for_each(|_| one_comes(&mut end, before, come));
    ask(&mut end);
    match come {
        Come::Whole => end.receive(head),
        Come::Cut => head.chunks(1).for_each(|byte| end.receive(byte)),
    }
    end.flush(false);
    let said = end.transmit();
    (end.log, said)
}

/// The same of heads that come at once and of heads that are read; what is heard is the same.
fn check_after(new: impl Fn() -> End, times: usize, before: &str, head: &[u8]) -> Vec<String> {
    let [whole, cut] = [Come::Whole, Come::Cut].map(|come| after(new(), times, before, head, come));
    assert_eq!(whole, cut, "{} after {before:?}", head.escape_ascii());
    whole.0
}

/// So many heads that differ, and the next one is remembered and those behind it are not: their lines are
/// found again, one by one.
const UNLIKE: usize = 19;

/// An end to whom so many came.
fn who_heard_others(mut end: End, like: &str, come: Come) -> End {
    for number in 0..UNLIKE {
        one_comes(&mut end, &like.replacen("\r\n", &format!("\r\nX-Number: {number}\r\n"), 1), come);
    }
    end
}

/// A head that differs from a known one in one byte is read as if none was known.
fn check_each_byte(new: impl Fn(&Config) -> End, heads: &[&str]) {
    for (leniency, keep_spelling) in [(Leniency::default(), true), (FORGIVING, false)] {
        let config = Config { leniency, keep_spelling, ..Config::default() };
        for head in heads {
            for (at, byte) in (0..head.len()).flat_map(|at| BYTES.iter().map(move |byte| (at, *byte))) {
                check_after(|| new(&config), 2, head, &changed(head, at, byte));
            }
        }
    }
}

#[test]
fn the_bytes_of_a_head_are_counted_however_it_comes() {
    type New = fn(&Config) -> End;
    let ends: [(New, &[&str]); 2] = [(server, &REQUESTS), (client, &RESPONSES)];
    for (new, heads) in ends {
        for (head, come) in heads.iter().flat_map(|head| [(head, Come::Whole), (head, Come::Cut)]) {
            let mut end = new(&Config::default());
            (0..4).for_each(|_| one_comes(&mut end, head, come));
            let lengths: Vec<usize> = head.split_inclusive("\r\n\r\n").map(str::len).collect();
            let counted: Vec<usize> = end.head_bytes.iter().map(|bytes| *bytes as usize).collect();
            assert!(!counted.is_empty(), "{head:?}");
            assert!(
                counted.chunks(lengths.len()).all(|each| each == lengths),
                "{come:?} {head:?}: {counted:?}"
            );
        }
    }
}

/// Lines around one that differs are the same as ever, and so are those behind one that is not there or is
/// new.
#[test]
fn lines_that_come_again_mean_the_same() {
    for (new, head) in [(server as fn(&Config) -> End, REQUEST), (server, FOLDED), (client, RESPONSE)] {
        let config = Config { leniency: FORGIVING, ..Config::default() };
        let bytes = (0..head.len()).flat_map(|at| b"\r\n: a1".iter().map(move |byte| (at, *byte)));
        let mut others: Vec<Vec<u8>> = bytes.map(|(at, byte)| changed(head, at, byte)).collect();
        let lines: Vec<&str> = head.split_inclusive("\r\n").collect();
        for at in 1..lines.len() {
            let (before, rest) = lines.split_at(at);
            others.push([before, &rest[1..]].concat().concat().into());
            others.push([before, &["New: line\r\n"], rest].concat().concat().into());
            others.push([before, &rest[..1], rest].concat().concat().into());
        }
        for other in others {
            let [whole, cut] = [Come::Whole, Come::Cut].map(|come| {
                let end = who_heard_others(new(&config), head, come);
                after(end, 1, head, &other, come)
            });
            assert_eq!(whole, cut, "{}", other.escape_ascii());
        }
    }
}

fn changed(head: &str, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = head.as_bytes().to_vec();
    bytes[at] = byte;
    bytes
}

/// Cookies are counted apart, and fields up to a limit, whether their lines are known or not.
#[test]
fn known_lines_are_counted() {
    let limits = Limits { fields: 4, cookie_crumbs: 2, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let head = |lines: &str| format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
    let known = head("A: b\r\nCookie: a\r\nC: d\r\n");
    for (lines, told) in [
        ("A: b\r\nCookie: a\r\nC: d\r\nCookie: c\r\nE: f\r\n", "idle"),
        ("A: b\r\nCookie: a\r\nC: d\r\nCookie: c\r\nCookie: d\r\nE: f\r\n", "closed FIELDS_MANY"),
        ("E: f\r\nG: h\r\nI: j\r\nA: b\r\n", "closed FIELDS_MANY"),
        ("A: b\r\nCookie: a\r\nC: d\r\nE: f\r\nG: h\r\n", "closed FIELDS_MANY"),
    ] {
        for come in [Come::Whole, Come::Cut] {
            let end = who_heard_others(server(&config), &head(""), come);
            let (log, _) = after(end, 1, &known, head(lines).as_bytes(), come);
            assert_eq!(log.last().map(String::as_str), Some(told), "{lines:?}");
        }
    }
}

#[test]
fn a_request_that_differs_in_one_byte_is_another_one() {
    check_each_byte(server, &REQUESTS);
}

#[test]
fn a_response_that_differs_in_one_byte_is_another_one() {
    check_each_byte(client, &RESPONSES);
}

/// Each after each, so that what was remembered of one meets the start line, or the fields, of another.
#[test]
fn heads_of_all_kinds_follow_each_other() {
    let (config, mut whole) = (Config::default(), 0);
    for (new, heads) in [(server as fn(&Config) -> End, &REQUESTS[..]), (client, &RESPONSES)] {
        for before in heads {
            for head in heads {
                let lines = head.split_once("\r\n").unwrap();
                let fields = before.split_once("\r\n").unwrap().1;
                for head in [(*head).to_owned(), format!("{}\r\n{fields}", lines.0)] {
                    let log = check_after(|| new(&config), 2, before, head.as_bytes());
                    whole += usize::from(log.last().is_some_and(|told| told == "idle"));
                }
            }
        }
    }
    assert!(whole > 100, "{whole} of {} were good", 2 * (7 * 7 + 5 * 5));
}

#[test]
fn requests_that_are_sent_at_once_are_heard_the_same_however_they_are_cut() {
    let other = REQUEST.replace("/1?a", "/2");
    let bytes = [REQUEST, REQUEST, "\r\n", &other, &other, REQUEST, "\r\n", REQUEST].concat();
    let (log, said) = at_every_split(bytes.as_bytes(), 1, |pieces| {
        let mut end = server(&Config::default());
        pieces.iter().for_each(|piece| end.receive(piece));
        let said = end.transmit();
        (end.log, said)
    });
    assert_eq!(log.iter().filter(|line| *line == "idle").count(), 6);
    let all_but_the_first: Vec<_> = log.iter().filter(|line| line.starts_with("GET")).skip(1).collect();
    for (at, path) in ["/1?a", "/2", "/2", "/1?a", "/1?a"].into_iter().enumerate() {
        let head = format!("GET http a.example {path} x-own=b accept=*/* connection=x end");
        assert_eq!(*all_but_the_first[at], head);
    }
    assert_eq!(said.windows(3).filter(|bytes| bytes == b"200").count(), 6);
}

/// A longer start line may be too much for fields that were good before; a limit is hit by the same byte as
/// ever.
#[test]
fn known_fields_do_not_pass_the_limit() {
    let bytes = REQUEST.len() as u32 + 1;
    let config = Config { limits: Limits { head_bytes: bytes, ..Limits::default() }, ..Config::default() };
    let with_path = |path: &str| REQUEST.replace("/1?a", path);
    for (path, told) in [("/1?ab", "idle"), ("/1?abc", "closed HEAD_LONG"), ("/", "idle")] {
        let log = check_after(|| server(&config), 2, REQUEST, with_path(path).as_bytes());
        assert_eq!(log.last().map(String::as_str), Some(told), "{path}");
    }
}

/// What the same head means may depend on what was asked.
#[test]
fn an_answer_that_comes_again_ends_where_the_request_says() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let mut end = client(&Config::default());
    for (method, content, told) in [
        ("GET", &b"ok"[..], "200 content-length=2, data ok end"),
        ("HEAD", b"", "200 content-length=2 end"),
        ("GET", b"ok", "200 content-length=2, data ok end"),
    ] {
        end.log.clear();
        end.request(method, "/", &[], true).unwrap();
        end.receive(&[answer, content].concat());
        assert_eq!(end.log.join(", "), format!("{told}, idle"));
    }
}

#[test]
fn what_is_remembered_is_bounded_and_given_back() {
    let mut end = server(&Config::default());
    let large = REQUEST.replace("\r\n\r\n", &format!("\r\nX: {}\r\n\r\n", "x".repeat(8 * 1024)));
    end.receive(large.as_bytes());
    end.machine.trim();
    let without = end.machine.memory_bytes();
    end.receive(large.as_bytes());
    assert!(end.machine.memory_bytes() - without < 1024, "an answer is remembered, so large a head is not");
    end.receive(REQUEST.as_bytes());
    let with = end.machine.memory_bytes();
    assert!((REQUEST.len()..4 * 1024).contains(&(with - without)));
    end.machine.trim();
    assert_eq!(end.machine.memory_bytes(), without);
    end.receive(REQUEST.as_bytes());
    assert_eq!(end.log.iter().filter(|line| *line == "idle").count(), 4);
}

/// What one machine writes of these sections, one after the other, and what a fresh one writes of each.
fn check_sections(write: impl Fn(&mut End, &FieldSection) -> Vec<u8>, new: impl Fn() -> End) {
    let mut spelled = FieldSection::new();
    spelled.append_spelled("X-oWN", "b").unwrap();
    let mut secret = FieldSection::new();
    secret.append_sensitive("x-own", "b").unwrap();
    let sections = [
        fields(&[("x-own", "b")]),
        spelled,
        secret,
        fields(&[("x-own", "c")]),
        fields(&[("x-ow", "nb")]),
        fields(&[]),
        fields(&[("x-own", "b"), ("host", "a.example"), ("content-length", "0")]),
        fields(&[("x-own", "b"), ("content-length", "0"), ("host", "a.example")]),
        fields(&[("x-own", "b"), ("host", "a.example"), ("content-length", "1")]),
        fields(&[("content-length", "0"), ("transfer-encoding", "chunked")]),
        fields(&[("transfer-encoding", "chunked")]),
        fields(&[("host", "b.example")]),
    ];
    let mut used = new();
    for first in &sections {
        for second in &sections {
            for section in [first, first, second, second] {
                assert_eq!(write(&mut used, section), write(&mut new(), section), "{section:?}");
            }
        }
    }
}

#[test]
fn requests_are_written_the_same_whether_their_fields_went_before() {
    let write = |end: &mut End, fields: &FieldSection| {
        let head = RequestHead {
            method: "GET",
            scheme: "http",
            authority: "a.example",
            path: "/",
            protocol: None,
            fields,
        };
        let sent = end.machine.send_request(&head, true, &mut end.out);
        let bytes = end.transmit();
        assert_eq!(sent.is_ok(), !bytes.is_empty());
        if sent.is_ok() {
            end.receive(b"HTTP/1.1 204\r\n\r\n");
        }
        bytes
    };
    check_sections(write, || client(&Config::default()));
}

#[test]
fn answers_are_written_the_same_whether_their_fields_went_before() {
    for status in [200, 204, 304] {
        let write = |end: &mut End, fields: &FieldSection| {
            end.receive(REQUEST.as_bytes());
            let head =
                alula_fields::ResponseHead { status: alula_fields::Status::new(status).unwrap(), fields };
            let sent = end.machine.send_response(end.stream.unwrap(), &head, true, &mut end.out);
            let bytes = end.transmit();
            assert_eq!(sent.is_ok(), !bytes.is_empty());
            if sent.is_err() {
                end.respond(500, &[], true).unwrap();
                end.transmit();
            }
            bytes
        };
        check_sections(write, || server(&Config::default()).answering(Answers::Never));
    }
}

/// A head of which more is here already than may be from now on is refused, and one that is within the bound
/// is not.
#[test]
fn a_bound_counts_for_the_head_that_is_being_read() {
    let config = Config { limits: Limits { head_bytes: 4_000, ..Limits::default() }, ..Config::default() };
    for (length, told) in [(80, "idle"), (900, "closed HEAD_LONG")] {
        let mut end = server(&config);
        let value = "a".repeat(length);
        end.receive(format!("GET / HTTP/1.1\r\nhost: a\r\nx-a: {value}\r\nx-b:").as_bytes());
        end.machine.bound_heads(200);
        end.receive(b" b\r\n\r\n");
        assert_eq!(end.log.last().map(String::as_str), Some(told), "{length}");
        let exceeded = end.machine.exceeded().map(|exceeded| exceeded.limit());
        assert_eq!(exceeded, (length > 200).then_some("first_head_bytes"));
    }
    let mut end = server(&config);
    end.machine.bound_heads(200);
    end.machine.bound_heads(u32::MAX);
    end.receive(format!("GET / HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(900)).as_bytes());
    assert_eq!(end.log.last().map(String::as_str), Some("idle"));
}

/// A status says little to whoever was answered before, or is by another server: then a sentence says why.
#[test]
fn refusals_that_others_do_not_make_have_a_text() {
    let config = Config { limits: Limits { head_bytes: 4_000, ..Limits::default() }, ..Config::default() };
    let long = format!("GET / HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(900));
    for (request, status, text) in [
        (&b"GET /a\xff HTTP/1.1\r\nhost: a\r\n\r\n"[..], "400 Bad Request", "%XX"),
        (b"HEAD /a\xff HTTP/1.1\r\nhost: a\r\n\r\n", "400 Bad Request", ""),
        (b"GET a HTTP/1.1\r\nhost: a\r\n\r\n", "400 Bad Request", "RFC 9112"),
        (long.as_bytes(), "431 Request Header Fields Too Large", "first_head_bytes"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", "400 Bad Request", ""),
    ] {
        let mut end = server(&config);
        end.machine.bound_heads(200);
        end.receive(request);
        let answer = String::from_utf8(end.transmit()).expect("ASCII");
        let (head, content) = answer.split_once("\r\n\r\n").expect("a whole head");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", content.len())), "{answer}");
        assert_eq!(head.contains("\r\nContent-Type: text/plain\r\n"), !content.is_empty(), "{answer}");
        assert!(content.contains(text) && content.is_empty() == text.is_empty(), "{text}: {answer}");
    }
}
