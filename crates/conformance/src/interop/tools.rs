//! nghttp, h2load and curl: clients that take their requests from a command line, one process for each cell.

use std::process::Command;
use std::time::Duration;

use super::matrix::{Cell, Cells, Row};
use super::own_server::OwnServer;
use super::routes::{self, ENDLESS_BYTES, HALF, HINTED, LAST, SMALL, TRAILED, TRAILERS};
use super::serving::{MANY, Serving};
use super::way::Way;
use crate::folder::Folder;
use crate::load::{self, Counts, Load};
use crate::outcome::{self, Outcome};
use crate::peers::curl;
use crate::site::{Site, assert_same};

/// curl.
pub const CURL: Row<Serving> = Row {
    peer: "curl",
    cells: Cells {
        download: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                for (path, content) in routes::downloads() {
                    assert_same(
                        &by_curl(at, &server, way, &path, &[]).expect_success().stdout,
                        &content,
                        &path,
                    );
                }
            },
            "",
        ),
        upload: Cell::Checked(
            |at, way| {
                let (server, folder, sent) =
                    (OwnServer::start(&at.certificates), Folder::new(), routes::upload());
                let data = format!("@{}", folder.write("body", &sent).display());
                let outcome = by_curl(at, &server, way, "echo", &["--data-binary", &data]).expect_success();
                assert_same(&outcome.stdout, &sent, "what was sent");
            },
            "",
        ),
        response_trailers: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_curl(at, &server, way, "trailers", &["--include"]).expect_success();
                let text = outcome.text();
                let (_, after) = text.split_once(TRAILED).expect("the content");
                for (name, value) in TRAILERS {
                    assert!(after.contains(&format!("{name}: {value}\r\n")), "{outcome}");
                }
            },
            "",
        ),
        request_trailers: Cell::NotOffered("the program has no option for them"),
        interim: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let text = by_curl(at, &server, way, "interim", &["--include"]).expect_success().text();
                assert_eq!(text.matches("HTTP/2 103").count(), 2, "{text}");
                assert!(text.contains("HTTP/2 200") && text.ends_with(HINTED), "{text}");
            },
            "",
        ),
        server_resets: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let broken = by_curl(at, &server, way, "reset", &[]);
                // It may throw away what came together with the reset.
                assert!(broken.code == Some(92) && HALF.starts_with(&broken.text()), "{broken}");
                if way == Way::Tls {
                    let reset = server.url(way, "reset");
                    let both = by_curl(at, &server, way, Site::SMALL, &[&reset]).expect_success();
                    assert!(both.text().ends_with(SMALL), "{both}");
                    assert_eq!(server.connections(), 2, "each curl used one connection");
                }
            },
            "that the connection goes on is checked over TLS: see many requests",
        ),
        client_resets: Cell::OverTls(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let big = server.url(way, &format!("big?n={ENDLESS_BYTES}"));
                let more = ["--max-filesize", "1000", &big];
                let outcome = by_curl(at, &server, way, Site::SMALL, &more);
                assert_eq!(outcome.text(), SMALL, "{outcome}");
                server.wait_for_giving_up();
                assert_eq!((server.requests(), server.connections()), (2, 1), "the connection went on");
            },
            "by its option `--max-filesize`; in clear text see many requests",
        ),
        goaway: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let first = server.url(way, "goaway");
                let outcome = by_curl(at, &server, way, Site::SMALL, &[&first]).expect_success();
                assert_eq!(outcome.text(), [LAST, SMALL].concat());
                assert_eq!(server.connections(), 2, "the next request went on a new connection");
            },
            "the request in flight is the one that makes the server take its leave",
        ),
        large_request: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let fields = header_options();
                let more: Vec<&str> = fields.iter().map(String::as_str).collect();
                let outcome = by_curl(at, &server, way, "fields", &more).expect_success();
                assert_eq!(outcome.text(), routes::large_fields_received());
            },
            "",
        ),
        large_response: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome =
                    by_curl(at, &server, way, &routes::large_response(), &["--include"]).expect_success();
                assert_eq!(large_lines(&outcome), routes::LARGE_FIELDS, "{outcome}");
            },
            "",
        ),
        many: Cell::OverTls(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let path = format!("{}?[1-{MANY}]", Site::SMALL);
                let outcome = by_curl(at, &server, way, &path, &[]).expect_success();
                assert_eq!(outcome.text(), SMALL.repeat(MANY));
                assert_eq!((server.requests(), server.connections()), (MANY, 1));
            },
            "one after the other; in clear text this version fails to use a connection twice, whoever the server is",
        ),
    },
};

