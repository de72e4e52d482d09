//! Connections are probed for peers that are gone without a word, at both ends, unless that is switched off.

use std::{fs, net::TcpListener, time::Duration};

use alula::{Client, Exchange, Server, Status};

/// The state of an established connection, and the kind of its timer if that is for keep-alive, in
/// `/proc/net/tcp`.
const ESTABLISHED: &str = "01";
const KEEP_ALIVE: &str = "02";
/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(60);

#[tokio::test]
async fn both_ends_probe_unless_told_otherwise() {
    assert_eq!(probing_ends(|server| server, |client| client).await, 2);
    let never = None::<Duration>;
    let off = probing_ends(|server| server.tcp_keep_alive(never), |client| client.tcp_keep_alive(never));
    assert_eq!(off.await, 0);
}

/// The number of ends of one idle connection that have a timer to probe the other.
async fn probing_ends(
    server: impl FnOnce(alula::ServerBuilder) -> alula::ServerBuilder,
    client: impl FnOnce(alula::ClientBuilder) -> alula::ClientBuilder,
) -> usize {
    let server = server(Server::builder()).bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    tokio::spawn(server.serve(|exchange: Exchange| exchange.respond(Status::OK).send(b"")));
    let client = client(Client::builder()).build().unwrap();
    client.get(&format!("http://{address}/")).send().await.unwrap();
    let port = format!(":{:04X}", address.port());
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = table.lines().filter(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let is_ours = columns[1].ends_with(&port) || columns[2].ends_with(&port);
        is_ours && columns[3] == ESTABLISHED && columns[5].starts_with(KEEP_ALIVE)
    });
    let count = ends.count();
    stop.stop();
    count
}

/// More than the buffers of both ends hold.
const UPLOAD: usize = 64 << 20;

/// A server that takes connections and reads nothing, for as long as it is kept.
fn reads_nothing() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// A client that wants to know of peers that are gone, in HTTP/1.1, which has no PING.
fn attentive() -> alula::ClientBuilder {
    let soon = Duration::from_millis(200);
    Client::builder().no_proxy().http1_only().keep_alive(soon, soon)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_system_ends_a_connection_whose_peer_takes_nothing() {
    let (_listener, url) = reads_nothing();
    let client = attentive().build().unwrap();
    let content = vec![0; UPLOAD];
    let sent = tokio::time::timeout(FOREVER, client.post(&url).send_body(&content)).await;
    let error = sent.expect("it ends").expect_err("nothing was read");
    assert_eq!(ended_by(&error), Some(std::io::ErrorKind::TimedOut), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn and_that_of_a_blocking_client() {
    let (_listener, url) = reads_nothing();
    let client = attentive().build_blocking().unwrap();
    let error = client.post(&url).body(vec![0; UPLOAD]).send().expect_err("nothing was read");
    assert_eq!(ended_by(&error), Some(std::io::ErrorKind::TimedOut), "{error}");
}

/// The error of the system in which a call ended, whichever half of it was waited for.
fn ended_by(error: &alula::Error) -> Option<std::io::ErrorKind> {
    match error.cause() {
        alula::Cause::Io(kind, _) => Some(*kind),
        _ => None,
    }
}
