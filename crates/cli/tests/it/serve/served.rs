//! What `alula serve` says of an answer that it cannot end.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::thread;

use crate::support::{Echo, Folder, PATIENCE};

/// The file is cut while it is sent: its reader sees a broken answer, and whoever runs the server is told
/// which file it was.
#[test]
fn a_file_that_shrinks_while_it_is_sent_is_told_with_its_name() {
    const BYTES: u64 = 300 << 20;
    let folder = Folder::new("shrinks");
    let path = folder.write("large", "");
    File::options().write(true).open(&path).unwrap().set_len(BYTES).unwrap();
    let mut server = Echo::serving(&folder, &[]);
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.write_all(b"GET /large?token=secret HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    socket.read_exact(&mut [0; 1024]).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let mut read = Vec::new();
    // It may be reset as well.
    let _ = socket.read_to_end(&mut read);
    assert!((read.len() as u64) < BYTES, "the answer is broken off");
    // The line was written before the answer was broken off.
    server.child.kill().unwrap();
    let mut line = String::new();
    BufReader::new(server.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("alula: GET /large?token=… from 127.0.0.1:"), "{line:?}");
    assert!(line.contains("over HTTP/1.1: large: "), "{line:?}");
}

/// Sends what `printf | nc -N` does: bytes, and the end of this side. Returns all that is answered.
fn ask_and_close(server: &Echo, bytes: &str) -> Vec<u8> {
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(bytes.as_bytes()).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut read = Vec::new();
    socket.read_to_end(&mut read).unwrap();
    read
}

/// A file is read on a thread, so that its answer is not complete in the turn of its request: such clients
/// got none.
#[test]
fn a_client_that_closes_its_side_gets_files_all_the_same() {
    let folder = Folder::new("half-closed");
    for (name, bytes) in [("small", 100), ("middle", 1 << 20), ("large", 100 << 20)] {
        let path = folder.write(name, "");
        File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
    }
    let server = Echo::serving(&folder, &["--upload"]);
    for (method, path, fields, status, bytes) in [
        ("GET", "/small", "", "200", 100),
        ("GET", "/middle", "", "200", 1 << 20),
        ("GET", "/large", "", "200", 100 << 20),
        ("HEAD", "/large", "", "200", 0),
        ("GET", "/large", "range: bytes=5-14\r\n", "206", 10),
        ("GET", "/middle", "accept-encoding: gzip\r\n", "200", 1 << 20),
        ("PUT", "/new", "content-length: 0\r\n", "201", 0),
    ] {
        // None is in memory the first time, and each may be the second.
        for _ in 0..2 {
            let read = ask_and_close(
                &server,
                &format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{fields}\r\n"),
            );
            let at = read.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            let row =
                format!("{method} {path} {fields}: {}", String::from_utf8_lossy(&read[..at.unwrap_or(0)]));
            let at = at.unwrap_or_else(|| panic!("no answer: {row}"));
            let is_second_put = method == "PUT" && read.starts_with(b"HTTP/1.1 409 ");
            assert!(read.starts_with(format!("HTTP/1.1 {status} ").as_bytes()) || is_second_put, "{row}");
            assert!(read.len() - at - 4 == bytes || is_second_put, "{row}: {} bytes", read.len() - at - 4);
        }
    }
    let listing = ask_and_close(&server, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let listing = String::from_utf8(listing).unwrap();
    assert!(listing.starts_with("HTTP/1.1 200 ") && listing.contains("middle"), "{listing}");
    let missing = ask_and_close(&server, "GET /none HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(missing.starts_with(b"HTTP/1.1 404 "), "{missing:?}");
    let several = "GET /small HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(5);
    assert_eq!(ask_and_close(&server, &several).windows(9).filter(|it| it == b"HTTP/1.1 ").count(), 5);
}

/// One that has closed its side, and then leaves altogether, is found by the next write.
#[test]
fn a_client_that_leaves_after_it_has_closed_its_side_is_sent_no_more() {
    let folder = Folder::new("left");
    let path = folder.write("large", "");
    File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    let mut server = Echo::serving(&folder, &["--log"]);
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.write_all(b"GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    socket.read_exact(&mut [0; 1024]).unwrap();
    drop(socket);
    let (tell, told) = mpsc::channel();
    let stderr = server.child.stderr.take().unwrap();
    thread::spawn(move || tell.send(BufReader::new(stderr).lines().next()));
    let line = told.recv_timeout(PATIENCE).expect("the answer ends").unwrap().unwrap();
    assert!(line.contains("/large") && !line.contains("4294967296"), "{line}");
}
