//! What `alula serve` says of an answer that it cannot end.
#![forbid(unsafe_code)]

mod support;

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use support::{Echo, Folder};

/// The file is cut while it is sent: its reader sees a broken answer, and whoever runs the server is told which file it was.
#[test]
fn a_file_that_shrinks_while_it_is_sent_is_told_with_its_name() {
    const OCTETS: u64 = 300 << 20;
    let folder = Folder::new("shrinks");
    let path = folder.write("large", "");
    File::options().write(true).open(&path).unwrap().set_len(OCTETS).unwrap();
    let mut server = Echo::serving(&folder, &[]);
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.write_all(b"GET /large?token=secret HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    socket.read_exact(&mut [0; 1024]).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let mut read = Vec::new();
    // It may be reset as well.
    let _ = socket.read_to_end(&mut read);
    assert!((read.len() as u64) < OCTETS, "the answer is broken off");
    // The line was written before the answer was broken off.
    server.child.kill().unwrap();
    let mut line = String::new();
    BufReader::new(server.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("alula: GET /large?token=… from 127.0.0.1:"), "{line:?}");
    assert!(line.contains("over HTTP/1.1: large: "), "{line:?}");
}
