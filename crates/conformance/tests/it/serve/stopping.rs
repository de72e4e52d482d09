//! `alula echo` told to stop while it does not run: those who have connected before, each with a request, are answered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use alula_conformance::alula::Echo;
use alula_conformance::certificates::Certificates;
use alula_conformance::poll;

const CONNECTIONS: usize = 50;
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn those_who_connected_before_the_stop_are_answered() {
    let mut echo = Echo::start(&Certificates::new());
    signal(&echo, "STOP");
    wait_until_stopped(echo.id());
    let mut sockets: Vec<TcpStream> = (0..CONNECTIONS).map(|_| ask(echo.port())).collect();
    signal(&echo, "TERM");
    signal(&echo, "CONT");
    let ends: Vec<String> = sockets.iter_mut().map(end).collect();
    let answered = ends.iter().filter(|end| end.starts_with("HTTP/1.1 200 ")).count();
    assert_eq!(answered, CONNECTIONS, "the last one: {:?}", ends.last());
    assert!(poll::within(PATIENCE, || (!echo.is_running()).then_some(())).is_some(), "it still runs");
}

fn ask(port: u16) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("the backlog has room");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes its options");
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("the system takes it");
    socket
}

/// What was read by the end of the connection, and how that ended if not well.
fn end(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match socket.read_to_end(&mut bytes) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => error.to_string(),
    }
}

fn signal(echo: &Echo, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &echo.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
}

fn wait_until_stopped(id: u32) {
    let state =
        || std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?.split(' ').nth(2).map(str::to_owned);
    let stopped = poll::within(PATIENCE, || state().filter(|state| state == "T"));
    assert!(stopped.is_some(), "it runs on");
}
