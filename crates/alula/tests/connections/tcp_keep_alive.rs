//! Connections are probed for peers that are gone without a word, at both ends, unless that is switched off.

use std::{fs, time::Duration};

use alula::{Client, Exchange, Server, Status};

/// The state of an established connection, and the kind of its timer if that is for keep-alive, in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";
const KEEP_ALIVE: &str = "02";

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
