//! `alula inspect` and `alula hpack explain`.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::support::{Echo, Folder, PATIENCE, run, run_with};

/// The bytes of a connection, those of the client first.
type Recorded = (Vec<u8>, Vec<u8>);

/// Passes bytes on, and gives those of each direction once both have ended.
fn record(server: &str) -> (String, thread::JoinHandle<Recorded>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = server.trim_start_matches("http://").to_owned();
    let recorded = thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(server).unwrap();
        let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let up = thread::spawn(move || copy(from, to));
        let down = copy(server, client);
        (up.join().unwrap(), down)
    });
    (url, recorded)
}

fn copy(mut from: TcpStream, mut to: TcpStream) -> Vec<u8> {
    from.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        let _ = to.write_all(&buffer[..count]);
    }
    let _ = to.shutdown(Shutdown::Write);
    bytes
}

#[test]
fn a_connection_of_our_own_is_explained_without_a_fault() {
    let server = Echo::start(&[]);
    let (url, recorded) = record(&server.http);
    let urls = ["a", "b", "c"].map(|path| format!("{url}/{path}"));
    let args = ["--http2-prior-knowledge", "-H", "authorization: Bearer s3cret", "-d", "content"];
    run(&[&["post", &urls[0], &urls[1], &urls[2]], &args[..]].concat()).expect(0);
    let (up, down) = recorded.join().unwrap();
    let folder = Folder::new("inspect");
    let (client, server) = (folder.write("client", &up), folder.write("server", &down));
    let ended = run(&["inspect", &client, &server]).expect(0);
    let text = ended.text();
    for words in [
        ">      0  preface\n>     24  SETTINGS stream=0 ",
        ":path: /a  <- ",
        ":path: /b  <- ",
        "authorization: Bearer …  <- ",
        "<           :status: 200  <- 88: index 8 (static)\n",
        "END_STREAM",
        "(dynamic)",
    ] {
        assert!(text.contains(words), "{words:?}: {text}");
    }
    assert!(!text.contains("s3cret"), "{text}");
    // The other order says the same, and so does stdin.
    let alone = run_with(&["inspect", "-"], &down).expect(0);
    assert!(text.ends_with(alone.text()), "{}", alone.text());
    let turned = run(&["inspect", &server, &client]).expect(0);
    assert_eq!(
        turned.text(),
        text.split_at(text.find("\n<").unwrap() + 1).1.to_owned() + &text[..=text.find("\n<").unwrap()]
    );
    assert!(run(&["inspect", "--show-secrets", &client]).expect(0).text().contains("Bearer s3cret  <- "));
}

#[test]
fn faults_end_with_a_code_and_a_sentence() {
    let ended = run_with(&["inspect", "-"], b"0000: 00 00 01 01 04 00 00 00 01 80\n").expect(5);
    assert!(ended.text().contains("\n! the header block is malformed: "), "{}", ended.text());
    assert_eq!(ended.stderr, "alula: there is a fault, in the line that begins with !\n");
    let ended = run_with(&["inspect", "-"], b"GET / HTTP/1.1\r\n\r\n").expect(1);
    assert_eq!(ended.stderr, "alula: -: this is HTTP/1.1, which has no frames\n");
    assert_eq!(run(&["inspect", "/nowhere/at/all"]).expect(1).text(), "");
    run(&["inspect"]).expect(2);
}

#[test]
fn blocks_share_a_table() {
    let ended = run(&["hpack", "explain", "--table", "4003616263016e", "82be"]).expect(0);
    let expected = "\
block 1, 7 bytes
  abc: n  <- 40 03 61 62 63 01 6e: entered into the table, name of 3 bytes, value of 1 byte
  table: 1 entry, 36 of 4096 bytes
    62  abc: n
block 2, 2 bytes
  :method: GET  <- 82: index 2 (static)
  abc: n  <- be: index 62 (dynamic)
  table: 1 entry, 36 of 4096 bytes
    62  abc: n
";
    assert_eq!(ended.text(), expected);
    assert!(run(&["hpack", "explain", "4"]).expect(2).stderr.contains("hexadecimal digits"));
    run(&["hpack", "explain", "80"]).expect(5);
}
