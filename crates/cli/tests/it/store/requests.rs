//! `alula store`, as it is started, asked and stopped.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use crate::support::{Echo, Folder, PATIENCE, run, wait};
use alula::{Client, KnownName, Status};

const MEMORY: &str = "--engine=memory";
const TEXT: &str = "content-type: text/plain";

/// The path of a key whose bytes are all percent-encoded.
fn long_key(bytes: usize) -> String {
    format!("/buckets/b/keys/{}", "%2F".repeat(bytes))
}

/// A client that speaks this version to the server in clear text.
fn client(is_http2: bool) -> Client {
    Client::builder().http2_prior_knowledge(is_http2).build().unwrap()
}

#[test]
fn the_command_stores_reads_and_deletes() {
    let server = Echo::storing(&[MEMORY]);
    let path = "/buckets/b/keys/k";
    server.ask("put", path, &["-H", TEXT, "-d", "content"]).expect(0);
    assert_eq!(server.ask("get", path, &[]).expect(0).text(), "content");
    assert_eq!(server.expect("GET", path, &[], 200).1, "content");
    server.ask("delete", path, &[]).expect(0);
    assert_eq!(server.ask("get", path, &[]).expect(0).text(), "not found\n");
    server.expect("GET", path, &[], 404);
    let (stderr, _) = server.stop();
    assert_eq!(stderr, "");
}

#[tokio::test]
async fn a_client_stores_reads_and_deletes_in_both_versions() {
    let server = Echo::storing(&[MEMORY]);
    for is_http2 in [false, true] {
        let client = client(is_http2);
        let url = format!("{}/buckets/b/keys/k", server.http);
        let put = client.put(&url).header(KnownName::CONTENT_TYPE, "text/plain").body("content").send();
        assert_eq!(put.await.unwrap().status(), Status::NO_CONTENT);
        let mut read = client.get(&url).send().await.unwrap();
        assert_eq!(read.headers().text("content-type"), Some("text/plain"));
        assert_eq!(read.text().await.unwrap(), "content");
        assert_eq!(client.delete(&url).send().await.unwrap().status(), Status::NO_CONTENT);
        assert_eq!(client.get(&url).send().await.unwrap().status(), Status::NOT_FOUND);
    }
}

#[tokio::test]
async fn long_keys_and_heads_with_many_fields_pass() {
    let server = Echo::storing(&[MEMORY]);
    for is_http2 in [false, true] {
        let client = client(is_http2);
        let url = |bytes| format!("{}{}", server.http, long_key(bytes));
        let longest = url(65_536);
        let mut put = client.put(&longest).header(KnownName::CONTENT_TYPE, "text/plain").body("content");
        // 300 links, in fields of at most 8 kB, and as many index entries as fields.
        let links: Vec<_> = (0..300).map(|n| format!("</buckets/b/keys/{n:020}>; riaktag=\"t\"")).collect();
        for some in links.chunks(100) {
            put = put.header(KnownName::LINK, some.join(", "));
        }
        // Each row of an index has the key once more, within 256 KiB together.
        for number in 0..3 {
            put = put.header(&*format!("x-riak-index-f{number}_int"), "1");
        }
        assert_eq!(put.send().await.unwrap().status(), Status::NO_CONTENT, "{is_http2}");
        let short = url(1);
        let mut put = client.put(&short).header(KnownName::CONTENT_TYPE, "text/plain").body("content");
        for number in 0..600 {
            put = put.header(&*format!("x-riak-index-f{number}_int"), "1");
        }
        assert_eq!(put.send().await.unwrap().status(), Status::NO_CONTENT, "{is_http2}");
        let delete = client.delete(&longest).send().await.unwrap();
        assert_eq!(delete.status(), Status::NO_CONTENT, "{is_http2}");
        // A key of one byte more is a mistake; a target beyond the limit of HTTP/1.1 is not read.
        assert_eq!(client.get(&url(65_537)).send().await.unwrap().status(), Status::BAD_REQUEST);
        let beyond = client.get(&url(300_000)).send().await.unwrap().status().as_u16();
        assert_eq!(beyond, if is_http2 { 400 } else { 414 });
    }
}

