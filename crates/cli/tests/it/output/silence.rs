//! `-s` and `-S`: what is still said by a program that is to say nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;

use crate::support::{PATIENCE, alula, answering, answering_each, run, wait};

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

#[test]
fn the_first_failure_of_several_is_said_when_it_happens_and_once() {
    for flags in [&[][..], &["-sS"], &["-Z"]] {
        let slow = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, refused) = (format!("http://{}/", slow.local_addr().unwrap()), "http://127.0.0.1:1/");
        let mut child = alula(&[&["get", refused, &url][..], flags].concat()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (said, first) = channel();
        let rest = thread::spawn(move || {
            let (mut line, mut rest) = (String::new(), String::new());
            stderr.read_line(&mut line).unwrap();
            said.send(line).unwrap();
            stderr.read_to_string(&mut rest).unwrap();
            rest
        });
        let line = first.recv_timeout(PATIENCE);
        // Only now the second one is answered.
        let (mut socket, _) = slow.accept().unwrap();
        let read = socket.read(&mut [0; 4096]).unwrap();
        assert!(read > 0, "a request");
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine").unwrap();
        assert_eq!(wait(child).expect(3).text(), "fine");
        let line = line.expect("the failure is said before the second request has ended");
        assert!(line.starts_with("alula: GET http://127.0.0.1:1/: could not connect"), "{flags:?}: {line}");
        assert_eq!(rest.join().unwrap(), "", "{flags:?}");
    }
    let several =
        ["get", "http://127.0.0.1:1/", "--next", "-f", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"];
    let ended = run(&several).expect(3);
    assert_eq!(ended.stderr.matches("could not connect").count(), 3, "{}", ended.stderr);
}

#[test]
fn a_request_that_is_tried_again_is_told_of_unless_nobody_wants_to_hear() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
    let fine = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine";
    for method in [&["get"][..], &["put", "-d", "content"]] {
        for (flags, is_told) in [(&[][..], true), (&["-s"], false), (&["-sS"], false)] {
            let url = answering_each([busy, fine]);
            let again = ["--retry", "1", "--retry-delay", "0.01"];
            let ended = run(&[method, &[&url], &again, flags].concat()).expect(0);
            assert_eq!(ended.text(), "fine");
            let named = method[0].to_ascii_uppercase();
            let line = format!("alula: {named} {url}: the server answered 503 Service Unavailable");
            let line = format!("{line}; trying again in 0.01 s\n");
            assert_eq!(ended.stderr, if is_told { &*line } else { "" }, "{flags:?}");
        }
    }
    let refused = run(&["get", "http://127.0.0.1:1/?a=b", "--retry", "1", "--retry-delay", "0.01"]).expect(3);
    let lines: Vec<&str> = refused.stderr.lines().collect();
    let [first, second] = lines[..] else { panic!("{lines:?}") };
    let failed = "alula: GET http://127.0.0.1:1/?a=…: could not connect";
    assert!(first.starts_with(failed) && first.ends_with("; trying again in 0.01 s"), "{first}");
    assert!(second.starts_with(failed) && !second.contains("again"), "{second}");
    // -v has a line for it already.
    let told = run(&["get", "-v", "http://127.0.0.1:1/", "--retry", "1", "--retry-delay", "0.01"]).expect(3);
    assert_eq!(told.stderr.matches("again in 0.01 s").count(), 1, "{}", told.stderr);
}
