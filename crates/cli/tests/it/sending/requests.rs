//! `alula get`, `post`, `put`, `delete` and `head` against `alula echo`, in clear text and over TLS.

use std::{io::Write as _, process::Stdio};

use crate::support::{Echo, Folder, alula, noise, read_some, run, run_with, wait};
use serde_json::{Value, json};

fn described(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(stdout)))
}

#[test]
fn http_1_1_is_spoken_in_clear_text_and_where_it_is_asked_for() {
    let echo = Echo::start(&["--self-signed"]);
    let https = echo.http.replace("http:", "https:");
    for (args, version) in [
        (&["get", "-i", &*echo.http][..], "HTTP/1.1"),
        (&["get", "-i", "--http1.1", "-k", &https], "HTTP/1.1"),
        (&["get", "-i", "-k", &https], "HTTP/2"),
        (&["get", "-i", "--http2-prior-knowledge", &echo.http], "HTTP/2"),
    ] {
        let ended = run(args).expect(0);
        let text = ended.text();
        assert!(text.starts_with(&format!("{version} 200 OK\n")), "{args:?}: {text}");
        assert!(
            text.contains(&format!("{{\"version\":\"{version}\",\"method\":\"GET\"")),
            "{args:?}: {text}"
        );
    }
}

#[test]
fn a_request_without_content_is_described() {
    let echo = Echo::start(&[]);
    let args =
        ["-H", "X-Odd:  a\"b\\c é ", "-H", "accept: text/html", "-H", "x-odd: again", "-H", "x-empty;"];
    let about = described(&echo.ask("get", "/some/path?with=query", &args).expect(0).stdout);
    assert_eq!(about["version"], "HTTP/2");
    assert_eq!(about["method"], "GET");
    assert_eq!(about["target"], "/some/path?with=query");
    assert_eq!(about["scheme"], "http");
    assert_eq!(format!("http://{}", about["authority"].as_str().unwrap()), echo.http);
    assert!(about["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    // The bytes of é, one character each.
    let fields = json!([
        ["user-agent", concat!("alula/", env!("CARGO_PKG_VERSION"))],
        ["x-odd", "a\"b\\c \u{c3}\u{a9}"],
        ["accept", "text/html"],
        ["x-odd", "again"],
        ["x-empty", ""],
    ]);
    assert_eq!(about["fields"], fields);
}

#[test]
fn each_method_is_itself() {
    let echo = Echo::start(&[]);
    for (method, name) in [("get", "GET"), ("post", "POST"), ("put", "PUT"), ("delete", "DELETE")] {
        let about = described(&echo.ask(method, "/", &[]).expect(0).stdout);
        assert_eq!(about["method"], name);
        let states_length = about["fields"].as_array().unwrap().contains(&json!(["content-length", "0"]));
        assert_eq!(states_length, ["POST", "PUT"].contains(&name), "RFC 9110 §8.6: {about}");
    }
}

#[test]
fn head_prints_the_head_and_include_both() {
    let echo = Echo::start(&[]);
    let head = echo.ask("head", "/", &[]).expect(0);
    let lines: Vec<&str> = head.text().lines().collect();
    assert_eq!(lines[..2], ["HTTP/2 200 OK", "content-type: application/json"]);
    assert!(lines[2].starts_with("content-length: ") && lines[2] != "content-length: 0", "{}", lines[2]);
    assert!(head.text().ends_with("\n\n"), "the head only: {}", head.text());

    let both = echo.ask("post", "/", &["-i", "-H", "content-type: text/x-odd", "-d", "one\n\ntwo"]).expect(0);
    let (head, content) = both.text().split_once("\n\n").unwrap();
    assert!(head.starts_with("HTTP/2 200 OK\ncontent-type: text/x-odd\ncontent-length: 8\n"), "{head}");
    assert_eq!(content, "one\n\ntwo");
}

#[test]
fn content_comes_back_from_a_text_a_file_and_stdin() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("content"));
    let bytes = noise(3 * 1024 * 1024 + 7);
    let file = format!("@{}", folder.write("data", &bytes));
    for method in ["post", "put", "delete"] {
        assert_eq!(echo.ask(method, "/", &["-d", "a text"]).expect(0).text(), "a text");
    }
    assert!(echo.ask("put", "/", &["--data", &file]).expect(0).stdout == bytes, "the file's bytes come back");
    let url = format!("{}/", echo.http);
    let args = ["post", "--http2-prior-knowledge", &url, "-d", "@-", "-H", "content-type: x/y", "-i"];
    let ended = run_with(&args, &bytes).expect(0);
    assert!(
        ended.stdout.ends_with(&bytes) && ended.stdout.starts_with(b"HTTP/2 200 OK\ncontent-type: x/y\n")
    );
    let empty = folder.write("empty", "");
    let about = described(&echo.ask("post", "/", &["-d", &format!("@{empty}")]).expect(0).stdout);
    assert!(about["fields"].as_array().unwrap().contains(&json!(["content-length", "0"])), "{about}");
}