#[test]
fn types_are_made_by_flags_and_by_a_file() {
    let folder = Folder::new("store-types");
    let text = "engine = 'memory'\nready = true\n[types.counters]\ndatatype = 'counter'\n[types.sets]\ndatatype = 'gset'\n";
    let file = folder.write("store.toml", text);
    let server = Echo::storing(&["--config", &file, "--type", "sets={\"datatype\":\"set\"}"]);
    for (bucket_type, datatype) in [("counters", "counter"), ("sets", "set")] {
        let (_, props) = server.expect("GET", &format!("/types/{bucket_type}/props"), &[], 200);
        let expected = format!("\"datatype\":\"{datatype}\"");
        assert!(props.contains(&expected), "{bucket_type}: {props}");
    }
    server.expect("GET", "/types/maps/props", &[], 404);
    server.expect("GET", "/readyz", &[], 200);
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let folder = Folder::new("store-mistakes");
    let (file, absent) = (folder.write("file", ""), folder.path("absent.toml"));
    let below_file = folder.path("file/data");
    let unknown = folder.write("unknown.toml", "engine = 'memory'\ncolour = 'blue'\n");
    let broken = folder.write("broken.toml", "engine = 'memory'\n\n[types\n");
    let taken = Echo::storing(&["--data", &folder.path("used")]);
    let listen = taken.http.trim_start_matches("http://");
    let (both, link, shared) = (folder.path("data"), folder.path("link"), folder.path(""));
    symlink("nowhere", &link).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
    let in_use = folder.path("./used");
    for (args, code, sentence) in [
        (
            &[][..],
            2,
            "alula: no folder for the objects is named: add --data DIR, or --engine memory to keep them until the end\n",
        ),
        (
            &[MEMORY, "--data", &both],
            2,
            "alula: --engine memory keeps nothing in a folder: leave --data out\n",
        ),
        (
            &["--data", &below_file],
            1,
            &format!("alula: cannot open the store in {below_file}: not a directory\n"),
        ),
        (&["--data", &file], 1, &format!("alula: --data takes a folder, and {file} is a file\n")),
        (
            &[MEMORY, "--slow-log", "500"],
            2,
            "error: invalid value '500' for '--slow-log <SECONDS>': a number alone is seconds",
        ),
        (&[MEMORY, "--http2"], 2, "error: unexpected argument '--http2' found\n\n  tip: both versions"),
        (&[MEMORY, "--listen", listen], 1, &format!("alula: cannot listen on {listen}: ")),
        (
            &[MEMORY, "--metrics=/buckets/m"],
            2,
            "alula: --metrics=/buckets/m would hide a path of the store: ",
        ),
        (&[MEMORY, "--ready=/ping"], 2, "alula: --ready=/ping would hide a path of the store: "),
        (
            &[MEMORY, "--ready=/a", "--health=/a"],
            2,
            "alula: --health and --ready are both at /a: name another path for one of them\n",
        ),
        (&["--data", &link], 1, &format!("alula: --data takes a folder, and {link} is a link to none\n")),
        (
            &["--data", &shared],
            1,
            &format!(
                "alula: cannot open the store in {shared}: this folder holds no objects: it has other files in it"
            ),
        ),
        (
            &["--data", &in_use],
            1,
            &format!("alula: cannot open the store in {in_use}: another store has this folder open\n"),
        ),
        (&["--config", &absent], 1, &format!("alula: {absent}: no such file or directory\n")),
        (&["--config", &unknown], 2, &format!("alula: {unknown}: line 2: `colour` is no setting\n")),
        (&["--config", &broken], 2, &format!("alula: {broken}: line 3: ")),
        (
            &[MEMORY, "--type", "sets={"],
            2,
            "error: invalid value 'sets={' for '--type <NAME=JSON>': the properties are no JSON: ",
        ),
        (
            &[MEMORY, "--type", "sets"],
            2,
            "error: invalid value 'sets' for '--type <NAME=JSON>': written as NAME=",
        ),
        (&[MEMORY, "--reap-after", "soon"], 2, "error: invalid value 'soon' for '--reap-after <MS>': "),
    ] {
        let free = if args.contains(&"--listen") { &[][..] } else { &["--listen=127.0.0.1:0"] };
        let ended = run(&[&["store"], free, args].concat()).expect(code);
        assert!(ended.stderr.starts_with(sentence), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_request_under_way_ends_before_the_program_does() {
    let mut server = Echo::storing(&[MEMORY]);
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = "PUT /buckets/b/keys/k?returnbody=true HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 7\r\n";
    socket.write_all(format!("{head}{TEXT}\r\n\r\n").as_bytes()).unwrap();
    let mut interim = [0; 25];
    socket.read_exact(&mut interim).unwrap();
    assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n");
    server.signal("TERM");
    assert!(server.child.try_wait().unwrap().is_none());
    socket.write_all(b"content").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\ncontent"), "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_empty_store_prints_three_commands_that_work() {
    for flags in [&[MEMORY][..], &[MEMORY, "--http2-only"], &[MEMORY, "--self-signed"]] {
        let server = Echo::storing(flags);
        let lines = server.lines(4);
        assert_eq!(lines[0], "The store is empty. To try it:");
        let outputs: Vec<_> = lines[1..]
            .iter()
            .map(|line| {
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", line])
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped());
                wait(shell.spawn().unwrap()).expect(0).text().to_owned()
            })
            .collect();
        assert!(outputs[1].ends_with("{\"name\":\"Ada\",\"born\":1815}"), "{flags:?}: {outputs:?}");
        let version = if flags.contains(&"--http2-only") { "HTTP/2" } else { "HTTP/1.1" };
        assert!(outputs[1].starts_with(&format!("{version} 200")), "{flags:?}: {outputs:?}");
        assert_eq!((&*outputs[0], &*outputs[2]), ("", ""));
    }
}

#[test]
fn requests_are_counted_logged_and_probed() {
    let flags = ["--metrics", "--health", "--ready=/-/ready", "--access-log", "--slow-log=0", "--request-id"];
    let server = Echo::storing(&[&[MEMORY][..], &flags].concat());
    let (head, _) = server.expect("PUT", "/buckets/b/keys/k", &[TEXT, "content-length: 0"], 204);
    assert!(head.contains("x-request-id: "), "{head}");
    server.expect("GET", "/buckets/b/keys/k?vtag=a", &[], 404);
    assert_eq!(server.expect("GET", "/healthz", &[], 200).1, "ok\n");
    assert_eq!(server.expect("GET", "/-/ready", &[], 200).1, "ok\n");
    let metrics = server.expect("GET", "/metrics", &[], 200).1;
    let line = "http_requests_total{route=\"/buckets/{bucket}/keys/{key}\",method=\"PUT\",status=\"2xx\"} 1";
    assert!(metrics.lines().any(|it| it == line), "{metrics}");
    let stats = server.expect("GET", "/stats", &[], 200).1;
    assert!(stats.contains("\"node_puts_total\":1") && stats.contains("\"node_gets_total\":1"), "{stats}");
    let (stderr, _) = server.stop();
    for expected in [
        "\"PUT /buckets/b/keys/k HTTP/1.1\" 204 ",
        "alula: slow: GET /buckets/b/keys/k?vtag=… from 127.0.0.1 took ",
        " ms (404)\n",
    ] {
        assert!(stderr.contains(expected), "{expected}: {stderr}");
    }
    let quick = Echo::storing(&[MEMORY, "--slow-log=1m"]);
    quick.expect("GET", "/ping", &[], 200);
    assert_eq!(quick.stop().0, "");
}

#[test]
fn pages_of_other_sites_are_refused_unless_they_are_named() {
    let referer = ["referer: https://app.example/page"];
    for (flags, status) in [
        (&[][..], 403),
        (&["--no-referer-check"], 200),
        (&["--cors=https://app.example"], 200),
        (&["--cors=https://other.example"], 403),
        (&["--cors"], 200),
    ] {
        let server = Echo::storing(&[&[MEMORY][..], flags].concat());
        server.expect("GET", "/ping", &referer, status);
        server.expect("GET", "/ping", &["origin: null"], 403);
    }
}

/// A page whose name was bound anew to a loopback address could read and write all that is stored.
#[test]
fn a_store_on_loopback_answers_to_local_names_alone() {
    for (flags, rows) in [
        (&[][..], &[("127.0.0.1:8098", 200), ("localhost", 200), ("rebound.example:8098", 421)][..]),
        (
            &["--host", "*.example", "--host", "a.test"],
            &[("db.example", 200), ("a.test:8098", 200), ("b.test", 421)],
        ),
        (&["--host", "*"], &[("rebound.example", 200)]),
    ] {
        let server = Echo::storing(&[&[MEMORY][..], flags].concat());
        for (host, status) in rows {
            let (head, content) = server.ask_raw_as(host, "GET", "/ping", &[]);
            assert!(head.starts_with(&format!("http/1.1 {status} ")), "{flags:?} {host}: {head}");
            assert!(*status != 421 || content.contains("--host"), "{content}");
        }
    }
}

/// Pages can be written so that no referer goes along.
#[test]
fn pages_of_other_sites_write_nothing_without_a_referer() {
    let content = ["content-type: text/plain", "content-length: 0"];
    for (flags, fields, status) in [
        (&[][..], &["origin: https://app.example"][..], 403),
        (&[], &["sec-fetch-site: cross-site"], 403),
        (&[], &["sec-fetch-site: same-origin", "origin: https://behind.example"], 204),
        (
            &["--cors=https://app.example"],
            &["origin: https://app.example", "sec-fetch-site: cross-site"],
            204,
        ),
        (&["--cors=https://app.example"], &["origin: https://other.example"], 403),
        (&["--cors"], &["origin: https://app.example"], 403),
        (&["--cors"], &["origin: https://app.example", "sec-fetch-site: cross-site"], 403),
        (&["--no-referer-check"], &["origin: https://app.example"], 204),
    ] {
        let server = Echo::storing(&[&[MEMORY][..], flags].concat());
        server.expect("PUT", "/buckets/b/keys/k", &[&content[..], fields].concat(), status);
        server.expect("GET", "/ping", fields, 200);
    }
}

#[test]
fn lists_are_refused_and_objects_bounded_where_it_is_asked_for() {
    let server = Echo::storing(&[MEMORY, "--no-lists", "--object-max=1k"]);
    let (_, text) = server.expect("GET", "/buckets/b/keys?keys=true", &[], 403);
    assert_eq!(text, "Operation '{riak_kv,list_keys}' is not enabled");
    let long = "x".repeat(2000);
    let refused = server.ask(
        "put",
        "/buckets/b/keys/k",
        &["-H", TEXT, "-d", &long, "-o", "/dev/null", "-w", "%{response_code}"],
    );
    assert_eq!(refused.expect(0).text(), "413");
}

#[test]
fn properties_that_do_nothing_are_refused_or_told_of() {
    let hooks = r#"{"props":{"precommit":[{"mod":"m","fun":"f"}]}}"#;
    let fields = |json| ["-H", "content-type: application/json", "-d", json];
    let server = Echo::storing(&[MEMORY]);
    let status = |server: &Echo, json| {
        let flags = [&fields(json)[..], &["-o", "/dev/null", "-w", "%{response_code}"]].concat();
        server.ask("put", "/buckets/b/props", &flags).text().to_owned()
    };
    assert_eq!(status(&server, hooks), "400");
    for _ in 0..2 {
        assert_eq!(status(&server, r#"{"props":{"expiry_secs":60}}"#), "204");
    }
    let told =
        "alula: objects do not expire: expiry_secs is kept as a property, and nothing is done with it\n";
    assert_eq!(server.stop().0, told);
    let server = Echo::storing(&[MEMORY, "--ignore-hooks"]);
    assert_eq!(status(&server, hooks), "204");
    assert_eq!(server.stop().0, "");
    let made = format!("--type=t={}", r#"{"postcommit":[{"mod":"m","fun":"f"}]}"#);
    let refused = run(&["store", MEMORY, "--listen=127.0.0.1:0", &made]).expect(2);
    assert!(refused.stderr.contains("--ignore-hooks"), "{}", refused.stderr);
}

#[test]
fn what_is_kept_in_memory_is_bounded() {
    let server = Echo::storing(&[MEMORY, "--engine-max=10k", "--ready"]);
    let put = |path: &str, bytes| {
        let content = "x".repeat(bytes);
        let args = ["-H", TEXT, "-d", &content, "-o", "/dev/null", "-w", "%{response_code}"];
        server.ask("put", path, &args).text().to_owned()
    };
    assert_eq!(put("/buckets/b/keys/first", 5_000), "204");
    assert_eq!(put("/buckets/b/keys/second", 9_000), "507");
    assert_eq!(put("/buckets/b/keys/first", 4_000), "204");
    let (_, text) = server.expect("GET", "/buckets/b/keys/second", &[], 404);
    assert_eq!(text, "not found\n");
    for _ in 0..3 {
        assert_eq!(put("/buckets/b/keys/second", 9_000), "507");
    }
    server.expect("DELETE", "/buckets/b/keys/first", &[], 204);
    assert_eq!(put("/buckets/b/keys/second", 9_000), "204");
    let (stderr, _) = server.stop();
    let told = "the memory for objects is full (0 of 1 MiB are free): writes that grow are refused with 507, reads and deletes go on";
    assert_eq!(stderr, format!("alula: {told}\n"));
}

#[test]
fn stored_pages_are_in_a_sandbox_unless_it_is_switched_off() {
    let folder = Folder::new("store-sandbox");
    let file = folder.write("store.toml", "no-sandbox = true\n");
    let fields = ["content-security-policy: sandbox\r\n", "x-content-type-options: nosniff\r\n"];
    for (flags, has_sandbox) in
        [(&[MEMORY][..], true), (&[MEMORY, "--no-sandbox"], false), (&[MEMORY, "--config", &file], false)]
    {
        let server = Echo::storing(flags);
        let put = ["-H", "content-type: text/html", "-d", "<p>"];
        server.ask("put", "/buckets/b/keys/page", &put).expect(0);
        for (path, status) in [("/buckets/b/keys/page", 200), ("/buckets/b/keys/none", 404)] {
            let (head, _) = server.expect("GET", path, &[], status);
            let has = fields.map(|field| head.contains(field));
            assert_eq!(has, [has_sandbox; 2], "{flags:?} {path}: {head}");
            // Pages of other sites are kept out in any case.
            assert!(head.contains("cross-origin-resource-policy: same-origin\r\n"), "{flags:?}: {head}");
        }
    }
}

#[test]
fn files_outlive_the_program() {
    let folder = Folder::new("store-files");
    let data = folder.path("data");
    let flags = ["--data", &*data];
    let path = "/buckets/b/keys/k";
    let server = Echo::storing(&flags);
    assert_eq!(server.lines(1), ["The store is empty. To try it:"]);
    server.ask("put", path, &["-H", TEXT, "-d", "content"]).expect(0);
    // Nobody else opens the folder meanwhile.
    let second = run(&["store", "--listen=127.0.0.1:0", "--data", &data]).expect(1);
    let sentence = format!("alula: cannot open the store in {data}: another store has this folder open\n");
    assert_eq!(second.stderr, sentence);
    server.stop();
    let again = Echo::storing(&flags);
    assert_eq!(again.expect("GET", path, &[], 200).1, "content");
    // A store that is not empty prints its address and no more.
    assert_eq!(again.stop(), (String::new(), String::new()));
}

/// A command of the tour and the lines that it prints.
#[derive(Debug)]
struct Step {
    command: String,
    output: String,
}

/// The command that starts the store of the tour, and the steps of the tour.
fn tour() -> (String, Vec<Step>) {
    let page = include_str!("../../../../../docs/store.md");
    let section = page.split("\n## A tour\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks: Vec<_> = section.split("\n```").collect();
    let of_language = |language: &'static str| {
        blocks
            .iter()
            .skip(1)
            .step_by(2)
            .filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
    };
    let start = of_language("sh").next().unwrap().trim().to_owned();
    let mut steps = Vec::<Step>::new();
    for line in of_language("console").flat_map(str::lines) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: String::new() }),
            (None, Some(step)) => step.output += &format!("{line}\n"),
            (None, None) => panic!("a block begins with a command: {line}"),
        }
    }
    (start, steps)
}

/// Returns true if the text is the pattern, in which `…` stands for any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, inner)) = parts.split_last() else { return rest.is_empty() };
    for part in inner {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Runs the commands of the tour as they are printed, on another port and with a further flag for each.
fn take_tour(test: &str, server_flags: &[&str], flag: &str) {
    let (start, steps) = tour();
    assert!(steps.len() > 10, "{steps:?}");
    let folder = Folder::new(test);
    let program =
        folder.write("alula", format!("#!/bin/sh\nexec {} \"$@\" {flag}\n", env!("CARGO_BIN_EXE_alula")));
    assert!(Command::new("chmod").args(["+x", &program]).status().unwrap().success());
    let server = started(&start, server_flags);
    let port = server.http.rsplit(':').next().unwrap();
    let mut script = String::new();
    for step in &steps {
        writeln!(script, "{}\nprintf '\\n=====\\n'", step.command.replace(":8098", &format!(":{port}")))
            .unwrap();
    }
    let path = format!("{}:{}", folder.path(""), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("PATH", path);
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let ended = wait(shell.spawn().unwrap()).expect(0);
    assert_eq!(ended.stderr, "");
    let text = ended.text().replace('\r', "");
    let outputs: Vec<_> = text.split("\n=====\n").collect();
    assert_eq!(outputs.len(), steps.len() + 1, "{text}");
    for (step, output) in steps.iter().zip(outputs) {
        assert!(is_like(output.trim(), step.output.trim()), "{}: {output}", step.command);
    }
}

/// The server that a command of the tour starts, on a free port.
fn started(command: &str, flags: &[&str]) -> Echo {
    let args = command.strip_prefix("cargo run --release -- store ").unwrap();
    let args = args.replace('\'', "");
    let mut all: Vec<_> = args.split_whitespace().filter(|word| *word != "\\").collect();
    all.extend(flags);
    Echo::storing(&all)
}

#[test]
fn the_tour_of_the_store_works_as_printed() {
    take_tour("store-tour", &["--http1.1"], "--http1.1");
}

#[test]
fn the_tour_of_the_store_works_over_http2() {
    take_tour("store-tour-http2", &["--http2-only"], "--http2-prior-knowledge");
}

#[test]
fn a_pattern_stands_for_texts() {
    for (text, pattern, expected) in [
        ("ab", "ab", true),
        ("ab", "a", false),
        ("axb", "a…b", true),
        ("ab\ncd\nef", "ab\n…\nef", true),
        ("ab", "…c", false),
        ("abc", "…b…", true),
    ] {
        assert_eq!(is_like(text, pattern), expected, "{text} {pattern}");
    }
}
