//! Connections that break, peers that go away, handlers that panic: no byte more than was asked for, and
//! nothing is held afterwards.

use std::io;
use std::sync::{Arc, Mutex};

use alula::{Client, Destination, Transport};
use tokio::io::AsyncWriteExt;

use super::*;

/// Waits until the server has no connection left, and holds nothing.
async fn all_end(server: &TestServer) {
    let ended = tokio::time::timeout(Duration::from_secs(600), server.server().all_ended()).await;
    ended.expect("every connection ends");
    assert_eq!(server.server().ledger().memory_held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_at_any_byte_ends_on_both_sides() {
    for server in both() {
        let mut server = server;
        for bytes in (1..400).step_by(7) {
            let wires = [Wire::new().reset_after(bytes), Wire::new().end_after(bytes)];
            for wire in wires {
                for (to_server, to_client) in
                    [(wire.clone(), Wire::new()), (Wire::new().pieces_of(5), wire.clone())]
                {
                    server = server.to_server(to_server).to_client(to_client);
                    let client = server.client();
                    let asked = async {
                        let mut response = client.get("http://test/").send().await?;
                        response.text().await
                    };
                    // Whether it fails depends on how much was exchanged before.
                    let asked = tokio::time::timeout(Duration::from_secs(120), asked).await;
                    if let Ok(text) = asked.expect("no call hangs") {
                        assert_eq!(text, "Hello, World!");
                    }
                    drop(client);
                    all_end(&server).await;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_within_the_head_is_an_error_of_the_call() {
    for server in both() {
        let server = server.to_client(Wire::new().reset_after(20));
        let error = server.client().get("http://test/").send().await.unwrap_err();
        assert!(error.to_string().contains("reset"), "{error}");
    }
}

/// A handler tells when it is dropped: its peer has gone away.
#[tokio::test(start_paused = true)]
async fn a_handler_whose_peer_goes_away_is_dropped() {
    struct Tells(Arc<Mutex<u32>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let dropped = Arc::new(Mutex::new(0));
    let tells = dropped.clone();
    let server = TestServer::new(move |exchange: Exchange| {
        let tells = Tells(tells.clone());
        async move {
            let _tells = tells;
            std::future::pending::<()>().await;
            exchange.respond(Status::OK).send("never").await
        }
    });
    // A call that is given up resets its stream over HTTP/2, and ends its connection over HTTP/1.1.
    let mut gone = 0;
    let mut server = server;
    for http2 in [false, true] {
        server = if http2 { server.http2() } else { server };
        let client = server.client();
        let asked = tokio::time::timeout(Duration::from_secs(1), client.get("http://test/").send()).await;
        assert!(asked.is_err());
        tokio::time::sleep(Duration::from_secs(1)).await;
        gone += 1;
        assert_eq!(*dropped.lock().unwrap(), gone, "HTTP/2: {http2}");
        drop(client);
        all_end(&server).await;
    }
    for is_shut in [false, true] {
        let mut peer = server.connect();
        peer.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(*dropped.lock().unwrap(), gone);
        let kept = if is_shut {
            peer.shutdown().await.unwrap();
            Some(peer)
        } else {
            drop(peer);
            None
        };
        all_end(&server).await;
        gone += 1;
        assert_eq!(*dropped.lock().unwrap(), gone, "shut: {is_shut}");
        drop(kept);
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_goes_away_within_its_request_is_no_trouble() {
    let [server, _] = both();
    let mut peer = server.connect();
    peer.write_all(b"POST /count HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
    drop(peer);
    tokio::task::yield_now().await;
    all_end(&server).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_answers_500_and_tells() {
    for is_http2 in [false, true] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = told.clone();
        let settings =
            Server::builder().on_error(move |failure| hears.lock().unwrap().push(failure.to_string()));
        let server = TestServer::with(settings, answer);
        let server = if is_http2 { server.http2() } else { server };
        let client = server.client();
        assert_eq!(client.get("http://test/panic").send().await.unwrap().status(), 500);
        assert_eq!(client.get("http://test/").send().await.unwrap().status(), 200);
        let told = told.lock().unwrap();
        assert!(told.len() == 1 && told[0].contains("the handler of /panic"), "{told:?}");
    }
}

/// A call opened one connection after the other, without end and as fast as it could, while its server closed
/// each at once.
#[tokio::test(start_paused = true)]
async fn a_server_that_closes_every_connection_at_once_is_given_up() {
    for http2 in [false, true] {
        let dialled = Arc::new(Mutex::new(0));
        let dials = dialled.clone();
        let connector = move |_: &Destination| {
            *dials.lock().unwrap() += 1;
            let is_enough = *dials.lock().unwrap() > 1000;
            async move {
                let (near, _) = tokio::io::duplex(100);
                tokio::task::yield_now().await;
                if is_enough {
                    Err(io::ErrorKind::Other.into())
                } else {
                    Ok(Box::new(near) as Box<dyn Transport>)
                }
            }
        };
        let client = Client::builder().connector(connector).http2_prior_knowledge(http2).build().unwrap();
        client.get("http://test/").send().await.unwrap_err();
        let dialled = *dialled.lock().unwrap();
        assert!(dialled <= 50, "HTTP/2 {http2}: {dialled} connections");
    }
}
