//! `alula get` and its sisters against servers that other people wrote, in clear text and over TLS.

use alula_conformance::alula::{Reach, fetch};
use alula_conformance::certificates::Certificates;
use alula_conformance::environment;
use alula_conformance::folder::Folder;
use alula_conformance::outcome::Outcome;
use alula_conformance::peers::{Origin, golang, nghttpd, nginx};
use alula_conformance::site::{Site, assert_same, bytes};

#[test]
fn nghttpd_serves_the_site() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    fetches_the_site(&nghttpd::start(&site, &certificates), &certificates);
}

#[test]
fn nginx_serves_the_site() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    fetches_the_site(&nginx::start(&site, &certificates), &certificates);
}

fn fetches_the_site(origin: &Origin, certificates: &Certificates) {
    for reach in Origin::ways(certificates) {
        for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
            let outcome = fetch("get", &origin.url(&reach, file), &reach, &[]).expect_success();
            assert_same(&outcome.stdout, &Site::content(file), origin.name);
        }
        answers_404_as_a_whole_response(origin, &reach);
        answers_head_with_fields_only(origin, &reach);
        writes_to_a_file(origin, &reach);
    }
}

fn answers_404_as_a_whole_response(origin: &Origin, reach: &Reach<'_>) {
    let outcome = fetch("get", &origin.url(reach, Site::ABSENT), reach, &["-i"]).expect_success();
    let (head, page) = split(&outcome);
    assert!(head.starts_with("HTTP/2 404 Not Found\n"), "{head}");
    assert!(page.contains("404"), "{page}");
}

fn answers_head_with_fields_only(origin: &Origin, reach: &Reach<'_>) {
    let outcome = fetch("head", &origin.url(reach, Site::BIG), reach, &[]).expect_success();
    let (head, rest) = split(&outcome);
    assert!(head.starts_with("HTTP/2 200 OK\n"), "{head}");
    assert!(head.contains("content-length: 10485760"), "{head}");
    assert_eq!(rest, "");
}

fn writes_to_a_file(origin: &Origin, reach: &Reach<'_>) {
    let folder = Folder::new();
    let file = folder.join("out");
    let path = file.to_str().expect("a temporary folder has a readable name");
    let outcome = fetch("get", &origin.url(reach, Site::BIG), reach, &["-o", path]).expect_success();
    assert!(outcome.stdout.is_empty(), "{outcome}");
    assert_same(&std::fs::read(&file).expect("it was written"), &Site::content(Site::BIG), origin.name);
}

#[test]
fn go_serves_small_things() {
    with_go(|go, reach| {
        for file in [Site::SMALL, Site::EMPTY] {
            let outcome = fetch("get", &go.url(reach, file), reach, &[]).expect_success();
            assert_same(&outcome.stdout, &Site::content(file), go.name);
        }
        answers_404_as_a_whole_response(go, reach);
        let (head, rest) = split(&fetch("head", &go.url(reach, Site::SMALL), reach, &[]).expect_success());
        assert!(head.starts_with("HTTP/2 200 OK\n"), "{head}");
        assert_eq!(rest, "");
    });
}

#[test]
fn go_streams_both_ways() {
    with_go(|go, reach| {
        let big = fetch("get", &go.url(reach, "big?n=10485760"), reach, &[]).expect_success();
        let expected: Vec<u8> = (b'a'..=b'z').cycle().take(10 * 1024 * 1024).collect();
        assert_same(&big.stdout, &expected, "the alphabet");

        let folder = Folder::new();
        for length in [0, 1, 100_000, 5_000_000] {
            let sent = bytes(length as u64, length);
            let data = format!("@{}", folder.write("body", &sent).display());
            let more = ["-d", &data, "-H", "content-type: application/x-test", "-i"];
            let outcome = fetch("post", &go.url(reach, "echo"), reach, &more).expect_success();
            let (head, _) = split(&outcome);
            for field in ["x-method: POST", "content-type: application/x-test"] {
                assert!(head.contains(field), "{head}");
            }
            assert!(head.contains(&format!("x-content-length: {length}")), "{head}");
            assert_same(&outcome.stdout[head.len()..], &sent, "what was sent");
        }
    });
}

