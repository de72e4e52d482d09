//! No credential that the program is given is shown: not in what it says when something is wrong, nor in its
//! figures and its log.

use crate::support::{Echo, alula, answering, run, wait};

const SECRET: &str = "s3cret";
const BASIC: &str = "czNjcmV0OnMzY3JldA==";

#[track_caller]
fn check(arguments: &[&str], stderr: &str) {
    assert!(!stderr.is_empty(), "{arguments:?} says nothing");
    assert!(![SECRET, BASIC].iter().any(|secret| stderr.contains(secret)), "{arguments:?}: {stderr}");
}

#[test]
fn what_goes_wrong_is_said_without_secrets() {
    let cut = answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").replace("//", "//s3cret:s3cret@");
    let cut = format!("{cut}?a=s3cret&s3cret#s3cret");
    for arguments in [
        &["get", "http://s3cret:s3cret@127.0.0.1:1/?a=s3cret"][..],
        &["get", "http://s3cret:s3cret@127.0.0.1:x/?a=s3cret"],
        &["get", "http://s3cret:s3/cret@127.0.0.1:x/?a=s3cret"],
        &["get", "ftp://s3cret@a/?s3cret"],
        &["get", "-x", "http://s3cret:s3cret@127.0.0.1:1", "http://a/?a=s3cret"],
        &["get", "-x", "ftp://s3cret:s3cret@127.0.0.1:1", "http://a/?a=s3cret"],
        &["get", "-x", "socks5h://s3cret:s3cret@127.0.0.1:1", "http://a/?a=s3cret"],
        &["get", "-u", "s3cret:s3cret", "http://127.0.0.1:1/"],
        &["get", "-u", "s3cret", "http://127.0.0.1:1/"],
        &["get", "-H", "authorization: s3cret", "-b", "a=s3cret", "http://127.0.0.1:1/"],
        &["get", "-H", "authorization: s3cret\r", "http://127.0.0.1:1/"],
        &["get", &cut],
        &["get", "--timing", &cut],
    ] {
        check(arguments, &run(arguments).stderr);
    }
}

#[test]
fn a_proxy_of_the_environment_is_named_without_its_password() {
    for (proxy, sentence) in [
        (
            "http://s3cret:s3cret@a:99999",
            "http://…@a:99999 of the variable http_proxy: the port 99999 is above 65535",
        ),
        ("http://s3cret:s3cret@127.0.0.1:1", "could not reach the proxy 127.0.0.1:1: "),
    ] {
        let arguments = ["get", "http://a.example/?a=s3cret"];
        let ended = wait(alula(&arguments).env("http_proxy", proxy).spawn().unwrap());
        check(&arguments, &ended.stderr);
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
    }
}

#[test]
fn times_and_heads_are_shown_without_secrets() {
    let echo = Echo::start(&[]);
    let url = format!("{}?a=s3cret", echo.http.replace("//", "//s3cret:s3cret@"));
    let arguments = ["get", "--timing", "-o", "/dev/null", "-H", "cookie: a=s3cret", &url];
    check(&arguments, &run(&arguments).expect(0).stderr);
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        let arguments = ["get", version, "-v", "-H", "private-token: s3cret", "-b", "a=s3cret; s3cret", &url];
        check(&arguments, &run(&arguments).expect(0).stderr);
    }
}
