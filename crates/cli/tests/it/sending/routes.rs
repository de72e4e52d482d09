//! Redirects, paths, proxies and addresses, with curl beside them where it is installed.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::Receiver;
use std::thread;

use crate::support::beside::{both, recording, strings};
use crate::support::{Echo, Folder, PATIENCE, run, run_with};

const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";

fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// The requests that came by these words, `URL` in them standing for the server, by Alula and by curl.
fn requests(words: &[&str], answers: &[String]) -> Vec<Vec<String>> {
    let seen: RefCell<Vec<Receiver<String>>> = RefCell::default();
    let runs = both(|| {
        let (address, requests) = recording(answers.to_vec());
        seen.borrow_mut().push(requests);
        words.iter().map(|word| word.replace("URL", &address)).collect()
    });
    let count = runs.inspect(|ended| assert_eq!(ended.code, Some(0), "{ended:?}")).count();
    let seen = seen.into_inner();
    let all = seen[..count]
        .iter()
        .map(|requests| answers.iter().map(|_| requests.recv_timeout(PATIENCE).unwrap()).collect());
    all.collect()
}

/// The method, the target and the content.
fn gist(request: &str) -> String {
    let (head, content) = request.split_once("\r\n\r\n").unwrap();
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
    format!("{line} {content}").trim_end().to_owned()
}

#[test]
fn methods_and_content_go_along_with_redirects_as_with_curl() {
    let folder = Folder::new("go-along");
    let file = folder.write("file", "up");
    for (words, status, next) in [
        (&["-X", "PURGE"][..], 302, "PURGE /x"),
        (&["-X", "POST"], 302, "POST /x"),
        (&["-X", "POST", "-d", "a"], 301, "POST /x"),
        (&["-X", "PUT", "-d", "a"], 302, "PUT /x"),
        (&["-X", "PUT", "-d", "a"], 303, "PUT /x"),
        (&["-X", "PUT", "-d", "a"], 307, "PUT /x a"),
        (&["-X", "PUT", "-d", "a", "--post302"], 302, "PUT /x a"),
        (&["-X", "POST", "-T", &file], 302, "POST /x up"),
        (&["-d", "a"], 301, "GET /x"),
        (&["-d", "a", "--post301"], 301, "POST /x a"),
        (&["-d", "a", "--post301"], 302, "GET /x"),
        (&["-d", "a", "--post302"], 302, "POST /x a"),
        (&["-d", "a", "--post303"], 303, "POST /x a"),
        (&["-T", &file, "--post303"], 303, "GET /x"),
        (&["--post303"], 303, "GET /x"),
    ] {
        let words = [words, &["-L", "http://URL/from"]].concat();
        for seen in requests(&words, &[redirect(status, "/x"), FINE.to_owned()]) {
            assert_eq!(gist(&seen[1]), next, "{words:?} {status}: {}", seen[0]);
        }
    }
}

#[test]
fn credentials_go_to_all_hosts_only_where_that_is_asked_for() {
    for (flag, goes) in [("-L", false), ("--location-trusted", true)] {
        let last: RefCell<Vec<Receiver<String>>> = RefCell::default();
        for ended in both(|| {
            let (other, seen) = recording(vec![FINE]);
            last.borrow_mut().push(seen);
            let (first, _) = recording(vec![redirect(302, &format!("http://{other}/x"))]);
            strings(&[flag, "-u", "n:p", "-b", "c=d", &format!("http://{first}/")])
        }) {
            assert_eq!(ended.expect(0).text(), "fine");
            let seen = last.borrow().last().unwrap().recv_timeout(PATIENCE).unwrap();
            assert_eq!(seen.contains("authorization: basic"), goes, "{flag}: {seen}");
            // Another port is another host to us, and not to the cookies of curl.
            assert!(!goes || seen.contains("cookie: c=d"), "{flag}: {seen}");
        }
    }
}

#[test]
fn a_path_is_sent_as_it_is_where_that_is_asked_for() {
    for (words, target) in
        [(&["--path-as-is", "http://URL/a/../b/./c?d"][..], "/a/../b/./c?d"), (&["http://URL/a/../b"], "/b")]
    {
        for seen in requests(words, &[FINE.to_owned()]) {
            assert_eq!(gist(&seen[0]), format!("GET {target}"));
        }
    }
}

