//! The metrics of `alula serve` and `alula echo` are what Prometheus reads, by its own check: `promtool check metrics`.

use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::{Echo, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::peers::curl;
use alula_conformance::served::Place;
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