fn by_curl(at: &Serving, server: &OwnServer, way: Way, path: &str, more: &[&str]) -> Outcome {
    curl::fetch(&server.url(way, path), &way.reach(&at.certificates), more)
}

fn header_options() -> Vec<String> {
    let fields = routes::large_fields().into_iter();
    fields.flat_map(|(name, value)| ["-H".to_owned(), format!("{name}: {value}")]).collect()
}

/// Lines of a field as long as those of a large section.
fn large_lines(outcome: &Outcome) -> usize {
    let value = "v".repeat(routes::LARGE_FIELD_BYTES);
    outcome
        .text()
        .lines()
        .filter(|line| line.contains("x-field-") && line.trim_end().ends_with(&value))
        .count()
}

/// nghttp, of the nghttp2 project.
pub const NGHTTP: Row<Serving> = Row {
    peer: "nghttp",
    cells: Cells {
        download: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                for (path, content) in routes::downloads() {
                    assert_same(&by_nghttp(&server, way, &[&path], &[]).stdout, &content, &path);
                }
            },
            "",
        ),
        upload: Cell::Checked(
            |at, way| {
                let (server, folder, sent) =
                    (OwnServer::start(&at.certificates), Folder::new(), routes::upload());
                let data = format!("--data={}", folder.write("body", &sent).display());
                let outcome = by_nghttp(&server, way, &["echo"], &[&data]);
                assert_same(&outcome.stdout, &sent, "what was sent");
            },
            "",
        ),
        response_trailers: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_nghttp(&server, way, &["trailers"], &["--verbose"]);
                let text = outcome.text();
                let (_, after) = text.split_once(TRAILED).expect("the content");
                for (name, value) in TRAILERS {
                    assert!(after.contains(&format!("{name}: {value}\n")), "{outcome}");
                }
            },
            "",
        ),
        request_trailers: Cell::Checked(
            |at, way| {
                let (server, folder) = (OwnServer::start(&at.certificates), Folder::new());
                let data = format!("--data={}", folder.write("body", TRAILED).display());
                let trailers = TRAILERS.map(|(name, value)| format!("--trailer={name}: {value}"));
                let more = [&data, &trailers[0], &trailers[1]].map(String::as_str);
                let outcome = by_nghttp(&server, way, &["sent-trailers"], &more);
                assert_eq!(outcome.text(), routes::trailers_received());
            },
            "",
        ),
        interim: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_nghttp(&server, way, &["interim"], &["--verbose"]);
                let text = outcome.text();
                assert_eq!(text.matches(":status: 103").count(), 2, "{outcome}");
                assert!(text.contains(":status: 200") && text.contains(HINTED), "{outcome}");
            },
            "",
        ),
        server_resets: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_nghttp(&server, way, &["reset", Site::SMALL], &["--verbose"]);
                let text = outcome.text();
                assert!(text.contains("recv RST_STREAM frame") && text.contains(SMALL), "{outcome}");
                assert_eq!((server.requests(), server.connections()), (2, 1), "the connection went on");
            },
            "",
        ),
        client_resets: Cell::NotOffered("it gives nothing up but the whole connection"),
        goaway: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_nghttp(&server, way, &["goaway"], &["--verbose"]);
                let text = outcome.text();
                assert!(text.contains("recv GOAWAY frame") && text.contains(LAST), "{outcome}");
            },
            "it ends with its connection: there is no next request",
        ),
        large_request: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let fields = header_options();
                let more: Vec<&str> = fields.iter().map(String::as_str).collect();
                let outcome = by_nghttp(&server, way, &["fields"], &more);
                assert_eq!(outcome.text(), routes::large_fields_received());
            },
            "",
        ),
        large_response: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let outcome = by_nghttp(&server, way, &[&routes::large_response()], &["--verbose"]);
                assert_eq!(large_lines(&outcome), routes::LARGE_FIELDS, "{outcome}");
            },
            "",
        ),
        many: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let times = format!("--multiply={MANY}");
                let outcome = by_nghttp(&server, way, &[Site::SMALL], &[&times]);
                assert_eq!(outcome.text(), SMALL.repeat(MANY));
                assert_eq!((server.requests(), server.connections()), (MANY, 1));
            },
            "as many at once as our server allows",
        ),
    },
};