#[test]
fn each_method_arrives_as_itself() {
    with_go(|go, reach| {
        for (method, data) in [("get", None), ("post", Some("a")), ("put", Some("b")), ("delete", None)] {
            let more: Vec<&str> = ["-i"].into_iter().chain(data.map(|_| "-d")).chain(data).collect();
            let outcome = fetch(method, &go.url(reach, "echo"), reach, &more).expect_success();
            let (head, body) = split(&outcome);
            assert!(head.contains(&format!("x-method: {}", method.to_uppercase())), "{head}");
            assert_eq!(body, data.unwrap_or_default());
        }
    });
}

#[test]
fn interim_responses_come_before_the_final_one() {
    with_go(|go, reach| {
        let outcome = fetch("get", &go.url(reach, "interim"), reach, &["-i", "-vv"]).expect_success();
        let (head, body) = split(&outcome);
        assert!(head.starts_with("HTTP/2 200 OK\n") && !head.contains("link:"), "{head}");
        assert_eq!(body, "after two hints\n");
        assert_eq!(received(&outcome, "HEADERS"), 3, "{outcome}");
    });
}

#[test]
fn trailers_come_after_the_body() {
    with_go(|go, reach| {
        let outcome = fetch("get", &go.url(reach, "trailers"), reach, &["-vv"]).expect_success();
        assert_eq!(outcome.text(), "trailers follow\n");
        assert_eq!(received(&outcome, "HEADERS"), 2, "{outcome}");
        let last = outcome.stderr.lines().rfind(|line| line.starts_with("recv HEADERS"));
        assert!(last.is_some_and(|line| line.contains("END_STREAM")), "{outcome}");
    });
}

#[test]
fn large_field_sections_go_both_ways() {
    with_go(|go, reach| {
        // About 30 KiB each way: more than one frame, so CONTINUATION (RFC 9113 §6.10) in both directions. Random hexadecimal
        // digits do not shrink below a frame.
        let fields: Vec<String> = (0..30)
            .map(|field| {
                let digits: String = bytes(field, 500).iter().map(|byte| format!("{byte:02x}")).collect();
                format!("x-sent-{field}: {digits}")
            })
            .collect();
        let more: Vec<&str> =
            ["-vv"].into_iter().chain(fields.iter().flat_map(|field| ["-H", field])).collect();
        let outcome = fetch("get", &go.url(reach, "fields"), reach, &more).expect_success();
        assert_eq!(outcome.text(), "30 fields, 30000 bytes\n");
        assert!(outcome.stderr.contains("send CONTINUATION"), "{outcome}");

        let outcome = fetch("get", &go.url(reach, "fields?n=40&size=300"), reach, &["-i"]).expect_success();
        let (head, _) = split(&outcome);
        assert_eq!(head.lines().filter(|line| line.starts_with("x-field-")).count(), 40, "{head}");
    });
}

#[test]
fn an_answer_before_goaway_is_whole() {
    with_go(|go, reach| {
        let outcome = fetch("get", &go.url(reach, "goaway"), reach, &["-vv"]).expect_success();
        assert_eq!(outcome.text(), "the last answer\n");
        assert_eq!(received(&outcome, "GOAWAY"), 1, "{outcome}");
    });
}

fn with_go(test: impl Fn(&Origin, &Reach<'_>)) {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let go = golang::start(&certificates);
    Origin::ways(&certificates).iter().for_each(|reach| test(&go, reach));
}

/// The head that `-i` prints, its empty line included, and what follows it as text.
fn split(outcome: &Outcome) -> (String, String) {
    let text = outcome.text();
    let Some(end) = text.find("\n\n") else { panic!("there is no head:\n{outcome}") };
    let (head, body) = text.split_at(end + 2);
    (head.to_owned(), body.to_owned())
}

/// How many frames of this type `-v` says have come.
fn received(outcome: &Outcome, frame: &str) -> usize {
    let start = format!("recv {frame} ");
    outcome.stderr.lines().filter(|line| line.starts_with(&start)).count()
}
