//! Paths of `alula echo` that have an answer of their own, and the terms of all of its answers.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Echo, Folder, noise, run};
use serde_json::{Value, json};

fn echo() -> Echo {
    Echo::start(&[])
}

/// The JSON that a path answers to this request.
#[track_caller]
fn answer(server: &Echo, method: &str, path: &str, args: &[&str]) -> Value {
    let ended = server.ask(method, path, args).expect(0);
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{path}: {error}: {ended:?}"))
}

/// The value of a field in a head in lower case.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn requests_are_described_as_httpbin_does() {
    let server = echo();
    let described = answer(&server, "get", "/get?a=1&a=2&b=%20c&d", &["x-odd:e"]);
    assert_eq!(described["args"], json!({ "a": ["1", "2"], "b": " c", "d": "" }));
    let headers = described["headers"].as_object().unwrap();
    assert_eq!(headers["X-Odd"], "e");
    assert_eq!(headers["Host"], server.http["http://".len()..]);
    assert_eq!(described["origin"], "127.0.0.1");
    assert_eq!(described["url"], format!("{}/get?a=1&a=2&b=%20c&d", server.http));
    let members: Vec<_> = described.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["args", "headers", "origin", "url"]);

    let posted = answer(&server, "post", "/post", &["a=1", "b:=[2]"]);
    assert_eq!(posted["json"], json!({ "a": "1", "b": [2] }));
    assert_eq!((&posted["form"], &posted["files"]), (&json!({}), &json!({})));
    assert!(posted["data"].as_str().unwrap().starts_with('{'));
    let posted = answer(&server, "put", "/put", &["--form", "a=1", "a=é"]);
    assert_eq!(posted["form"], json!({ "a": ["1", "é"] }));
    assert_eq!((&posted["data"], &posted["json"]), (&json!(""), &Value::Null));
    let folder = Folder::new("paths-part");
    let part = format!("f=@{};type=image/x", folder.write("part.bin", [0xff, 0xfe]));
    let posted = answer(&server, "patch", "/patch", &["-F", &part, "-F", "a=b"]);
    assert_eq!(
        (&posted["form"], &posted["files"]),
        (&json!({ "a": "b" }), &json!({ "f": "data:image/x;base64,//4=" }))
    );
    let any =
        answer(&server, "delete", "/anything/at/all?x=y", &["-d", "text", "-H", "content-type: text/plain"]);
    assert_eq!(
        (&any["method"], &any["data"], &any["args"]["x"]),
        (&json!("DELETE"), &json!("text"), &json!("y"))
    );
    assert_eq!(answer(&server, "get", "/user-agent", &["-A", "u/1"]), json!({ "user-agent": "u/1" }));
    assert_eq!(answer(&server, "get", "/ip", &[]), json!({ "origin": "127.0.0.1" }));
}

#[test]
fn other_paths_and_all_paths_on_demand_are_echoed_as_before() {
    let server = echo();
    for path in ["/", "/getaway", "/get/", "/status", "/bytes/1/2", "/stream/", "/cookies/set/a"] {
        let described = answer(&server, "get", path, &[]);
        assert_eq!(described["target"], path);
    }
    assert_eq!(server.ask("post", "/a", &["-d", "back"]).expect(0).text(), "back");
    let plain = Echo::start(&["--no-paths"]);
    assert_eq!(answer(&plain, "get", "/status/404", &[])["target"], "/status/404");
}

#[test]
fn methods_that_a_path_does_not_have_are_refused_and_named() {
    let server = echo();
    let (head, _) = server.expect("POST", "/get", &["content-length: 0"], 405);
    assert_eq!(field(&head, "allow"), Some("get, head, options"), "{head}");
    let (head, content) = server.expect("OPTIONS", "/status/200", &[], 200);
    assert!(field(&head, "allow").unwrap().contains("patch") && content.is_empty(), "{head}");
    let (head, content) = server.expect("HEAD", "/bytes/100", &[], 200);
    assert_eq!((field(&head, "content-length"), &*content), (Some("100"), ""));
    server.expect("TRACE", "/anything", &[], 405);
}