#[test]
fn content_goes_to_a_file_that_is_made_when_the_response_begins() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("output"));
    let bytes = noise(1024 * 1024);
    let file = format!("@{}", folder.write("data", &bytes));
    let out = folder.path("out");
    let ended = echo.ask("post", "/", &["-d", &file, "-o", &out]).expect(0);
    assert!(ended.stdout.is_empty() && ended.stderr.is_empty());
    assert!(folder.read("out") == bytes);
    echo.ask("head", "/", &["-o", &out]).expect(0);
    assert!(folder.read("out").starts_with(b"HTTP/2 200 OK\n"), "made anew");
    assert!(!echo.ask("get", "/", &["-o", "-"]).expect(0).stdout.is_empty());

    let never = folder.path("never");
    run(&["get", "--http2-prior-knowledge", "http://127.0.0.1:1/", "-o", &never]).expect(3);
    assert!(!std::path::Path::new(&never).exists());
}

#[test]
fn over_tls_an_untrusted_certificate_is_refused_unless_told_otherwise() {
    let echo = Echo::start(&["--self-signed"]);
    let url = format!("{}/x", echo.https.as_deref().unwrap());
    let refused = run(&["get", &url]).expect(4);
    let said = "/x: certificate not trusted: unknown issuer (use --cacert FILE to trust its CA)";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(refused.stdout.is_empty());
    let about = described(&run(&["get", "-k", &url]).expect(0).stdout);
    assert_eq!((&about["scheme"], &about["target"]), (&json!("https"), &json!("/x")));
    // Clear text lives on the same port.
    echo.ask("get", "/", &[]).expect(0);
}

#[test]
fn over_tls_a_certificate_from_a_file_is_trusted() {
    let folder = Folder::new("tls");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let echo = Echo::start(&["--cert", &cert, "--key", &key]);
    let bytes = noise(1024 * 1024 + 1);
    let file = format!("@{}", folder.write("data", &bytes));
    let url = echo.https.as_deref().unwrap();
    let ended = run(&["post", "--cacert", &cert, "-d", &file, url]).expect(0);
    assert!(ended.stdout == bytes);
    run(&["get", "--cacert", &cert, &url.replace("127.0.0.1", "localhost")]).expect(0);
    run(&["get", "--cacert", &key, url]).expect(2);
    run(&["get", "--cacert", "/no such file", url]).expect(1);
}

#[test]
fn verbose_twice_shows_each_frame_in_both_directions_on_one_line() {
    let echo = Echo::start(&[]);
    let ended = echo.ask("post", "/", &["-vv", "-d", "four"]).expect(0);
    assert_eq!(ended.text(), "four", "stdout holds the content alone");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let starts = ["send ", "recv ", "*", ">", "<"];
    assert!(lines.iter().all(|line| starts.iter().any(|start| line.starts_with(start))), "{lines:#?}");
    for frame in [
        "send SETTINGS stream=0",
        "send HEADERS stream=1",
        "send DATA stream=1 length=4 END_STREAM",
        "recv SETTINGS stream=0",
        "recv HEADERS stream=1",
        "recv DATA stream=1 length=4 END_STREAM",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(frame)), "{frame}: {lines:#?}");
    }
    assert_eq!(echo.ask("get", "/", &[]).expect(0).stderr, "");
}

#[test]
fn any_status_is_a_whole_response() {
    let echo = Echo::start(&["--max-body", "10"]);
    let stated = echo.ask("post", "/", &["-i", "-d", "eleven octe"]).expect(0);
    assert!(stated.text().starts_with("HTTP/2 413 "), "{}", stated.text());
    let url = format!("{}/", echo.http);
    let args = ["post", "--http2-prior-knowledge", "-i", &url, "-T", "-"];
    let found_out = run_with(&args, &noise(1024 * 1024)).expect(0);
    assert!(found_out.text().starts_with("HTTP/2 413 "), "{}", found_out.text());
    assert_eq!(echo.ask("post", "/", &["-d", "ten bytes"]).expect(0).text(), "ten bytes");
}

#[test]
fn a_reader_that_has_gone_ends_it_quietly() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("reader"));
    let file = format!("@{}", folder.write("data", noise(8 * 1024 * 1024)));
    let mut child = alula(&["post", "--http2-prior-knowledge", "--max-time", "50", &echo.http, "-d", &file])
        .spawn()
        .unwrap();
    read_some(&mut child, 10);
    drop(child.stdout.take());
    let ended = wait(child).expect(1);
    assert_eq!(ended.stderr, "");
}

