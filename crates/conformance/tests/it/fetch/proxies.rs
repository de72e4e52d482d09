//! `alula get` by proxies that other people wrote: forward, tunnel, TLS to the proxy, SOCKS5; what arrives is
//! compared byte by byte, and the proxy's own log says that it was gone by.

use std::cell::Cell;
use std::process::Command;
use std::time::Duration;

use alula_conformance::alula;
use alula_conformance::beside_curl::rows::GO;
use alula_conformance::beside_curl::server::{Server, Way};
use alula_conformance::environment;
use alula_conformance::folder::Folder;
use alula_conformance::outcome::{self, Outcome};
use alula_conformance::peers::proxies::{self, Account, Proxy};
use alula_conformance::poll;
use alula_conformance::site::{Site, assert_same, bytes};

/// tinyproxy's configuration takes no other signs.
const ACCOUNT: Account = Account { user: "ann", password: "s3cret" };
/// Its password has to be escaped in a URL.
const ODD_ACCOUNT: Account = Account { user: "ann", password: "s3cr:t" };
const UPLOAD_BYTES: usize = 1024 * 1024;
/// The time in which a line of a proxy is read that it has written.
const LOG_MAX: Duration = Duration::from_secs(20);

/// Gets a small and a large file and sends one, by the proxy at this URL, in every way.
fn goes_by(server: &Server, ways: &[Way], proxy: &str) {
    for way in ways {
        for file in [Site::SMALL, Site::BIG] {
            let outcome = server.alula(*way, "get", file, &["-x", proxy]).expect_success();
            assert_same(&outcome.stdout, &Site::content(file), &format!("{file} by {proxy}, {way:?}"));
        }
        let (folder, sent) = (Folder::new(), bytes(3, UPLOAD_BYTES));
        let file = folder.write("upload", &sent);
        let options = ["-x", proxy, "-T", file.to_str().expect("a path that is text")];
        let outcome = server.alula(*way, "put", "whole", &options).expect_success();
        assert_same(&outcome.stdout, &sent, &format!("what was sent by {proxy}, {way:?}"));
    }
}

fn start() -> Option<Server> {
    (!environment::no_peers()).then(GO.start)
}

/// The proxy has led somebody to this port of the server. Its lines are read by another thread, so they may come late.
#[track_caller]
fn assert_led(proxy: &Proxy, words: &str) {
    let is_led = poll::within(LOG_MAX, || proxy.output().contains(words).then_some(()));
    assert!(is_led.is_some(), "no `{words}` in:\n{}", proxy.output());
}

/// The requests that tinyproxy has taken, by its log.
fn requests(proxy: &Proxy) -> usize {
    proxy.output().matches(": Request (").count()
}

#[test]
fn http_forwards_clear_text_and_tunnels_tls() {
    let Some(server) = start() else { return };
    let proxy = proxies::http(None);
    let url = format!("http://127.0.0.1:{}", proxy.port());
    goes_by(&server, &[Way::Http1, Way::Http1Tls, Way::Http2Tls], &url);
    assert_led(&proxy, &format!("GET http://127.0.0.1:{}/small.txt", server.ports.http1));
    assert_led(&proxy, &format!("CONNECT localhost:{}", server.ports.tls));
}

#[test]
fn a_proxy_is_told_who_comes_by() {
    let Some(server) = start() else { return };
    let proxy = proxies::http(Some(ACCOUNT));
    let url = format!("http://ann:s3cret@127.0.0.1:{}", proxy.port());
    goes_by(&server, &[Way::Http1, Way::Http2Tls], &url);
}

#[test]
fn a_refusal_is_told() {
    let Some(server) = start() else { return };
    let proxy = proxies::http(Some(ACCOUNT));
    let url = format!("http://127.0.0.1:{}", proxy.port());
    // What the proxy answers to a forwarded request is a response like any other.
    let forwarded = server.alula(Way::Http1, "get", Site::SMALL, &["-i", "-x", &url]).expect_success();
    assert!(forwarded.text().contains(" 407"), "{forwarded}");
    let tunnelled = server.alula(Way::Http1Tls, "get", Site::SMALL, &["-x", &url]);
    assert_eq!(tunnelled.code, Some(3), "{tunnelled}");
    assert!(tunnelled.stderr.contains("the proxy refused with 407"), "{tunnelled}");
}