#[test]
fn a_status_is_answered_as_it_is_asked_for() {
    let server = echo();
    for (code, name, value) in [
        (404, "content-length", "0"),
        (301, "location", "/redirect/1"),
        (401, "www-authenticate", "basic realm=\"fake realm\""),
        (407, "proxy-authenticate", "basic realm=\"fake realm\""),
        (406, "content-type", "application/json"),
        (599, "content-length", "0"),
    ] {
        let (head, _) = server.expect("GET", &format!("/status/{code}"), &[], code);
        assert_eq!(field(&head, name), Some(value), "{head}");
    }
    assert!(server.expect("GET", "/status/418", &[], 418).1.contains("teapot"));
    assert_eq!(server.expect("POST", "/status/204", &["content-length: 0"], 204).1, "");
    for path in ["/status/200,", "/status/abc", "/status/100", "/status/99999", "/status/200:x"] {
        server.expect("GET", path, &[], 400);
    }
    server.expect("GET", "/status/200:0,503:1", &[], 503);
    let seen: std::collections::HashSet<_> =
        (0..200).map(|_| server.ask_raw("GET", "/status/200,500", &[]).0[9..12].to_owned()).collect();
    assert_eq!(seen, ["200", "500"].map(str::to_owned).into());
}

#[test]
fn redirects_come_one_after_the_other_and_lead_to_get() {
    let server = echo();
    for path in ["/redirect/3", "/relative-redirect/3", "/absolute-redirect/3", "/redirect/2?absolute=TRUE"] {
        let ended =
            server.ask("get", path, &["-L", "-o", "/dev/null", "-w", "%{num_redirects} %{url_effective}"]);
        let count = if path.starts_with("/redirect/2") { 2 } else { 3 };
        assert_eq!(ended.expect(0).text(), format!("{count} {}/get", server.http), "{path}");
    }
    let (head, _) = server.expect("GET", "/absolute-redirect/2", &[], 302);
    assert_eq!(field(&head, "location"), Some("http://localhost/absolute-redirect/1"));
    let (head, _) = server.expect("GET", "/redirect-to?url=%2fx%20y&status_code=307", &[], 307);
    assert_eq!(field(&head, "location"), Some("/x%20y"));
    let (head, _) = server.expect("GET", "/redirect-to?url=a%0d%0ab:%c3%a9", &[], 302);
    assert_eq!(field(&head, "location"), Some("a%0d%0ab:%c3%a9"));
    server.expect("GET", "/redirect-to?url=/x&status_code=200", &[], 302);
    for (path, status) in [
        ("/redirect/0", 400),
        ("/redirect/101", 400),
        ("/redirect/-1", 404),
        ("/redirect/99999999999999999999", 404),
        ("/redirect-to", 400),
    ] {
        server.expect("GET", path, &[], status);
    }
}

#[test]
fn codings_are_those_that_decoders_read() {
    let server = echo();
    for (path, member) in
        [("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli"), ("zstd", "zstd")]
    {
        for long in ["a".to_owned(), "a".repeat(10_000)] {
            let field = format!("x-long: {long}");
            let got =
                run(&["get", &format!("{}/{path}", server.http), "-H", &field, "--compressed"]).expect(0);
            let described: Value = serde_json::from_slice(&got.stdout).unwrap();
            assert_eq!((&described[member], &described["headers"]["X-Long"]), (&json!(true), &json!(long)));
        }
        let url = format!("{}/{path}", server.http);
        if let Ok(curl) = Command::new("curl").args(["-s", "--compressed", &url]).output() {
            let described: Value =
                serde_json::from_slice(&curl.stdout).unwrap_or_else(|_| panic!("{path}: {curl:?}"));
            assert_eq!(described[member], true, "{path}");
        }
    }
}