#[test]
fn content_is_written_as_it_comes() {
    let echo = Echo::start(&[]);
    // What a pipe holds goes out while the pipe is still open; the echo answers once it has ended.
    let args = ["post", "--http2-prior-knowledge", "--max-time", "50", &echo.http, "-vv", "-T", "-"];
    let mut child = alula(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"first").unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("send DATA stream=1 length=5") {
        line.clear();
        let read = std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
        assert!(read > 0, "the first bytes leave before the last are there");
    }
    stdin.write_all(b" last").unwrap();
    drop(stdin);
    let rest = std::thread::spawn(move || drop(std::io::copy(&mut stderr, &mut std::io::sink())));
    assert_eq!(wait(child).expect(0).text(), "first last");
    rest.join().unwrap();
}

#[test]
fn stdin_is_waited_for_as_long_as_max_time_says() {
    for args in [
        &["post", "-d", "@-"][..],
        &["post", "-d", "a", "-d", "@-"],
        &["post", "--data-urlencode", "a@-"],
        &["get", "-G", "-d", "@-"],
        &["post", "--json", "@-"],
        &["post", "--part", "a=@-"],
        &["post", "@-"],
        &["put", "-T", "-", "-L"],
        &["put", "-T", "-", "--retry", "1", "--retry-all-errors"],
        &["put", "-T", "-", "--digest", "-u", "a:b"],
    ] {
        let (_, rest) = args.split_at(1);
        let all = [&args[..1], &["-m", "0.2", "http://127.0.0.1:1/"], rest].concat();
        let mut child = alula(&all).stdin(Stdio::piped()).spawn().unwrap();
        // It stays open.
        let stdin = child.stdin.take();
        let ended = wait(child).expect(6);
        assert_eq!(ended.stderr, "alula: stdin has not ended within 0.2 s (-m)\n", "{args:?}");
        drop(stdin);
    }
}

#[test]
fn data_of_stdin_is_encoded_as_a_files_is() {
    let echo = Echo::start(&[]);
    let ended = run_with(&["post", &echo.http, "--data-urlencode", "a@-"], b"b c&d").expect(0);
    assert_eq!(ended.text(), "a=b+c%26d");
}

/// The most memory that the program has held when a server has all of its content, beyond that of one
/// with no content.
#[cfg(target_os = "linux")]
fn held_beyond(args: &[&str], content: usize) -> usize {
    let peak = |content: usize| {
        let (listener, id) =
            (std::net::TcpListener::bind("127.0.0.1:0").unwrap(), std::sync::mpsc::channel());
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            read_request(&mut socket);
            let id: u32 = id.1.recv().unwrap();
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
        });
        let mut child =
            alula(&[&args[..1], &[&url], &args[1..]].concat()).stdin(Stdio::piped()).spawn().unwrap();
        id.0.send(child.id()).unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let piece = vec![b'a'; 1 << 20];
        (0..content >> 20).for_each(|_| stdin.write_all(&piece).unwrap());
        drop(stdin);
        wait(child).expect(0);
        served.join().unwrap()
    };
    peak(content).saturating_sub(peak(0))
}

/// Reads a head and the content that it states the length of.
#[cfg(target_os = "linux")]
fn read_request(socket: &mut std::net::TcpStream) {
    use std::io::Read as _;
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let read = std::io::copy(&mut socket.take(length.parse().unwrap()), &mut std::io::sink()).unwrap();
    assert_eq!(read.to_string(), length);
}

#[cfg(target_os = "linux")]
#[test]
fn content_of_stdin_is_held_once() {
    const CONTENT: usize = 48 << 20;
    for args in [
        &["put", "-L", "-T", "-"][..],
        &["put", "--retry", "1", "-T", "-"],
        &["put", "--digest", "-u", "a:b", "-T", "-", "-H", "authorization: none"],
        &["post", "-d", "@-"],
        &["post", "--json", "@-"],
        &["post", "-L", "--json", "@-"],
        &["post", "--part", "a=@-"],
        &["post", "--retry", "1", "--retry-all-errors", "-d", "@-"],
    ] {
        let held = held_beyond(args, CONTENT);
        println!("{args:?}: {} MiB for {} MiB", held >> 20, CONTENT >> 20);
        assert!(held < CONTENT + CONTENT / 4, "{args:?}: {held} bytes for {CONTENT}");
    }
}

#[cfg(unix)]
#[test]
fn echo_ends_when_told_to() {
    use std::process::Command;
    for signal in ["-TERM", "-INT"] {
        let mut echo = Echo::start(&[]);
        echo.ask("get", "/", &[]).expect(0);
        let told = Command::new("kill").args([signal, &echo.child.id().to_string()]).status();
        assert!(told.is_ok_and(|status| status.success()));
        let child = std::mem::replace(&mut echo.child, alula(&["--version"]).spawn().unwrap());
        wait(child).expect(0);
    }
}