#[test]
fn stdin_is_sent_with_its_length_or_as_it_comes() {
    // Servers that hand requests on by CGI or WSGI see nothing of content without a length.
    for (words, field, content) in [
        (&["-d", "@-"][..], "content-length: 3\r\n", "\r\n\r\nabc"),
        (&["--data-binary", "@-"], "content-length: 3\r\n", "\r\n\r\nabc"),
        (&["--json", "@-"], "content-length: 3\r\n", "\r\n\r\nabc"),
        (&["-X", "POST", "@-"], "content-length: 3\r\n", "\r\n\r\nabc"),
        (&["-X", "POST", "@-", "-L"], "content-length: 3\r\n", "\r\n\r\nabc"),
        (&["--json", "@-", "-H", "transfer-encoding: chunked"], "transfer-encoding: chunked\r\n", ""),
        (&["-T", "-", "-X", "POST"], "transfer-encoding: chunked\r\n", ""),
    ] {
        let (address, seen) = recording(vec![FINE]);
        let words = [&["request", &*address], words].concat();
        run_with(&words, b"abc").expect(0);
        let request = seen.recv_timeout(PATIENCE).unwrap();
        assert!(request.contains(field) && request.ends_with(content), "{request}");
    }
}

#[test]
fn addresses_are_given_outright() {
    let port = |address: &str| address.rsplit(':').next().unwrap().to_owned();
    for (given, url) in [
        (&["a.example:PORT:127.0.0.1"][..], "http://a.example:PORT/"),
        (&["*:PORT:127.0.0.1"], "http://b.example:PORT/"),
        (&["+*:PORT:127.0.0.1"], "http://b.example:PORT/"),
        (&["localhost:PORT:127.0.0.2", "-localhost:PORT"], "http://localhost:PORT/"),
        (&["a.example:PORT:127.0.0.2", "a.example:PORT:127.0.0.1"], "http://a.example:PORT/"),
    ] {
        for ended in both(|| {
            let (address, _) = recording(vec![FINE]);
            let flags = given.iter().flat_map(|given| ["--resolve", given]).chain([url]);
            flags.map(|word| word.replace("PORT", &port(&address))).collect()
        }) {
            assert_eq!(ended.expect(0).text(), "fine", "{given:?}");
        }
    }
    for words in [["-6", "http://127.0.0.1:1/"], ["-4", "http://[::1]:1/"]] {
        for ended in both(|| strings(&words)) {
            assert!(ended.code == Some(7) && !ended.stderr.contains("refused"), "{words:?}: {ended:?}");
        }
    }
}

/// A SOCKS server that answers the first request itself, and hands out the kind of address that it was asked
/// for: 1 or 3.
fn socks() -> (String, thread::JoinHandle<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut some = [0; 1024];
        let _ = socket.read(&mut some).unwrap();
        socket.write_all(&[5, 0]).unwrap();
        let _ = socket.read(&mut some).unwrap();
        let kind = some[3];
        socket.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let _ = socket.read(&mut some).unwrap();
        socket.write_all(FINE.as_bytes()).unwrap();
        kind
    });
    (address, served)
}

#[test]
fn socks_proxies_look_hosts_up_or_do_not() {
    for (flag, kind) in [("--socks5", 1), ("--socks5-hostname", 3)] {
        let kinds: RefCell<Vec<thread::JoinHandle<u8>>> = RefCell::default();
        for ended in both(|| {
            let (address, served) = socks();
            kinds.borrow_mut().push(served);
            strings(&["-x", "http://127.0.0.1:1", "-4", flag, &address, "http://localhost:1/"])
        }) {
            assert_eq!(ended.expect(0).text(), "fine");
            assert_eq!(kinds.borrow_mut().pop().unwrap().join().unwrap(), kind, "{flag}");
        }
    }
    run(&["get", "-U", "n:p", "http://127.0.0.1:1/"]).expect(2);
}

#[test]
fn a_proxy_has_fields_of_its_own() {
    let refusal = "HTTP/1.1 400 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (url, code) in [("http://a.example/", 0), ("https://a.example/", 56)] {
        let seen: RefCell<Vec<Receiver<String>>> = RefCell::default();
        for ended in both(|| {
            let (address, requests) = recording(vec![refusal]);
            seen.borrow_mut().push(requests);
            strings(&["-x", &address, "--proxy-header", "X-A: 1", "-H", "X-B: 2", url])
        }) {
            ended.expect(code);
            let request = seen.borrow().last().unwrap().recv_timeout(PATIENCE).unwrap();
            assert!(request.contains("\r\nx-a: 1\r\n"), "{request}");
            assert!(code == 0 || !request.contains("x-b: 2"), "{request}");
        }
    }
}

