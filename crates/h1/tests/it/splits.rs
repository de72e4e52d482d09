//! Whole conversations in pieces, and cut off at every byte: the events are the same however the bytes
//! arrive, and what was cut is never taken for whole.

use alula_h1::{Config, Connection, Leniency};
use alula_testkit::{at_every_split, truncations};

use crate::support::{Answers, End};

/// Parts of a conversation: heads, and what follows each.
const REQUESTS: [(&str, &str); 5] = [
    ("GET /1 HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nCookie: a=b\r\n\r\n", ""),
    ("POST /2 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\n", "0123456789"),
    (
        "PUT /3 HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n",
        "5;a=\"b\"\r\nhello\r\n0006\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n",
    ),
    ("POST /4 HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nok\r\n0\r\n\r\n"),
    ("HEAD http://a.example/5 HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n", ""),
];

const RESPONSES: [(&str, &str); 4] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"),
    ("HTTP/1.1 103 Early Hints\r\nLink: b\r\n\r\nHTTP/1.1 204 No Content\r\nX: y\r\n\r\n", ""),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n", "ok"),
];

fn server() -> End {
    End::new(Connection::server(Config::default()), Answers::Whole)
}

fn asking_client() -> End {
    let mut end = End::new(Connection::client(Config::default()), Answers::Never);
    end.request("GET", "/", &[], true).unwrap();
    end.transmit();
    end
}

/// What is heard of pieces, and what is said.
fn heard(mut end: End, pieces: &alula_testkit::Pieces<'_>) -> (Vec<String>, Vec<u8>) {
    pieces.iter().for_each(|piece| end.receive(piece));
    end.flush(false);
    let said = end.transmit();
    (end.log, said)
}

#[test]
fn a_server_hears_the_same_however_it_comes() {
    let bytes: String = REQUESTS.iter().flat_map(|(head, content)| [*head, *content]).collect();
    let (log, said) = at_every_split(bytes.as_bytes(), 1, |pieces| heard(server(), pieces));
    assert_eq!(log.iter().filter(|line| *line == "idle").count(), REQUESTS.len());
    assert_eq!(String::from_utf8_lossy(&said).matches("HTTP/1.1 200 OK").count(), REQUESTS.len());
}

#[test]
fn a_client_hears_the_same_however_it_comes() {
    for (head, content) in RESPONSES {
        let bytes = [head, content].concat();
        let (log, _) = at_every_split(bytes.as_bytes(), 2, |pieces| heard(asking_client(), pieces));
        assert_eq!(log.last().map(String::as_str), Some("idle"), "{head}");
    }
}

/// The same with everything forgiven, which takes other ways through the reader.
#[test]
fn what_is_forgiven_is_heard_the_same() {
    let leniency = Leniency {
        bare_lf: true,
        folded_lines: true,
        space_before_colon: true,
        length_with_coding: true,
        repeated_length: true,
    };
    let bytes = "\nGET /1 HTTP/1.1\nHost : a\r\nX:\r\n b\n\tc \nContent-Length\t: 2, 2\nContent-Length: 2\n\nok\
                  POST /2 HTTP/1.1\nHost: a\nContent-Length: 9\nTransfer-Encoding: chunked\n\n1\nx\r\n0\nY : z\n a\n\n";
    let server = || {
        let config = Config { leniency, ..Config::default() };
        End::new(Connection::server(config), Answers::Whole)
    };
    let (log, _) = at_every_split(bytes.as_bytes(), 3, |pieces| heard(server(), pieces));
    assert_eq!(
        log,
        [
            "GET http a /1 x=b c content-length=2",
            "data ok end",
            "idle",
            "POST http a /2 transfer-encoding=chunked",
            "data x",
            "trailers y=z a",
            "last"
        ]
    );
}

/// What a side is told when the bytes end after so many.
fn after_end(mut end: End, bytes: &[u8]) -> String {
    end.receive(bytes);
    end.receive_end();
    end.log.pop().unwrap_or_default()
}

#[test]
fn a_server_knows_where_the_client_was_cut() {
    let mut before = String::new();
    for (head, content) in REQUESTS {
        let bytes = [&before, head, content].concat();
        for cut in truncations(bytes.as_bytes()).skip(before.len()) {
            let expected = match cut.len() - before.len() {
                0 => "closed PeerClosed",
                at if at < head.len() => "closed CUT_HEAD",
                _ => "closed CUT_CONTENT",
            };
            assert_eq!(after_end(server(), cut), expected, "{}", cut.escape_ascii());
        }
        assert_eq!(after_end(server(), bytes.as_bytes()), "closed PeerClosed");
        before = bytes;
    }
}

#[test]
fn a_client_knows_where_the_server_was_cut() {
    for (head, content) in RESPONSES {
        let bytes = [head, content].concat();
        for cut in truncations(bytes.as_bytes()) {
            let expected = match cut.len() {
                0 => "closed Unanswered { is_reused: false }",
                at if at < head.len() => "closed CUT_HEAD",
                _ => "closed CUT_CONTENT",
            };
            assert_eq!(after_end(asking_client(), cut), expected, "{}", cut.escape_ascii());
        }
        assert_eq!(after_end(asking_client(), bytes.as_bytes()), "closed PeerClosed");
    }
}
