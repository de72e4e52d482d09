//! What goes over a connection in memory, however it is cut.

use std::convert::Infallible;

use alula::{Version, from_tower, testing};
use http::{Request, Response};
use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_client_of_a_handler_needs_no_network() {
    let client = testing::client(async |exchange: Exchange| {
        let said = format!("{} for {:?}", exchange.request().path(), exchange.request().authority());
        exchange.respond(Status::OK).send(said).await
    });
    for url in ["http://test/todos", "http://nowhere.invalid:8080/todos"] {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let authority = url.split('/').nth(2);
        assert_eq!(response.text().await.unwrap(), format!("/todos for {authority:?}"));
    }
}

/// No driver of I/O is there that could open a socket.
#[test]
fn a_runtime_without_sockets_is_enough() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let status = runtime.block_on(async {
        let response = testing::client(answer).get("http://test/").send().await;
        response.unwrap().status()
    });
    assert_eq!(status, 200);
}

#[tokio::test(start_paused = true)]
async fn requests_and_answers_arrive_in_any_pieces() {
    for (server, version) in both().into_iter().zip([Version::Http1, Version::Http2]) {
        let mut server = server;
        for to_server in wires() {
            for to_client in wires() {
                server = server.to_server(to_server.clone()).to_client(to_client);
                let client = server.client();
                let mut response = client.get("http://test/a/path").send().await.unwrap();
                assert_eq!((response.status(), response.version()), (Status::OK, version));
                assert_eq!(response.headers().get("x-path"), Some(&b"/a/path"[..]));
                assert_eq!(response.text().await.unwrap(), "Hello, World!");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn uploads_arrive_in_any_pieces() {
    for server in both() {
        let mut server = server;
        for wire in wires() {
            server = server.to_server(wire.clone()).to_client(wire);
            let call = server.client();
            let mut response = call.post("http://test/count").send_body(&[b'u'; 100_000]).await.unwrap();
            assert_eq!(response.text().await.unwrap(), "100000");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn streamed_answers_end_in_their_trailers() {
    for server in both() {
        let mut server = server;
        for wire in wires() {
            server = server.to_server(wire.clone()).to_client(wire);
            let client = server.client();
            let mut response =
                client.get("http://test/stream").header("te", "trailers").send().await.unwrap();
            let bytes = response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
            let trailers = response.trailers().await.unwrap().cloned();
            let sum = trailers.and_then(|trailers| trailers.get("x-sum").map(<[u8]>::to_vec));
            assert_eq!((bytes, sum), (100_000, Some(b"100000".to_vec())));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_carries_both_directions() {
    let [_, server] = both();
    for wire in wires() {
        let server = TestServer::with(Server::builder().extended_connect(true), answer)
            .http2()
            .to_server(wire.clone())
            .to_client(wire);
        let client = server.client();
        let call = client.request("CONNECT", "http://test/tunnel").protocol("echo");
        let (mut up, pending) = call.open().await.unwrap();
        let mut response = pending.response().await.unwrap();
        for text in ["one", "two"] {
            up.write(text.as_bytes()).await.unwrap();
            let mut back = [0; 3];
            let mut filled = 0;
            while filled < 3 {
                filled += response.body().read(&mut back[filled..]).await.unwrap();
            }
            assert_eq!(back, text.as_bytes());
        }
        up.finish().await.unwrap();
        assert_eq!(response.body().chunk().await.unwrap(), None);
    }
    drop(server);
}

#[tokio::test(start_paused = true)]
async fn a_service_of_tower_answers() {
    let service = tower::service_fn(async |request: Request<_>| {
        let _: &Request<alula::Body> = &request;
        Ok::<_, Infallible>(Response::new(request.uri().path().to_owned()))
    });
    let mut response = testing::client(from_tower(service)).get("http://test/there").send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "/there");
}

#[tokio::test(start_paused = true)]
async fn time_is_simulated() {
    let (client, began) = (testing::client(answer), Instant::now());
    assert_eq!(client.get("http://test/slow").send().await.unwrap().status(), 200);
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn tls_goes_over_memory_too() {
    let identity = alula::Identity::self_signed(["test"]).unwrap();
    let roots = identity.certificate_pem().unwrap().to_owned();
    let server = TestServer::with(Server::builder().identity(identity), answer)
        .to_server(Wire::new().pieces_of(7))
        .to_client(Wire::new().random_pieces(1));
    let settings = alula::Client::builder().add_roots_pem(roots.as_bytes()).unwrap();
    let client = server.client_with(settings).unwrap();
    let mut response = client.get("https://test/peer").send().await.unwrap();
    assert_eq!(response.version(), Version::Http2);
    assert_eq!(response.text().await.unwrap(), "127.0.0.1:49152 HTTP/2 https");
}

#[tokio::test(start_paused = true)]
async fn the_routes_of_a_router_answer() {
    let routes = alula::Router::new().route("/todos", alula::routing::get(answer)).build().unwrap();
    let client = testing::client(routes);
    assert_eq!(client.get("http://test/todos").send().await.unwrap().status(), 200);
    assert_eq!(client.get("http://test/nowhere").send().await.unwrap().status(), 404);
}