/// The address and the port from which an echo says that it was asked.
fn peer(text: &str) -> (String, u16) {
    let about: serde_json::Value = serde_json::from_str(text).unwrap();
    let (address, port) = about["peer"].as_str().unwrap().rsplit_once(':').unwrap();
    (address.to_owned(), port.parse().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn connections_are_opened_from_where_it_is_said() {
    let echo = Echo::start(&[]);
    for (flags, address, ports) in [
        (&["--interface", "127.0.0.2"][..], "127.0.0.2", 1..=65535),
        (&["--interface", "host!127.0.0.3"], "127.0.0.3", 1..=65535),
        (&["--interface", "lo"], "127.0.0.1", 1..=65535),
        (&["--local-port", "21000-21999"], "127.0.0.1", 21000..=21999),
        (&["--interface", "127.0.0.2", "--local-port", "22000-22999"], "127.0.0.2", 22000..=22999),
    ] {
        for ended in both(|| [strings(flags), vec![echo.http.clone()]].concat()) {
            let (from, port) = peer(ended.expect(0).text());
            assert_eq!(from, address, "{flags:?}");
            assert!(ports.contains(&port), "{flags:?} {port}");
        }
    }
    let taken = echo.http.rsplit(':').next().unwrap();
    for flags in [&["--interface", "192.0.2.1"][..], &["--interface", "127.0.0.1", "--local-port", taken]] {
        for ended in both(|| [strings(flags), vec![echo.http.clone()]].concat()) {
            ended.expect(45);
        }
    }
    run(&["get", "--local-port", "0", &echo.http]).expect(2);
}

/// A server on the loopback address of IPv6 that says the host it is asked for; none where IPv6 is off.
fn ipv6() -> Option<u16> {
    let listener = TcpListener::bind("[::1]:0").ok()?;
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut head = Vec::new();
            let mut some = [0; 1024];
            while !head.ends_with(b"\r\n\r\n") {
                let read = socket.read(&mut some).unwrap();
                assert!(read > 0, "the head is cut");
                head.extend_from_slice(&some[..read]);
            }
            let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
            let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
            let answer = match head.starts_with("get /away ") {
                true => format!(
                    "HTTP/1.1 302 F\r\nlocation: http://{host}/x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                ),
                false => format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{host}",
                    host.len()
                ),
            };
            socket.write_all(answer.as_bytes()).unwrap();
        }
    });
    Some(port)
}

#[test]
fn zones_of_addresses_are_for_the_connection_alone() {
    for zone in ["%251", "%1", "%25lo", "%lo"]
        .into_iter()
        .filter(|zone| cfg!(target_os = "linux") || zone.ends_with('1'))
    {
        let Some(port) = ipv6() else { break };
        let host = format!("[::1]:{port}");
        for (path, flags) in
            [("x", &["-w", " %{url_effective}"][..]), ("away", &["-L", "-w", " %{url_effective}"])]
        {
            let url = format!("[::1{zone}]:{port}/{path}");
            let said = run(&[&["get", &url], flags].concat());
            assert_eq!(said.expect(0).text(), format!("{host} http://{host}/x"), "{url}");
        }
        let named = run(&["get", "-H", "host: a.example", &format!("[::1%251]:{port}/x")]);
        assert_eq!(named.expect(0).text(), "a.example");
        // Here curl does the same, but that its own URLs have the zone.
        for ended in both(|| vec![format!("http://[::1{zone}]:{port}/x")]) {
            assert_eq!(ended.expect(0).text(), host, "{zone}");
        }
    }
    let unknown = run(&["get", "http://[fe80::1%25nosuch0]:1/"]);
    assert!(unknown.stderr.contains("nosuch0"), "{unknown:?}");
    let none = run(&["get", "http://[fe80::1%25]:1/"]);
    assert!(none.stderr.contains("the zone of its address is empty"), "{none:?}");
    let proxied = run(&["get", "-x", "http://127.0.0.1:1", "http://[::1%251]:1/"]);
    assert!(proxied.stderr.contains("a proxy"), "{proxied:?}");
    let shown = run(&["get", "--offline", "http://[::1%251]:81/"]);
    assert!(shown.expect(0).text().contains("[::1]:81"));
}
