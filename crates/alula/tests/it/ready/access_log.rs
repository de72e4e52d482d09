//! Access logs: their formats, what a peer cannot write into them, files that are opened again, disks that
//! are slow.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{
    AccessLog, Answer, Begun, Client, Error, Exchange, Hook, Identity, LogFormat, RequestId, Router, Sent,
    Server, Status, routing::get,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{clients, serve_routes};
use crate::access_log::{LONG, Memory, lines, timeless};

fn routes(log: &AccessLog) -> Router {
    routed(Router::new().hook(log.clone()))
}

fn routed(router: Router) -> Router {
    let hello = |exchange: Exchange| exchange.respond(Status::OK).send("hello");
    let named = |exchange: Exchange| {
        exchange.note_user(&"a \"b\u{e4}".into());
        exchange.respond(Status::OK).send("hello")
    };
    router.route("/lists/{list}", get(hello)).route("/named", get(named))
}

#[tokio::test]
async fn each_request_is_a_line() {
    let (combined, common) = (Memory::default(), Memory::default());
    let first = AccessLog::to_writer(combined.clone()).unwrap();
    let second = AccessLog::to_writer(common.clone()).unwrap().common();
    let origin = serve_routes(routes(&first).hook(second.clone())).await;
    for client in clients() {
        let call =
            client.get(format!("{origin}/lists/a?token=secret")).header("referer", "http://r.example/");
        assert_eq!(call.send().await.unwrap().text().await.unwrap(), "hello");
        assert_eq!(client.get(format!("{origin}/none")).send().await.unwrap().status(), 404);
    }
    let seen: Vec<_> = lines(&first, &combined, 4).await.iter().map(|it| timeless(it)).collect();
    assert_eq!(
        seen,
        [
            r#"127.0.0.1 - - [] "GET /lists/a?token=… HTTP/1.1" 200 5 "http://r.example/" "u/1""#,
            r#"127.0.0.1 - - [] "GET /none HTTP/1.1" 404 14 "-" "u/1""#,
            r#"127.0.0.1 - - [] "GET /lists/a?token=… HTTP/2" 200 5 "http://r.example/" "u/1""#,
            r#"127.0.0.1 - - [] "GET /none HTTP/2" 404 14 "-" "u/1""#,
        ]
    );
    let seen: Vec<_> = lines(&second, &common, 4).await.iter().map(|it| timeless(it)).collect();
    assert_eq!(seen[1], r#"127.0.0.1 - - [] "GET /none HTTP/1.1" 404 14"#);
}

#[tokio::test]
async fn lines_of_json_are_objects() {
    let memory = Memory::default();
    let log = AccessLog::to_writer(memory.clone()).unwrap().json();
    let origin = serve_routes(routes(&log)).await;
    for client in clients() {
        let call = client.get(format!("{origin}/lists/a")).header("referer", "\"}\\ö");
        assert_eq!(call.send().await.unwrap().text().await.unwrap(), "hello");
    }
    for (line, version) in lines(&log, &memory, 2).await.iter().zip(["HTTP/1.1", "HTTP/2"]) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for (name, value) in [
            ("method", "GET"),
            ("target", "/lists/a"),
            ("version", version),
            ("route", "/lists/{list}"),
            ("user_agent", "u/1"),
            ("referer", "\"}\\ö"),
        ] {
            assert_eq!(line[name], value, "{line}");
        }
        assert!(line["status"] == 200 && line["sent"] == 5 && line["received"] == 0, "{line}");
        assert!(
            line["failure"].is_null() && line["seconds"].is_f64() && line["until_head"].is_f64(),
            "{line}"
        );
        assert!(origin.ends_with(line["authority"].as_str().unwrap()), "{line}");
        let time = line["time"].as_str().unwrap();
        assert!(time.len() == 27 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
}

/// A user whom a handler has named stands in the line of that request alone, whatever is in the name.
#[tokio::test]
async fn users_are_written() {
    for (format, none, expected) in [
        (LogFormat::Common, "127.0.0.1 - - [", "127.0.0.1 - a\\x20\\\"b\\xc3\\xa4 ["),
        (LogFormat::Json, ",\"user\":null,", ",\"user\":\"a \\\"b\\u00e4\","),
    ] {
        let memory = Memory::default();
        let log = AccessLog::to_writer(memory.clone()).unwrap().format(format);
        let origin = serve_routes(routes(&log)).await;
        for client in clients() {
            for path in ["/named", "/lists/a"] {
                client.get(format!("{origin}{path}")).send().await.unwrap().text().await.unwrap();
            }
        }
        let lines = lines(&log, &memory, 4).await;
        for line in &lines {
            let expected = if line.contains("/named") { expected } else { none };
            assert!(line.contains(expected), "{line}");
        }
        assert_eq!(lines.len(), 4);
    }
}

/// Names a request by what it asks for.
struct ByTarget;

impl Hook for ByTarget {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let name = begun.request().path().repeat(40);
        begun.note_request_id(&name);
        None
    }
}

/// Lines of JSON have the name of a request, whichever hook gives it and wherever the log stands among the
/// hooks.
#[tokio::test]
async fn names_of_requests_are_written() {
    for log_is_first in [true, false] {
        let memory = Memory::default();
        let log = AccessLog::to_writer(memory.clone()).unwrap().json();
        let origin = serve_routes(if log_is_first {
            routes(&log).hook(RequestId::new())
        } else {
            routed(Router::new().hook(RequestId::new()).hook(log.clone()))
        })
        .await;
        let mut names = Vec::new();
        for client in clients() {
            for path in ["/lists/a", "/none"] {
                let mut response = client.get(format!("{origin}{path}")).send().await.unwrap();
                names.extend(response.headers().text("x-request-id").map(str::to_owned));
                response.bytes().await.unwrap();
            }
        }
        let lines = lines(&log, &memory, 4).await;
        let written: Vec<_> = lines.iter().map(|line| json(line)["request_id"].clone()).collect();
        assert_eq!(written, names);
        assert_eq!(names.len(), 4);
    }
    let memory = Memory::default();
    let log = AccessLog::to_writer(memory.clone()).unwrap().json();
    let origin = serve_routes(routes(&log).hook(ByTarget)).await;
    let none = serve_routes(routes(&log)).await;
    for client in clients() {
        for url in [format!("{origin}/named"), format!("{none}/named"), format!("{origin}/a")] {
            client.get(url).send().await.unwrap().bytes().await.unwrap();
        }
    }
    let lines = lines(&log, &memory, 6).await;
    let written: Vec<_> = lines.iter().map(|line| json(line)["request_id"].clone()).collect();
    let [long, short] = ["/named".repeat(40), "/a".repeat(40)].map(serde_json::Value::from);
    let each = [long, serde_json::Value::Null, short];
    assert_eq!(written, [&each[..], &each[..]].concat());
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).expect(line)
}

