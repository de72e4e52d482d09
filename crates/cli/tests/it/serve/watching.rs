//! Notes of requests, and fields of all answers: --access-log, --metrics, --header, --cors and --log.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::support::{Echo, Folder, PATIENCE, run};
use serde_json::Value;

/// Waits until a text is as it is wanted, and hands it out.
#[track_caller]
fn until(read: impl Fn() -> String, is_wanted: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let text = read();
        if is_wanted(&text) {
            return text;
        }
        assert!(begun.elapsed() < PATIENCE, "{text}");
        #[expect(clippy::disallowed_methods, reason = "another program writes")]
        thread::sleep(Duration::from_millis(10));
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn site(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("a.txt", "content");
    folder
}

#[test]
fn the_working_folder_is_served_unless_another_one_is_named() {
    let folder = site("default-folder");
    let server = Echo::serving_here(&folder, &[]);
    assert_eq!(server.expect("GET", "/a.txt", &[], 200).1, "content");
}

#[test]
fn a_line_in_each_format_goes_where_it_is_wanted() {
    let (folder, logs) = (site("formats"), Folder::new("formats-logs"));
    let path = logs.path("log");
    for (format, expected) in [
        (&["--access-log-format=common"][..], "\"GET /a.txt?b=… HTTP/1.1\" 200 7\n"),
        (&[], "\"GET /a.txt?b=… HTTP/1.1\" 200 7 \"-\" \"u/1\"\n"),
        (&["--access-log-format", "json", "--request-id"], "\"user_agent\":\"u/1\",\"failure\":null}\n"),
    ] {
        for to in [&*format!("--access-log={path}"), "--access-log=-", "--access-log"] {
            let _ = fs::remove_file(&path);
            let server = Echo::serving(&folder, &[&[to], format].concat());
            server.expect("GET", "/a.txt?b=s3cret", &["user-agent: u/1"], 200);
            let (stderr, stdout) = server.stop();
            let line = match to {
                "--access-log" => stderr,
                "--access-log=-" => stdout,
                _ => text(&path),
            };
            assert!(line.ends_with(expected) && line.lines().count() == 1, "{to} {format:?}: {line}");
            if format.contains(&"--request-id") {
                let line: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(line["request_id"].as_str().map(str::len), Some(32), "{line}");
            }
        }
    }
}

#[test]
fn a_log_that_was_moved_away_is_opened_again_by_a_signal() {
    let (folder, logs) = (site("rotated"), Folder::new("rotated-logs"));
    let (path, moved) = (logs.path("log"), logs.path("log.1"));
    let server = Echo::serving(&folder, &[&format!("--access-log={path}")]);
    for (signal, target) in [("HUP", "/hup"), ("USR1", "/usr1")] {
        let before = format!("{target}-before");
        server.expect("GET", &before, &[], 404);
        until(|| text(&path), |lines| lines.contains(&before));
        fs::rename(&path, &moved).unwrap();
        server.expect("GET", target, &[], 404);
        until(|| text(&moved), |lines| lines.contains(&format!("GET {target} ")));
        server.signal(signal);
        until(|| fs::exists(&path).unwrap().to_string(), |is_there| is_there == "true");
        server.expect("GET", &format!("{target}-after"), &[], 404);
        let lines = until(|| text(&path), |lines| lines.contains(&format!("{target}-after")));
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(!text(&moved).contains(&format!("{target}-after")));
    }
    assert_eq!(server.stop().0, "");
}

#[test]
fn a_log_that_cannot_be_opened_again_goes_on_where_it_was() {
    let (folder, logs) = (site("not-reopened"), Folder::new("not-reopened-logs"));
    fs::create_dir(logs.path("in")).unwrap();
    let mut server = Echo::serving(&folder, &[&format!("--access-log={}", logs.path("in/log"))]);
    fs::rename(logs.path("in"), logs.path("moved")).unwrap();
    server.signal("HUP");
    let mut line = String::new();
    BufReader::new(server.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let log = logs.path("in/log");
    assert_eq!(
        line,
        format!("alula: lines of the access log go on where they went: {log}: no such file or directory\n")
    );
    server.expect("GET", "/after", &[], 404);
    server.stop();
    assert!(text(&logs.path("moved/log")).contains("GET /after "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_no_answer_and_is_told() {
    let folder = site("full");
    for format in ["combined", "json"] {
        let server = Echo::serving(&folder, &["--access-log=/dev/full", "--access-log-format", format]);
        for _ in 0..3 {
            server.expect("GET", "/a.txt", &[], 200);
        }
        let (stderr, _) = server.stop();
        let told = |line: &str| {
            let count = line.strip_prefix("alula: /dev/full: ")?.split(' ').next()?;
            line.ends_with(" lines of the access log could not be written")
                .then(|| count.parse::<u64>().ok())?
        };
        assert_eq!(
            stderr.lines().map(|line| told(line).unwrap_or_else(|| panic!("{stderr}"))).sum::<u64>(),
            3
        );
    }
}

#[test]
fn logs_that_cannot_be_opened_are_errors_and_one_that_is_served_is_told() {
    let folder = site("open");
    for log in [folder.path("absent/log"), folder.path("")] {
        let ended = run(&["serve", "--listen=127.0.0.1:0", &format!("--access-log={log}"), &folder.path("")])
            .expect(1);
        assert!(ended.stderr.starts_with(&format!("alula: {log}: ")), "{}", ended.stderr);
    }
    for (flags, log, is_told) in
        [(&[][..], "log", true), (&[], ".log", false), (&["--dot-files"], ".log", true)]
    {
        let log = format!("--access-log={}", folder.path(log));
        let (stderr, _) = Echo::serving(&folder, &[&[&*log], flags].concat()).stop();
        assert_eq!(
            stderr.contains("log is in the folder that is served: anybody can read it"),
            is_told,
            "{stderr}"
        );
    }
}

#[test]
fn no_peer_writes_a_line_of_its_own() {
    let folder = site("injected");
    let hostile = ["/%0a127.0.0.1", "/\"%0d%0a", "/a\u{85}b\u{9b}31m", "/\\x0a", "/\u{202e}"];
    for flags in [&["--access-log", "--log"][..], &["--access-log", "--access-log-format=json", "--log"]] {
        let server = Echo::serving(&folder, flags);
        for target in hostile {
            server.ask_raw("GET", target, &["user-agent: \u{9b}31m\" - -\\", "referer: http://\"\u{2028}"]);
        }
        let (stderr, _) = server.stop();
        assert!(stderr.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{stderr:?}");
        let is_line =
            |line: &&str| line.starts_with("127.0.0.1 - - [") || serde_json::from_str::<Value>(line).is_ok();
        assert_eq!(stderr.lines().filter(is_line).count(), stderr.lines().count(), "{stderr}");
        assert!(stderr.lines().count() <= 2 * hostile.len(), "{stderr}");
    }
}

#[test]
fn metrics_are_where_they_are_wanted_and_have_no_labels_of_peers() {
    let folder = site("metrics");
    folder.write("metrics", "a file");
    let plain = Echo::serving(&folder, &[]);
    assert_eq!(plain.expect("GET", "/metrics", &[], 200).1, "a file");
    for (flag, path, other) in
        [("--metrics", "/metrics", "/-/metrics"), ("--metrics=/-/m", "/-/m", "/-/metrics")]
    {
        let server = Echo::serving(&folder, &[flag]);
        for number in 0..50 {
            server.expect(&format!("BREW{number}"), &format!("/{number}?{number}"), &[], 405);
            server.expect("GET", &format!("/\"{number}\\n"), &[&format!("host{number}: a")], 404);
        }
        server.expect("GET", other, &[], 404);
        server.expect("POST", path, &[], 405);
        assert_eq!(server.expect("HEAD", path, &[], 200).1, "");
        let (head, first) = server.expect("GET", path, &[], 200);
        assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{head}");
        let sum = r#"http_requests_total{route="/{*path}",method="GET",status="4xx"} 51"#;
        assert!(first.lines().any(|line| line == sum), "{first}");
        let series = first.lines().filter(|line| line.starts_with("http_requests_total{")).count();
        assert!(series <= 5, "{first}");
    }
}

#[test]
fn probes_and_names_of_requests_are_there_when_they_are_wanted() {
    let folder = site("probes");
    let server = Echo::serving(&folder, &["--health", "--request-id"]);
    let name =
        |head: &str| head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap().to_owned();
    let (first, content) = server.expect("GET", "/healthz", &["x-request-id: mine"], 200);
    let (second, _) = server.expect("GET", "/absent", &[], 404);
    assert_eq!(content, "ok\n");
    assert!(
        name(&first).len() == 32 && name(&second).len() == 32 && name(&first) != name(&second),
        "{first}{second}"
    );
    let other = Echo::start(&["--health=/-/live", "--request-id"]);
    other.expect("GET", "/-/live", &[], 200);
    let (head, content) = other.expect("GET", "/healthz", &[], 200);
    assert!(content.contains(&format!("[\"x-request-id\",\"{}\"]", name(&head))), "{content}");
    let ended = run(&["echo", "--listen=127.0.0.1:0", "--health=/a", "--metrics=/a"]).expect(2);
    assert!(ended.stderr.contains("/a"), "{}", ended.stderr);
}

#[test]
fn words_of_other_servers_lead_to_what_is_meant() {
    let folder = site("words");
    let here = |words: &[&str]| run(&[&["serve", "--listen=127.0.0.1:0"], words].concat());
    for (words, code, advice) in [
        (&["8000"][..], 1, "perhaps --listen 8000 is meant"),
        (&["--access-log", "a.log"], 1, "perhaps --access-log=a.log is meant"),
        (&["--metrics", "/metrics"], 1, "perhaps --metrics=/metrics is meant"),
        (&["--health", "/healthz-0"], 1, "perhaps --health=/healthz-0 is meant"),
        (&["--cors", "https://a.example"], 1, "perhaps --cors=https://a.example is meant"),
        (&["--cors", "*"], 1, "perhaps --cors=* is meant"),
        (&[&folder.path(""), "8080"], 2, "--listen 8080 does so"),
        (&["--root", "a"], 2, "alula serve DIR"),
    ] {
        let ended = here(words).expect(code);
        assert!(ended.stderr.contains(advice), "{words:?}: {}", ended.stderr);
    }
    for words in [&["-s"][..], &["-s", "-s"], &["--single"], &["-H", "a: b", "-H", "c: d"]] {
        Echo::serving(&folder, words).expect("GET", "/a.txt", &[], 200);
    }
}

#[test]
fn a_field_is_in_every_answer_but_errors_unless_always() {
    let folder = site("fields");
    fs::create_dir(folder.path("folder")).unwrap();
    fields_are_added(&folder, false);
    fields_are_added(&folder, true);
}

fn fields_are_added(folder: &Folder, is_always: bool) {
    let server = Echo::serving(
        folder,
        &[
            if is_always { "--header-always" } else { "--log" },
            "--header=X-A: one",
            "--header",
            "x-a: two",
            "--header=Content-Type: text/x-odd",
            "--header=x-empty;",
            "--header=vary: cookie",
            "--cors=https://a.example",
            "--metrics",
        ],
    );
    let etag = server.expect("GET", "/a.txt", &[], 200).0;
    let etag = etag.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    for (method, target, field, status) in [
        ("GET", "/a.txt", "x: y", 200),
        ("HEAD", "/a.txt", "x: y", 200),
        ("GET", "/a.txt", &*format!("if-none-match: {etag}"), 304),
        ("GET", "/a.txt", "range: bytes=0-1", 206),
        ("GET", "/a.txt", "range: bytes=9-", 416),
        ("GET", "/a.txt", "if-match: \"b\"", 412),
        ("GET", "/folder", "x: y", 308),
        ("GET", "/folder/", "x: y", 200),
        ("GET", "/absent", "x: y", 404),
        ("GET", "/../a", "x: y", 404),
        ("POST", "/a.txt", "content-length: 0", 405),
        ("OPTIONS", "/a.txt", "x: y", 204),
        ("GET", "/metrics", "x: y", 200),
        ("BREW", "/metrics", "x: y", 501),
    ] {
        let (head, _) = server.expect(method, target, &[field], status);
        let lines = |name: &str| -> Vec<String> {
            let lines = head.lines().filter_map(|line| line.strip_prefix(&format!("{name}:")));
            lines.map(|value| value.trim().to_owned()).collect()
        };
        if status >= 400 && !is_always {
            assert!(lines("x-a").is_empty() && lines("x-empty").is_empty(), "{method} {target}: {head}");
            assert!(lines("vary") == ["origin"] && lines("content-type") != ["text/x-odd"], "{head}");
            continue;
        }
        assert_eq!(lines("x-a"), ["one", "two"], "{method} {target}: {head}");
        assert_eq!(lines("content-type"), ["text/x-odd"], "{method} {target}: {head}");
        assert_eq!(lines("x-empty"), [""], "{method} {target}: {head}");
        assert_eq!(lines("vary"), ["origin", "cookie"], "{method} {target}: {head}");
    }
}

/// A server that listens on one of two addresses, or shows one of two certificates, is a mistake that nobody
/// would see.
#[test]
fn a_flag_with_one_value_stands_once() {
    let folder = site("once");
    let config = folder.write("store.toml", "listen = '127.0.0.1:0'\nengine = 'memory'\n");
    for words in [
        &["serve", "-l", "0", "-p", "0"][..],
        &["serve", "--cert", "a", "--key", "b", "--cert", "c"],
        &["serve", "--access-log=a", "--access-log"],
        &["serve", "--metrics", "--metrics=/x", "--max-body", "x"],
        &["echo", "--listen", "0", "--port=0"],
        &["echo", "--status", "200", "--status", "201"],
        &["store", "--engine", "memory", "--engine=memory"],
        &["store", "--config", &config, "-l0", "--listen", "0"],
    ] {
        let ended = run(words).expect(2);
        assert!(ended.stderr.contains("' cannot be used multiple times\n"), "{words:?}: {}", ended.stderr);
    }
    // The line goes before the file, and switches and lists may be repeated.
    Echo::storing(&[
        "--config",
        &config,
        "--no-lists",
        "--no-lists",
        "--cors=https://a.example",
        "--cors=https://b.example",
    ])
    .stop();
}

#[test]
fn a_field_that_cannot_be_sent_is_refused_at_the_start() {
    for (field, sentence) in [
        ("x-a: b\r\nx-c: d", "value"),
        ("x-a\nb: c", "name"),
        ("x-a: s3cret\n", "value"),
        ("s3cret", "a field is written `name: value`"),
        ("x-a:", "it has no value"),
        ("Content-Length: 5", "content-length cannot be the same in all answers"),
        ("connection: close", "connection cannot be the same in all answers"),
    ] {
        for command in ["serve", "echo"] {
            let ended = run(&[command, "--listen=127.0.0.1:0", "--header", field]).expect(2);
            assert!(
                ended.stderr.contains("--header <FIELD>") && ended.stderr.contains(sentence),
                "{}",
                ended.stderr
            );
            assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
        }
    }
}

#[test]
fn pages_of_the_origins_that_were_named_may_read() {
    let folder = site("cors");
    let asks = ["access-control-request-method: GET", "access-control-request-headers: x-b"];
    for (flags, allowed, refused) in [
        (&["--cors"][..], &[("https://a.example", "*"), ("null", "*")][..], None),
        (
            &["--cors=https://A.example/", "--cors=http://localhost:3000"],
            &[("https://a.example", "https://a.example"), ("http://localhost:3000", "http://localhost:3000")],
            Some("https://b.example"),
        ),
        (&[], &[], Some("https://a.example")),
    ] {
        let server = Echo::serving(&folder, flags);
        for (origin, said) in allowed {
            let (head, _) = server.expect("GET", "/absent", &[&format!("origin: {origin}")], 404);
            assert!(head.contains(&format!("access-control-allow-origin: {said}\r\n")), "{head}");
            let preflight = [&format!("origin: {origin}"), asks[0], asks[1]];
            let (head, _) = server.expect("OPTIONS", "/a.txt", &preflight, 204);
            assert!(head.contains(&format!("access-control-allow-origin: {said}\r\n")), "{head}");
            assert!(head.contains("access-control-allow-headers: x-b\r\n"), "{head}");
        }
        if let Some(origin) = refused {
            let (head, _) = server.expect("GET", "/a.txt", &[&format!("origin: {origin}")], 200);
            assert!(!head.contains("access-control"), "{head}");
        }
    }
}

#[test]
fn an_echo_shows_each_request_with_its_fields() {
    let server = Echo::start(&["--log"]);
    let content = [
        "content-length: 4",
        "X-Odd: \u{9b}31m\u{202e} \"\\",
        "authorization: Bearer s3cret",
        "cookie: a=s3cret",
    ];
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    let fields = content.join("\r\n");
    write!(
        socket,
        "POST /a?b=s3cret HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n{fields}\r\n\r\nbody"
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("body"), "{answer}");
    server.ask("delete", "/c", &["-H", "x-two: 2"]).expect(0);
    let (stderr, _) = server.stop();
    let is_shown = |lines: &str| stderr.contains(lines);
    for lines in [
        "] POST /a?b=… HTTP/1.1\n  host: a.example\n",
        "\n  content-length: 4\n  x-odd: \\xc2\\x9b31m\\xe2\\x80\\xae \\\"\\\\\n  authorization: Bearer …\n  cookie: a=…\n",
        "\"POST /a?b=… HTTP/1.1\" 200 4 0.",
        "] DELETE /c HTTP/2\n  :scheme: http\n  :authority: 127.0.0.1:",
        "\n  x-two: 2\n",
        "\"DELETE /c HTTP/2\" 200 ",
    ] {
        assert!(is_shown(lines), "{lines:?}: {stderr}");
    }
    assert!(!is_shown("s3cret"), "{stderr}");
    let is_plain =
        |character: char| character == '\n' || character == '…' || (' '..='~').contains(&character);
    assert!(stderr.chars().all(is_plain), "{stderr:?}");
}

/// It said "cut off", as of a server that failed.
#[test]
fn what_a_client_broke_off_is_told_as_that() {
    let logs = Folder::new("broken-off-logs");
    let path = logs.path("log");
    let access_log = format!("--access-log={path}");
    let mut server = Echo::start(&["--log", &access_log, "--access-log-format=json", "--request-id"]);
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    let mut find = |part: &str| lines.find_map(|line| line.ok().filter(|line| line.contains(part)));
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.write_all(b"POST /post HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf").unwrap();
    // The log of heads tells that the handler was called.
    find("] POST /post HTTP/1.1").unwrap();
    drop(socket);
    let line = find("\"POST /post HTTP/1.1\" 0 0 ").unwrap();
    assert!(line.ends_with(" client left"), "{line}");
    let line: Value = serde_json::from_str(&until(|| text(&path), |log| log.ends_with('\n'))).unwrap();
    assert_eq!((&line["client_left"], line["request_id"].as_str().map(str::len)), (&true.into(), Some(32)));
    server.stop();
}

#[test]
fn an_echo_has_the_other_flags_too() {
    let server = Echo::start(&["--access-log=-", "--metrics=/m", "--header=x-a: b", "--cors"]);
    let (head, content) = server.expect("BREW", "/a", &["origin: https://a.example"], 200);
    assert!(head.contains("x-a: b\r\n") && head.contains("access-control-allow-origin: *\r\n"), "{head}");
    assert!(content.contains("\"method\":\"BREW\""), "{content}");
    assert!(server.expect("GET", "/m", &[], 200).1.contains("http_requests_total{"));
    let (_, stdout) = server.stop();
    assert!(
        stdout.contains("\"BREW /a HTTP/1.1\" 200 ") && stdout.contains("\"GET /m HTTP/1.1\" 200 "),
        "{stdout}"
    );
}

/// Sends bytes on a connection of their own, and reads until it is closed.
fn send(server: &Echo, bytes: &[u8]) {
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).expect("it accepts");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes the option");
    // It may close before it has read all.
    let _ = socket.write_all(bytes);
    let _ = socket.read_to_end(&mut Vec::new());
}

#[test]
fn what_is_refused_is_logged_counted_and_bounded() {
    let folder = site("refused");
    for command in ["serve", "echo", "store"] {
        let logs = Folder::new(&format!("refused-{command}"));
        let flags = [&*format!("--access-log={}", logs.path("log")), "--access-log-format=json", "--metrics"];
        let server = match command {
            "serve" => Echo::serving(&folder, &[&flags[..], &["--log"]].concat()),
            "echo" => Echo::start(&[&flags[..], &["--log"]].concat()),
            _ => Echo::storing(&[&flags[..], &["--engine=memory"]].concat()),
        };
        send(&server, b"GET /a?k=s3cret HTTP/1.1\r\nhost: a\r\nb ad: \x1b[31m\r\n\r\n");
        let line = until(|| text(&logs.path("log")), |log| log.contains('\n'));
        let line: Value = serde_json::from_str(&line).unwrap();
        let known = ["method", "target", "status"].map(|name| line[name].clone());
        assert_eq!(known, [Value::from("GET"), Value::from("/a?k=…"), Value::from(400)], "{command}: {line}");
        // More than are told of at once: the others are counted.
        for _ in 0..40 {
            send(&server, b"\x01 nonsense\r\n\r\n");
        }
        let counted = until(
            || server.expect("GET", "/metrics", &[], 200).1,
            |metrics| {
                send(&server, b"\x01 nonsense\r\n\r\n");
                metrics.contains("http_requests_refused_total{reason=\"untold\"}")
            },
        );
        assert!(counted.contains("http_requests_refused_total{reason=\"400\"} "), "{command}: {counted}");
        let log = until(|| text(&logs.path("log")), |log| log.contains("refused_left_out"));
        let refused = log.lines().filter(|line| line.contains("\"status\":400")).count();
        assert!((10..40).contains(&refused), "{command}: {log}");
        let (stderr, _) = server.stop();
        let told = "\"GET /a?k=… HTTP/1.1\" 400 0 - refused: ";
        assert_eq!(stderr.contains(told), command != "store", "{command}: {stderr}");
        assert!(!stderr.contains("s3cret") && !stderr.contains('\u{1b}'), "{command}: {stderr}");
    }
}
