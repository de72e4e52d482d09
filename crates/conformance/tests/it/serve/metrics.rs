//! The metrics of `alula serve`, `alula echo` and `alula store` are what Prometheus reads, by its own check: `promtool check metrics`.

use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::{Echo, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::folder::Folder;
use alula_conformance::peers::curl;
use alula_conformance::served::Place;
use alula_conformance::store::Store;
use alula_conformance::{environment, outcome};

/// Holds a text against the rules of the format and the habits of names; without a word when there is nothing to say.
fn check(text: &[u8]) -> outcome::Outcome {
    let mut promtool = Command::new(environment::tool("promtool"));
    outcome::run_with_input(promtool.args(["check", "metrics"]), text, Duration::from_secs(30))
}

fn assert_checked(text: &[u8]) {
    let outcome = check(text).expect_success();
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty(), "{outcome}");
}

#[test]
fn prometheus_reads_what_a_folder_was_asked() {
    if environment::no_peers() {
        return;
    }
    let place = Place::new();
    let served = place.serve(&["--metrics"]);
    assert_checked(&served.get("metrics").content);
    for path in ["small.txt", "absent", "folder", "\"a\\b", "%0a", "{*path}", "a\u{20ac}\u{2028}"] {
        for method in ["GET", "HEAD", "POST", "BREW"] {
            let _ = served.ask(method, path, &[]);
        }
    }
    assert_eq!(served.ask("POST", "metrics", &[]).status, 405);
    let text = served.get("metrics").text();
    assert!(
        text.contains("http_requests_total{route=\"/{*path}\",method=\"GET\",status=\"2xx\"} 1\n"),
        "{text}"
    );
    assert_checked(text.as_bytes());
    // The check is one.
    assert_ne!(check(b"# TYPE a_total counter\na_total 1\n").code, Some(0));
    assert_ne!(check(b"a{b=\"c\"} one\n").code, Some(0));
}

#[test]
fn prometheus_reads_what_an_echo_was_asked() {
    if environment::no_peers() {
        return;
    }
    let certificates = Certificates::new();
    let echo = Echo::start_with(&certificates, |command| {
        let _ = command.arg("--metrics=/-/metrics");
    });
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        let _ = curl::fetch(&echo.url(&reach, "a"), &reach, &["-d", "content"]).expect_success();
        let metrics = curl::fetch(&echo.url(&reach, "-/metrics"), &reach, &[]).expect_success();
        assert!(metrics.text().contains("method=\"POST\""), "{metrics}");
        assert_checked(&metrics.stdout);
    }
}

#[test]
fn prometheus_reads_what_a_store_was_asked() {
    if environment::no_peers() {
        return;
    }
    let folder = Folder::new();
    for folder in [None, Some(folder.path())] {
        let store = Store::start_with(folder, &[], &["--metrics"]);
        let url = |path: &str| format!("http://127.0.0.1:{}/{path}", store.port());
        let fetch = |path: &str, options: &[&str]| {
            curl::fetch(&url(path), &Reach::Clear, options).expect_success().text()
        };
        assert_checked(fetch("metrics", &[]).as_bytes());
        let _ = fetch("buckets/b/keys/k", &["-X", "PUT", "-d", "value", "-H", "content-type: text/plain"]);
        for path in [
            "buckets/b/keys/k",
            "buckets/b/keys?keys=true",
            "buckets?buckets=true",
            "buckets/b/index/a_bin/b",
        ] {
            let _ = fetch(path, &[]);
        }
        let text = fetch("metrics", &[]);
        let engine = if folder.is_some() { "fjall" } else { "memory" };
        for call in ["write", "get", "keys", "buckets", "entries"] {
            let line =
                format!("store_engine_calls_total{{engine=\"{engine}\",call=\"{call}\",outcome=\"ok\"}} 1\n");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(text.contains("http_requests_total{route=\"/buckets/{bucket}/keys\","), "{text}");
        assert_checked(text.as_bytes());
    }
}