#[test]
fn bytes_come_in_numbers() {
    let server = echo();
    let bytes = |path: &str| server.ask("get", path, &[]).expect(0).stdout;
    // The bytes of httpbin, whose seed is Python's.
    assert_eq!(bytes("/bytes/8?seed=1"), [68, 32, 130, 60, 253, 230, 241, 194]);
    assert_eq!(bytes("/stream-bytes/8?SEED=1&chunk_size=3"), [68, 32, 130, 60, 253, 230, 241, 194]);
    assert_ne!(bytes("/bytes/64"), bytes("/bytes/64"));
    assert_eq!(bytes("/bytes/99999999").len(), 100 * 1024);
    assert_eq!(bytes("/bytes/0"), b"");
    assert_eq!(bytes("/range/30"), b"abcdefghijklmnopqrstuvwxyzabcd");
    let (head, content) = server.expect("GET", "/range/26", &["range: bytes=3-5"], 206);
    assert_eq!((field(&head, "content-range"), &*content), (Some("bytes 3-5/26"), "def"));
    let (head, _) = server.expect("GET", "/range/26", &["range: bytes=26-"], 416);
    assert_eq!(field(&head, "content-range"), Some("bytes */26"));
    server.expect("GET", "/range/26", &["if-none-match: \"range26\""], 304);
    for path in ["/range/0", "/range/102401", "/range/x", "/bytes/-1", "/bytes/x"] {
        server.expect("GET", path, &[], 404);
    }
    for path in
        ["/bytes/1?seed=x", "/drip?numbytes=0", "/drip?duration=-1", "/drip?code=1", "/drip?duration=nan"]
    {
        server.expect("GET", path, &[], 400);
    }
    let lines = bytes("/stream/3?a=b");
    let lines: Vec<Value> = lines
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let of = |member: &dyn Fn(&Value) -> Value| lines.iter().map(member).collect::<Vec<_>>();
    assert_eq!(
        (of(&|line| line["id"].clone()), of(&|line| line["args"]["a"].clone())),
        (vec![json!(0), json!(1), json!(2)], vec![json!("b"); 3])
    );
    assert_eq!(bytes("/stream/5000").iter().filter(|byte| **byte == b'\n').count(), 100);
    let (head, _) = server.expect("GET", "/stream/1", &[], 200);
    assert_eq!(field(&head, "transfer-encoding"), Some("chunked"));
}

#[test]
fn answers_take_the_time_that_is_asked_for() {
    let server = echo();
    for path in [
        "/delay/0.3",
        "/drip?duration=0.3&numbytes=4&code=203",
        "/range/100?duration=0.3",
        "/drip?duration=0&delay=0.3",
    ] {
        let begun = Instant::now();
        server.ask("get", path, &[]).expect(0);
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(290), "{path}: {took:?}");
    }
    let (head, content) = server.expect("GET", "/drip?duration=0.1&numbytes=4&code=203", &[], 203);
    assert_eq!((field(&head, "content-length"), &*content), (Some("4"), "****"));
    let delayed = answer(&server, "post", "/delay/0", &["-d", "a=b"]);
    assert_eq!(delayed["form"], json!({ "a": "b" }));
    server.expect("GET", "/delay/x", &[], 404);
}

#[test]
fn cookies_are_set_shown_and_deleted() {
    let server = echo();
    let (head, _) = server.expect("GET", "/cookies/set?a=b&c=d%20e", &[], 302);
    assert!(head.contains("set-cookie: a=b; path=/\r\nset-cookie: c=\"d e\"; path=/\r\n"), "{head}");
    let (head, _) = server.expect("GET", "/cookies/delete?a", &[], 302);
    assert!(field(&head, "set-cookie").unwrap().contains("max-age=0"), "{head}");
    let jar = answer(&server, "get", "/cookies/set/a/b%2fc", &["-L", "-b", ""]);
    assert_eq!(jar, json!({ "cookies": { "a": "b/c" } }));
    let shown = answer(&server, "get", "/cookies", &["-b", "x=y; z=\"d e\\073\""]);
    assert_eq!(shown, json!({ "cookies": { "x": "y", "z": "d e;" } }));
    server.expect("GET", "/cookies/set?a%0d=b", &[], 400);
    server.expect("GET", "/cookies/set?=b", &[], 400);
}

#[test]
fn credentials_are_asked_for_and_checked() {
    let server = echo();
    let yes = json!({ "authenticated": true, "user": "u" });
    assert_eq!(answer(&server, "get", "/basic-auth/u/p%20w", &["-u", "u:p w"]), yes);
    assert_eq!(answer(&server, "get", "/hidden-basic-auth/u/p", &["-u", "u:p"]), yes);
    let (head, _) = server.expect("GET", "/basic-auth/u/p", &["authorization: Basic dTp4"], 401);
    assert!(field(&head, "www-authenticate").is_some());
    server.expect("GET", "/hidden-basic-auth/u/p", &[], 404);
    assert_eq!(answer(&server, "get", "/bearer", &["-H", "authorization: Bearer t"])["token"], "t");
    server.expect("GET", "/bearer", &["authorization: Basic dTpw"], 401);
    let (head, _) = server.expect("GET", "/digest-auth/auth/u/p", &[], 401);
    assert!(field(&head, "www-authenticate").unwrap().starts_with("digest realm="), "{head}");
    for path in ["auth/u/p", "auth-int/u/p", "auth/u/p/SHA-256", "other/u/p/MD5"] {
        for (user, status) in [("u:p", "200"), ("u:x", "401"), ("x:p", "401")] {
            let url = format!("{}/digest-auth/{path}?a=b,c", server.http);
            let args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--digest", "-u", user, &url];
            let Ok(curl) = Command::new("curl").args(args).output() else { return };
            assert_eq!(String::from_utf8_lossy(&curl.stdout), status, "{path} {user}");
        }
    }
}

