//! Requests that are refused, in access logs and metrics. A process tells of ten refusals at once.

use std::time::Duration;

use alula::{AccessLog, Identity, Limits, Metrics, Router, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::access_log::{Memory, lines, timeless};

/// Sends bytes on a connection of their own, and reads until the server has closed it.
async fn send(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that refuses what comes first may close before it has read the rest.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// The requests, what the log says of them, and the count of the metrics.
const REFUSED: &[(&str, &[u8], &str, &str)] = &[
    (
        "a bad field",
        b"GET /a?k=s3cret HTTP/1.1\r\nhost: a\r\nb ad: 1\r\n\r\n",
        "GET /a?k=… HTTP/1.1\" 400",
        "400",
    ),
    ("a bad line", b"GET /b?k=s3cret HTTP/1.1 x\r\n\r\n", "GET /b?k=… HTTP/1.1\" 400", "400"),
    (
        "a password in a target",
        b"GET http://ann:s3cret@a/b HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET http://…@a/b HTTP/1.1\" 400",
        "400",
    ),
    (
        "a password in an authority",
        b"CONNECT ann:s3cret@a:1 HTTP/1.1\r\n\r\n",
        "CONNECT …@a:1 HTTP/1.1\" 400",
        "400",
    ),
    ("no line", b"\x01\x02\x03\x04\x05\x06\r\n\r\n", "- - HTTP/1.1\" 400", "400"),
    ("hostile", b"GET /\x1b[31m HTTP/1.1\r\n\r\n", "GET - HTTP/1.1\" 400", "400"),
    ("a slow head", b"POST /slow HTTP/1.1\r\nhost: a\r\n", "POST /slow HTTP/1.1\" 408", "408"),
    ("a TLS record that is cut", b"\x16\x03\x01\x00\x05nonsense!", "- - -\" -", "handshake"),
];

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn what_is_refused_is_logged_and_counted() {
    let (memory, json_memory) = (Memory::default(), Memory::default());
    let log = AccessLog::to_writer(memory.clone()).unwrap().common();
    let json = AccessLog::to_writer(json_memory.clone()).unwrap().json();
    let metrics = Metrics::new();
    let hooks = (log.clone(), json.clone(), metrics.clone());
    let limits = Limits { head_timeout: Duration::from_millis(300), ..Limits::default() };
    let server = Server::builder().limits(limits).identity(Identity::self_signed(["localhost"]).unwrap());
    let server = server.on_error(move |failure| {
        hooks.0.refused(failure);
        hooks.1.refused(failure);
        hooks.2.refused(failure);
    });
    let server = server.bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap().to_string();
    tokio::spawn(server.serve(Router::new().hook(log.clone()).build().unwrap()));
    let long_target = format!("GET /{}?k=s3cret HTTP/1.1\r\n\r\n", "x".repeat(70_000));
    let long_head = format!("PUT /c HTTP/1.1\r\nhost: a\r\nlong: {}\r\n\r\n", "x".repeat(70_000));
    let mut rows = REFUSED.to_vec();
    rows.push(("a long target", long_target.as_bytes(), "GET /xxx HTTP/1.1\" 414", "414"));
    rows.push(("a long head", long_head.as_bytes(), "PUT /c HTTP/1.1\" 431", "431"));
    for (place, (row, bytes, line, reason)) in rows.iter().enumerate() {
        let before = count_of(&metrics, reason);
        send(&address, bytes).await;
        let log_line = lines(&log, &memory, place + 1).await.get(place).cloned().unwrap_or_default();
        assert!(log_line.starts_with("127.0.0.1 - - ["), "{row}: {log_line}");
        let shown = timeless(&log_line).replace(&"x".repeat(255), "xxx");
        assert_eq!(shown, format!("127.0.0.1 - - [] \"{line} 0"), "{row}");
        assert_eq!(count_of(&metrics, reason), before + 1, "{row}: {}", metrics.text());
        let object = lines(&json, &json_memory, place + 1).await[place].clone();
        let object: serde_json::Value = serde_json::from_str(&object).unwrap();
        let status = line.rsplit(' ').next().unwrap().parse().ok();
        assert_eq!(object["status"].as_u64(), status, "{row}: {object}");
        let failure = object["failure"].as_str().unwrap_or_else(|| panic!("{row}: {object}"));
        assert!(!failure.is_empty() && !failure.contains("response"), "{row}: {object}");
        assert!(!object.to_string().contains("s3cret"), "{row}: {object}");
    }
    assert_eq!(memory.lines().len(), rows.len());
}

/// The count of refusals for a reason.
fn count_of(metrics: &Metrics, reason: &str) -> u64 {
    let text = metrics.text();
    let label = format!("http_requests_refused_total{{reason=\"{reason}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&label)).map_or(0, |count| count.parse().unwrap())
}
