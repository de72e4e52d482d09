//! `-s` and `-S`: what is still said by a program that is to say nothing.
#![forbid(unsafe_code)]

mod support;

use support::{answering, run};

#[test]
fn mistakes_in_the_arguments_are_always_said() {
    for args in [
        &["get", "-s", "https://a/", "b=c"][..],
        &["get", "-s", "https://a/", "-C", "-"],
        &["get", "-s", "ftp://a/"],
        &["get", "-s", "https://a/", "-O"],
        &["get", "-s", "--nothing", "https://a/"],
        &["post", "-s", "https://a/", "nothing"],
        &["get", "-s", "https://a/", "-U", "n:p"],
    ] {
        let ended = run(args).expect(2);
        assert!(!ended.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn failures_of_transfers_are_said_unless_nobody_wants_to_hear() {
    let failed = || answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    for (flags, is_said) in [(&["-f"][..], true), (&["-sf"], false), (&["-sSf"], true)] {
        let ended = run(&[&["get", &failed()], flags].concat()).expect(9);
        assert_eq!(!ended.stderr.is_empty(), is_said, "{flags:?}: {}", ended.stderr);
        let ended = run(&[&["get", "http://127.0.0.1:1/"], flags].concat()).expect(3);
        assert_eq!(!ended.stderr.is_empty(), is_said, "{flags:?}: {}", ended.stderr);
    }
    // Of several the first one counts, and each is as quiet.
    let both = run(&["get", "-s", "http://127.0.0.1:1/", "http://127.0.0.1:1/"]).expect(3);
    assert_eq!(both.stderr, "");
}