/// Says when each of its handlers has begun, and never gives a whole answer.
fn endless(log: &AccessLog, json: &AccessLog) -> (Router, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let tell_also = tell.clone();
    let silent = move |_: Exchange| {
        let _ = tell.send(());
        std::future::pending::<Result<Sent, Error>>()
    };
    let half = move |exchange: Exchange| {
        let tell = tell_also.clone();
        async move {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(b"half").await?;
            let _ = tell.send(());
            std::future::pending::<Result<Sent, Error>>().await
        }
    };
    let router = Router::new().hook(log.clone()).hook(json.clone());
    (router.route("/silent", get(silent)).route("/half", get(half)), told)
}

/// A request that its client broke off is told as that, over both versions, in clear text and over TLS,
/// before the head and after it.
#[tokio::test]
async fn a_client_that_leaves_is_told_as_that() {
    let (memory, json_memory) = (Memory::default(), Memory::default());
    let log = AccessLog::to_writer(memory.clone()).unwrap().common();
    let json_log = AccessLog::to_writer(json_memory.clone()).unwrap().json();
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let pem = identity.certificate_pem().unwrap().to_owned();
    let (router, mut told) = endless(&log, &json_log);
    let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
    let port = server.address().unwrap().port();
    tokio::spawn(server.serve(router.build().unwrap()));
    let mut count = 0;
    for is_http2 in [false, true] {
        for scheme in ["http", "https"] {
            for (path, status, known) in [("/silent", "499 0", None), ("/half", "200 4", Some(200))] {
                let builder = Client::builder().add_roots_pem(pem.as_bytes()).unwrap();
                let builder = match (is_http2, scheme) {
                    (false, _) => builder.http1_only(),
                    (true, "http") => builder.http2_prior_knowledge(true),
                    (true, _) => builder,
                };
                let client = builder.build().unwrap();
                let call = client.get(format!("{scheme}://localhost:{port}{path}")).send();
                if path == "/half" {
                    let response = call.await.unwrap();
                    told.recv().await.unwrap();
                    drop(response);
                } else {
                    tokio::select! {
                        begun = told.recv() => begun.unwrap(),
                        _ = call => panic!("there is no answer"),
                    }
                }
                let line = lines(&log, &memory, count + 1).await[count].clone();
                let version = if is_http2 { "HTTP/2" } else { "HTTP/1.1" };
                assert_eq!(timeless(&line), format!("127.0.0.1 - - [] \"GET {path} {version}\" {status}"));
                let line = json(&lines(&json_log, &json_memory, count + 1).await[count]);
                assert_eq!((&line["client_left"], line["status"].as_u64()), (&true.into(), known), "{line}");
                assert!(line["failure"].is_string(), "{line}");
                count += 1;
            }
        }
    }
}