fn by_nghttp(server: &OwnServer, way: Way, paths: &[&str], more: &[&str]) -> Outcome {
    let mut command = Command::new("nghttp");
    command.args(["--no-verify-peer", "--timeout=20"]).args(more);
    command.args(paths.iter().map(|path| server.url(way, path)));
    outcome::run(&mut command, Duration::from_secs(30)).expect_success()
}

/// h2load, of the nghttp2 project: it shows no response, but counts those that are whole and have a status
/// below 400.
pub const H2LOAD: Row<Serving> = Row {
    peer: "h2load",
    cells: Cells {
        download: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                for (path, _) in routes::downloads() {
                    all_succeed(&server, way, &path, few(20));
                }
            },
            "it counts whole responses and does not show them",
        ),
        upload: Cell::Checked(
            |at, way| {
                let (server, folder) = (OwnServer::start(&at.certificates), Folder::new());
                let body = folder.write("body", routes::upload());
                all_succeed(&server, way, "upload", Load { body: Some(&body), ..few(10) });
            },
            "our server compares what has come",
        ),
        response_trailers: Cell::Checked(
            |at, way| all_succeed(&OwnServer::start(&at.certificates), way, "trailers", few(100)),
            "it takes them and does not show them",
        ),
        request_trailers: Cell::NotOffered("it has no option for them"),
        interim: Cell::Checked(
            |at, way| all_succeed(&OwnServer::start(&at.certificates), way, "interim", few(100)),
            "it takes them and does not show them",
        ),
        server_resets: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let counts = load::run(few(100), &server.url(way, "reset"));
                assert_eq!(counts, Counts { total: 100, succeeded: 0, failed: 100 });
                assert_eq!((server.requests(), server.connections()), (100, 1), "the connection went on");
            },
            "it counts them as failed, 100 on one connection",
        ),
        client_resets: Cell::NotOffered("it gives nothing up but the whole connection"),
        goaway: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let two = Load { requests: 2, connections: 1, streams: 1, body: None };
                let counts = load::run(two, &server.url(way, "goaway"));
                assert_eq!(counts, Counts { total: 2, succeeded: 1, failed: 1 });
                assert_eq!((server.requests(), server.connections()), (1, 1));
            },
            "the request in flight is whole; it counts the next one as failed and opens no other connection",
        ),
        large_request: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let url = server.url(way, "large-fields");
                assert_eq!(
                    load::run_with(few(100), &url, &header_options()),
                    Counts::all_succeeded(few(100))
                );
            },
            "our server counts what has come",
        ),
        large_response: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                all_succeed(&server, way, &routes::large_response(), few(100));
            },
            "it counts whole responses and does not show them",
        ),
        many: Cell::Checked(
            |at, way| {
                let server = OwnServer::start(&at.certificates);
                let requests = 20_000;
                all_succeed(
                    &server,
                    way,
                    Site::SMALL,
                    Load { requests, connections: 8, streams: 32, body: None },
                );
                assert_eq!((server.requests(), server.connections()), (requests as usize, 8));
            },
            "20 000 requests on 8 connections, 32 at once on each",
        ),
    },
};

const fn few(requests: u32) -> Load<'static> {
    Load { requests, connections: 1, streams: 10, body: None }
}

fn all_succeed(server: &OwnServer, way: Way, path: &str, load: Load<'_>) {
    assert_eq!(load::run(load, &server.url(way, path)), Counts::all_succeeded(load), "{path}");
}