#[test]
fn tls_to_the_proxy() {
    let Some(server) = start() else { return };
    let proxy = proxies::https(&server.certificates);
    let url = format!("https://localhost:{}", proxy.port());
    for way in [Way::Http1, Way::Http1Tls, Way::Http2Tls] {
        // In clear text to the origin there is still a proxy to be trusted.
        let authority = server.certificates.authority();
        let trust = ["-x", &url, "--cacert", authority.to_str().expect("a path that is text")];
        let trust = if way == Way::Http1 { &trust[..] } else { &trust[..2] };
        for file in [Site::SMALL, Site::BIG] {
            let outcome = server.alula(way, "get", file, trust).expect_success();
            assert_same(&outcome.stdout, &Site::content(file), &format!("{file} by {url}, {way:?}"));
        }
    }
    let stranger = server.alula(Way::Http1, "get", Site::SMALL, &["-x", &url]);
    assert_eq!(stranger.code, Some(4), "a proxy that is not trusted: {stranger}");
}

#[test]
fn socks() {
    let Some(server) = start() else { return };
    let open = proxies::socks(None);
    for scheme in ["socks5", "socks5h"] {
        goes_by(&server, Way::ALL, &format!("{scheme}://127.0.0.1:{}", open.port()));
    }
    assert_led(&open, "connected to 127.0.0.1");
    assert_led(&open, "connected to localhost");
    let closed = proxies::socks(Some(ODD_ACCOUNT));
    goes_by(&server, Way::OLD, &format!("socks5h://ann:s3cr%3At@127.0.0.1:{}", closed.port()));
    let refused = format!("socks5h://ann:wrong@127.0.0.1:{}", closed.port());
    let outcome = server.alula(Way::Http1, "get", Site::SMALL, &["-x", &refused]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("SOCKS"), "{outcome}");
}

#[test]
fn the_environment_names_proxies() {
    let Some(server) = start() else { return };
    let proxy = proxies::http(None);
    let proxy_url = format!("http://127.0.0.1:{}", proxy.port());
    let get = |way: Way, variables: &[(&str, &str)]| {
        let mut command = alula::command(["get", &server.url(way, Site::SMALL)]);
        command.arg("--cacert").arg(server.certificates.authority()).env_clear();
        run_in(&mut command, variables)
    };
    let before = Cell::new(0);
    let check = |way: Way, variables: &[(&str, &str)], expected: bool| {
        let outcome = get(way, variables).expect_success();
        assert_same(&outcome.stdout, &Site::content(Site::SMALL), "content");
        let came = || (requests(&proxy) > before.get()).then_some(());
        let is_led = if expected { poll::within(LOG_MAX, came).is_some() } else { came().is_some() };
        before.set(requests(&proxy));
        assert_eq!(is_led, expected, "{way:?} {variables:?}");
    };
    let at = proxy_url.as_str();
    for (way, variables, expected) in [
        (Way::Http1, &[("http_proxy", at)][..], true),
        (Way::Http1, &[("HTTP_PROXY", at)], true),
        (Way::Http1, &[("HTTP_PROXY", at), ("REQUEST_METHOD", "GET")], false),
        (Way::Http1, &[("http_proxy", at), ("HTTP_PROXY", "http://127.0.0.1:1")], true),
        (Way::Http1, &[("https_proxy", at)], false),
        (Way::Http1, &[("all_proxy", at)], true),
        (Way::Http1, &[("http_proxy", at), ("no_proxy", "127.0.0.0/8")], false),
        (Way::Http1, &[("http_proxy", at), ("no_proxy", "10.0.0.0/8,example.com")], true),
        (Way::Http1, &[("http_proxy", at), ("NO_PROXY", "*")], false),
        (Way::Http2Tls, &[("https_proxy", at)], true),
        (Way::Http2Tls, &[("HTTPS_PROXY", at), ("no_proxy", "localhost")], false),
    ] {
        check(way, variables, expected);
    }
}

fn run_in(command: &mut Command, variables: &[(&str, &str)]) -> Outcome {
    command.envs(variables.iter().copied());
    outcome::run(command, Duration::from_secs(60))
}
