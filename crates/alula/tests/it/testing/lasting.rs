//! How long a connection lasts: limits end it, a graceful stop lets it finish, and several share what there
//! is.

use alula::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::*;

fn with_limits(limits: Limits) -> TestServer {
    TestServer::with(Server::builder().limits(limits), answer)
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_ended() {
    let limits = || Limits { handshake_timeout: Duration::from_secs(3), ..Limits::default() };
    for said in ["", "GET / HTTP/1.1\r\nho", "PRI * HTTP/2.0\r\n\r\nSM"] {
        let server = with_limits(Limits { head_timeout: Duration::from_secs(3), ..limits() });
        let (mut peer, began) = (server.connect(), Instant::now());
        peer.write_all(said.as_bytes()).await.unwrap();
        // It ends, be it as a reset.
        let _ = peer.read_to_end(&mut Vec::new()).await;
        assert!((2..=4).contains(&began.elapsed().as_secs()), "{said:?}: {:?}", began.elapsed());
        drop(peer);
        server.server().all_ended().await;
        assert_eq!(server.server().ledger().memory_held(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_requests_finish_and_takes_no_more_connections() {
    for server in both() {
        let client = server.client();
        client.get("http://test/").send().await.unwrap().text().await.unwrap();
        let slow = tokio::spawn(async move {
            let mut response = client.get("http://test/slow").send().await.unwrap();
            (response.text().await.unwrap(), client)
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        server.server().stop();
        let began = Instant::now();
        let ended = tokio::time::timeout(Duration::from_secs(600), server.server().all_ended()).await;
        ended.expect("every connection ends");
        assert_eq!(began.elapsed().as_secs(), 4, "the answer comes after 5 seconds");
        let (said, client) = slow.await.unwrap();
        assert_eq!(said, "slowly");
        assert!(client.get("http://test/").send().await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_makes_room_for_another() {
    let server = with_limits(Limits { connections_max: Some(2), ..Limits::default() });
    let mut clients = Vec::new();
    for _ in 0..5 {
        let client = server.client();
        client.get("http://test/").send().await.unwrap().text().await.unwrap();
        clients.push(client);
        // Those that came within the same instant count as equally old.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(server.server().ledger().count("CONNECTIONS"), 3);
}

#[tokio::test(start_paused = true)]
async fn a_connection_waits_while_none_is_idle() {
    let server = with_limits(Limits { connections_max: Some(1), ..Limits::default() });
    let (first, second) = (server.client(), server.client());
    let began = Instant::now();
    let (slow, quick) = tokio::join!(first.get("http://test/slow").send(), second.get("http://test/").send());
    assert_eq!((slow.unwrap().status(), quick.unwrap().status()), (Status::OK, Status::OK));
    assert!((5..7).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_is_not_waited_for() {
    for server in both() {
        let server = server.to_client(Wire::new().silent_after(30));
        let call = server.client();
        let error = call.get("http://test/").timeout(Duration::from_secs(9)).send().await.unwrap_err();
        assert!(matches!(error.cause(), alula::Cause::Timeout), "{error}");
    }
}