#[test]
fn validators_and_fields_are_those_that_were_asked_for() {
    let server = echo();
    let (head, _) = server.expect("GET", "/cache", &[], 200);
    assert!(field(&head, "etag").is_some() && field(&head, "last-modified").is_some(), "{head}");
    server.expect("GET", "/cache", &["if-none-match: \"x\""], 304);
    let (head, _) = server.expect("GET", "/cache/60", &[], 200);
    assert_eq!(field(&head, "cache-control"), Some("public, max-age=60"));
    for (condition, status) in [
        ("if-none-match: \"e\"", 304),
        ("if-none-match: W/\"e\", \"f\"", 304),
        ("if-none-match: \"f\"", 200),
        ("if-match: \"f\"", 412),
        ("if-match: *", 200),
    ] {
        server.expect("GET", "/etag/e", &[condition], status);
    }
    let (head, content) = server.expect("GET", "/response-headers?x-a=1&x-a=2&Content-Type=text/x", &[], 200);
    assert!(head.contains("x-a: 1\r\nx-a: 2\r\n") && head.contains("content-type: text/x\r\n"), "{head}");
    let described: Value = serde_json::from_str(&content).unwrap();
    assert_eq!(described["x-a"], json!(["1", "2"]));
    assert_eq!(described["Content-Length"], content.len().to_string());
    for query in
        ["content-length=1", "Transfer-Encoding=chunked", "a%20b=c", "a=b%0d%0ac:d", "connection=close"]
    {
        server.expect("GET", &format!("/response-headers?{query}"), &[], 400);
    }
}

