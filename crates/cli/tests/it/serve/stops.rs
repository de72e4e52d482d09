//! The end of a server by a signal, while requests are under way.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use crate::support::{Echo, Folder, PATIENCE};

/// Sends a request whose answer is put off, over a connection of its own, and waits until the server has it.
fn put_off(server: &Echo) -> TcpStream {
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = "POST /slow HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; 25];
    socket.read_exact(&mut interim).unwrap();
    assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n");
    socket.write_all(b"slow").unwrap();
    socket
}

fn first_line(server: &mut Echo) -> String {
    let mut line = String::new();
    BufReader::new(server.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_stop_that_takes_long_says_what_it_waits_for() {
    for (requests, waiting) in [(1, "1 request"), (3, "3 requests")] {
        let mut server = Echo::start(&["--delay", "3s"]);
        let sockets: Vec<_> = (0..requests).map(|_| put_off(&server)).collect();
        server.signal("INT");
        let line = first_line(&mut server);
        let expected = format!(
            "alula: waiting for {waiting} to end, 9.5 s at most; a second Ctrl-C ends the program at once\n"
        );
        assert_eq!(line, expected);
        for mut socket in sockets {
            let mut answer = String::new();
            socket.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nslow"), "{answer}");
        }
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let mut server = Echo::start(&["--delay", "1h"]);
    let _socket = put_off(&server);
    server.signal("INT");
    let line = first_line(&mut server);
    assert!(line.contains("a second Ctrl-C"), "{line}");
    let begun = Instant::now();
    server.signal("INT");
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn a_stop_that_is_quick_says_nothing() {
    let server = Echo::start(&[]);
    server.expect("GET", "/get", &[], 200);
    // A connection that nothing is asked on.
    let _idle = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    assert_eq!(server.stop().0, "");
}

/// Tools that rotate logs send SIGHUP or SIGUSR1 to every server, and those that upgrade programs SIGUSR2.
#[test]
fn signals_of_rotation_end_no_server() {
    let folder = Folder::new("signals");
    let servers =
        [Echo::start(&[]), Echo::serving(&folder, &["--access-log"]), Echo::storing(&["--engine=memory"])];
    for server in servers {
        for name in ["HUP", "USR1", "USR2"] {
            server.signal(name);
            server.ask("GET", "/", &[]).expect(0);
        }
        server.stop();
    }
}

#[test]
fn a_terminal_that_goes_away_lets_requests_end() {
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut server = Echo::start_on(terminal.slave, &["--delay", "1s"]);
    let mut socket = put_off(&server);
    // The system and a shell both say so.
    server.signal("HUP");
    let line = first_line(&mut server);
    assert!(line.starts_with("alula: waiting for 1 request to end"), "{line}");
    server.signal("HUP");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nslow"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