/// A peer that writes quotes, escapes and bytes that are no ASCII gets one line, of visible ASCII.
#[tokio::test]
async fn a_peer_writes_no_line_of_its_own() {
    for format in [AccessLog::combined, AccessLog::json] {
        let memory = Memory::default();
        let log = format(AccessLog::to_writer(memory.clone()).unwrap());
        let origin = serve_routes(routes(&log)).await;
        let long = "\"".repeat(5_000);
        let agents: [&[u8]; 5] =
            [b"\" 200 0 \"x", b"a\\\"b\\", b"\xff\xfe\x80", "\u{9b}31m\u{2028}".as_bytes(), long.as_bytes()];
        for agent in agents {
            let mut socket = TcpStream::connect(origin.trim_start_matches("http://")).await.unwrap();
            let mut request =
                b"GET /lists/\"%0a%1b\\ HTTP/1.1\r\nhost: a\r\nconnection: close\r\nuser-agent: ".to_vec();
            request.extend_from_slice(agent);
            request.extend_from_slice(b"\r\n\r\n");
            socket.write_all(&request).await.unwrap();
            let _ = socket.read_to_end(&mut Vec::new()).await;
        }
        // Those that are no requests have no line.
        let lines = lines(&log, &memory, 1).await;
        assert!(!lines.is_empty() && lines.len() <= agents.len());
        for line in lines {
            assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
            assert!(line.len() < 2_000, "{line}");
            if line.starts_with('{') {
                assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
            } else {
                assert_eq!(line.replace("\\\\", "").replace("\\\"", "").matches('"').count(), 6, "{line}");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_was_moved_is_opened_again() {
    let folder = std::env::temp_dir().join(format!("alula-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, moved) = (folder.join("access.log"), folder.join("access.log.1"));
    let log = AccessLog::to_file(&path).unwrap().common();
    let origin = serve_routes(routes(&log)).await;
    let [client, _] = clients();
    let ask = async |path: &std::path::Path| {
        client.get(format!("{origin}/none")).send().await.unwrap().bytes().await.unwrap();
        let is_there = || std::fs::read_to_string(path).is_ok_and(|text| text.contains("/none"));
        for _ in 0..500 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!(log.flush(LONG));
            if is_there() {
                return;
            }
        }
        panic!("nothing in {path:?}");
    };
    ask(&path).await;
    std::fs::rename(&path, &moved).unwrap();
    log.reopen().unwrap();
    ask(&path).await;
    assert_eq!(std::fs::read_to_string(&moved).unwrap().lines().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(log.reopen().is_err());
}

/// Keeps bytes as long as it has room.
#[derive(Clone)]
struct Full(Memory, Arc<Mutex<usize>>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.1.lock().unwrap();
        let taken = bytes.len().min(*room);
        *room -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { self.0.write(&bytes[..taken]) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk was full in the middle of a line: the next line was joined to that one, and all lines of the write
/// were taken for lost.
#[tokio::test]
async fn a_full_disk_joins_no_lines() {
    for is_json in [false, true] {
        let full = Full(Memory::default(), Arc::new(Mutex::new(if is_json { 400 } else { 90 })));
        let log = AccessLog::to_writer(full.clone()).unwrap();
        let log = if is_json { log.json() } else { log };
        let origin = serve_routes(routes(&log)).await;
        let [client, _] = clients();
        for lost in [0, 1, 2] {
            client.get(format!("{origin}/lists/a")).send().await.unwrap().bytes().await.unwrap();
            while log.dropped() < lost || full.0.lines().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
                log.flush(LONG);
            }
        }
        *full.1.lock().unwrap() = usize::MAX;
        client.get(format!("{origin}/lists/a")).send().await.unwrap().bytes().await.unwrap();
        let lines = lines(&log, &full.0, 4).await;
        assert_eq!((lines.len(), log.dropped()), (4, 2), "{lines:?}");
        let told = if is_json { "{\"dropped\":2}" } else { "# 2 lines were dropped" };
        assert!(lines[1].len() < lines[0].len(), "{lines:?}");
        assert!(lines[2].starts_with(&lines[0][..9]) && lines[3] == told, "{lines:?}");
        assert_eq!(lines[2].len(), lines[0].len(), "{lines:?}");
    }
}

/// Blocks in each write until it is let go.
struct Stuck(Receiver<()>, Memory);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk that takes nothing delays nobody; the lines that are lost are counted, and told of once it takes
/// some again.
#[tokio::test]
async fn a_slow_disk_delays_no_request() {
    let (let_go, stuck) = channel();
    let memory = Memory::default();
    let log = AccessLog::to_writer(Stuck(stuck, memory.clone())).unwrap();
    let origin = serve_routes(routes(&log)).await;
    let [client, _] = clients();
    let agent = "\u{f6}".repeat(100);
    while log.dropped() < 10 {
        let call =
            client.get(format!("{origin}/lists/a")).header("referer", &agent).header("user-agent", &agent);
        assert_eq!(call.send().await.unwrap().bytes().await.unwrap(), &b"hello"[..]);
    }
    assert!(!log.flush(Duration::from_millis(1)));
    drop(let_go);
    assert!(log.flush(LONG));
    // Each time the disk takes lines the log tells of those that were lost before.
    let lines = memory.lines();
    let told = lines.iter().filter_map(|line| line.strip_prefix("# ")?.strip_suffix(" lines were dropped"));
    assert_eq!(told.map(|count| count.parse::<u64>().unwrap()).sum::<u64>(), log.dropped());
}