#[test]
fn documents_have_their_media_types() {
    let server = echo();
    for (path, media_type, begins) in [
        ("/json", "application/json", "{\n  \"slideshow\""),
        ("/xml", "application/xml", "<?xml"),
        ("/html", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("/forms/post", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("/encoding/utf8", "text/html; charset=utf-8", "<h1>"),
        ("/robots.txt", "text/plain", "User-agent: *"),
        ("/deny", "text/plain", ""),
        ("/image/png", "image/png", ""),
        ("/image", "image/png", ""),
        ("/uuid", "application/json", "{\n  \"uuid\": \""),
        ("/base64/SGVsbG8", "text/plain; charset=utf-8", "Hello"),
        ("/base64/SGVsbG8=", "text/plain; charset=utf-8", "Hello"),
        (
            "/links/3/1",
            "text/html; charset=utf-8",
            "<html><head><title>Links</title></head><body><a href='/links/3/0'>0</a> 1 <a",
        ),
    ] {
        let (head, content) = server.expect("GET", path, &[], 200);
        assert_eq!(field(&head, "content-type"), Some(&*media_type.to_ascii_lowercase()), "{path}");
        assert!(content.starts_with(begins), "{path}: {content}");
    }
    assert_eq!(field(&server.expect("GET", "/links/3", &[], 302).0, "location"), Some("/links/3/0"));
    server.expect("GET", "/image", &["accept: image/webp"], 406);
    server.expect("GET", "/base64/!", &[], 400);
}

#[test]
fn what_a_request_can_ask_for_is_bounded() {
    let server = echo();
    let large = noise(5 * 1024 * 1024);
    let folder = Folder::new("paths-large");
    let data = format!("@{}", folder.write("large.bin", &large));
    for (path, status) in [("/post", "413"), ("/status/200", "200")] {
        let ended =
            server.ask("post", path, &["-d", &data, "-o", "/dev/null", "-w", "%{http_code}"]).expect(0);
        assert_eq!(ended.text(), status, "{path}");
    }
    // Indents of a hundred lists in one another would be a hundred times as long as what was sent.
    let deep = format!("{}{}0{}", "[".repeat(100), "0,".repeat(200_000), "]".repeat(100));
    folder.write("large.bin", &deep);
    let args = ["-d", &data, "-H", "content-type: application/json", "-o", "/dev/null", "-w", "%{http_code}"];
    assert_eq!(server.ask("post", "/post", &args).expect(0).text(), "413");
    assert_eq!(
        answer(&server, "post", "/post", &["-d", &"[".repeat(200), "-H", "content-type: x/y"])["json"],
        Value::Null
    );
    let small = Echo::start(&["--max-body", "10"]);
    for path in ["/status/200", "/post"] {
        let args = ["-d", "eleven char", "-o", "/dev/null", "-w", "%{http_code}"];
        assert_eq!(small.ask("post", path, &args).expect(0).text(), "413", "{path}");
    }
}

/// As httpbin does it: the path says that the content is coded, whatever is asked for.
#[test]
fn content_is_coded_whatever_is_accepted() {
    let server = echo();
    for (path, coding) in [("gzip", "gzip"), ("deflate", "deflate"), ("brotli", "br"), ("zstd", "zstd")] {
        for fields in [&[][..], &["accept-encoding: identity"]] {
            let (head, content) = server.expect("GET", &format!("/{path}"), fields, 200);
            assert_eq!(field(&head, "content-encoding"), Some(coding), "{path}: {head}");
            assert!(!content.starts_with('{'), "{path}: {content}");
        }
    }
}

#[test]
fn the_terms_hold_for_all_answers() {
    let server = Echo::start(&["--delay", "200ms", "--status", "503", "--chunked"]);
    for path in ["/a", "/get", "/drip?duration=0"] {
        let begun = Instant::now();
        let (head, content) = server.expect("GET", path, &[], 503);
        assert!(begun.elapsed() >= Duration::from_millis(190), "{path}");
        assert!(!content.is_empty());
        let is_chunked = field(&head, "transfer-encoding") == Some("chunked");
        assert_eq!(is_chunked, !path.starts_with("/drip"), "{head}");
    }
    server.expect("GET", "/status/404", &[], 404);
    assert_eq!(server.ask("post", "/a", &["-d", "back"]).expect(0).text(), "back");
    for flags in
        [["--delay", "-1"], ["--delay", "x"], ["--delay", "61m"], ["--status", "100"], ["--status", "1000"]]
    {
        let args = [&["echo", "--listen", "127.0.0.1:0"][..], &flags].concat();
        run(&args).expect(2);
    }
}

#[test]
fn no_path_or_query_is_too_odd() {
    let server = echo();
    let paths = [
        "absolute-redirect",
        "anything",
        "base64",
        "basic-auth/u",
        "bytes",
        "cache",
        "cookies/set/a",
        "delay",
        "digest-auth/a/b",
        "drip",
        "etag",
        "links",
        "links/1",
        "range",
        "redirect",
        "redirect-to",
        "response-headers",
        "status",
        "stream",
        "stream-bytes",
    ];
    let odd = [
        "%",
        "%ff",
        "%00",
        "a%2fb",
        "-1",
        "1e3",
        "NaN",
        "99999999999999999999999",
        "",
        "..",
        "%0d%0a",
        "\"",
        ":",
        ",",
        "200:",
    ];
    let names = ["url", "status_code", "seed", "chunk_size", "numbytes", "code", "a"];
    for path in paths {
        // Long delays are as good as any, but long.
        for value in
            odd.into_iter().filter(|value| path != "delay" || value.len() < 3 || value.starts_with('%'))
        {
            let query: Vec<_> = names.iter().map(|name| format!("{name}={value}")).collect();
            for target in [format!("/{path}/{value}"), format!("/{path}?{}", query.join("&"))] {
                let (head, _) = server.ask_raw(
                    "GET",
                    &target,
                    &["authorization: Digest a=\"", "cookie: \"=;=\"", "range: bytes=-"],
                );
                assert!(
                    head.starts_with("http/1.1 ") && !head.starts_with("http/1.1 500"),
                    "{target}: {head}"
                );
            }
        }
    }
}

/// `printf … | nc -N`: a client that has closed its side is answered, also by what takes a while.
#[test]
fn a_client_that_has_closed_its_side_is_answered() {
    let server = echo();
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
    socket.write_all(b"GET /delay/0.3 HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}
